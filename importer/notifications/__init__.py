"""Notifies people of imports, by mail and webhook. Only this package writes notifications.

import_events.py decides which ends of imports and schedule runs are events. outbox.py stores a notification with its
payload for each channel that subscribes to the event. payload.py and rendering.py make the content. delivery.py sends
and retries. channel_kinds.py lists the kinds of channels, declared in email.py and webhook.py. channels.py saves and
tests channels. docs/notifications.md is the documentation for receivers.
"""

from importer.notifications.channels import remove, require_not_wider, save, subscribe, test
from importer.notifications.delivery import delete_old, due, retry, send
from importer.notifications.import_events import (
    approval_wanted,
    import_ended,
    import_recorded,
    lab_approval_wanted,
    run_event,
)
from importer.notifications.outbox import enqueue

__all__ = [
    "approval_wanted",
    "delete_old",
    "due",
    "enqueue",
    "import_ended",
    "import_recorded",
    "lab_approval_wanted",
    "remove",
    "require_not_wider",
    "retry",
    "run_event",
    "save",
    "send",
    "subscribe",
    "test",
]
