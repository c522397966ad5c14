"""Notifies people of imports, by mail and webhook; the only writer of notifications.

import_events.py: which ends of imports and runs of schedules are events; outbox.py: notifications, stored with their
payload; payload.py and rendering.py: the content; delivery.py: the attempts to send; channel_kinds.py: the kinds of
channels, declared in email.py and webhook.py; channels.py: saves and tests channels. docs/notifications.md is for
receivers.
"""

from importer.notifications.channels import save, subscribe, test
from importer.notifications.delivery import ask_again, due, forget_old, send
from importer.notifications.import_events import import_ended, import_recorded, run_happened
from importer.notifications.outbox import note

__all__ = [
    "ask_again",
    "due",
    "forget_old",
    "import_ended",
    "import_recorded",
    "note",
    "run_happened",
    "save",
    "send",
    "subscribe",
    "test",
]
