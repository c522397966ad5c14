"""Notifies people of imports, by mail and webhook; the only writer of notifications.

import_events.py: which ends of imports and runs of schedules are events; outbox.py: notifications, stored with their
payload; payload.py and rendering.py: the content; delivery.py: the attempts to send; channel_kinds.py: the kinds of
channels, declared in email.py and webhook.py; channels.py: saves and tests channels. docs/notifications.md is for
receivers.
"""

from importer.notifications.channels import save, subscribe, test
from importer.notifications.delivery import delete_old, due, retry, send
from importer.notifications.import_events import import_ended, import_recorded, run_event
from importer.notifications.outbox import enqueue

__all__ = [
    "delete_old",
    "due",
    "enqueue",
    "import_ended",
    "import_recorded",
    "retry",
    "run_event",
    "save",
    "send",
    "subscribe",
    "test",
]
