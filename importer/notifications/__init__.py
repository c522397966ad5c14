"""Telling people what happens to imports, by mail and webhook; the only writer of notices.

imports.py: what the end of an import and a schedule's run are worth telling; noted.py: notices, written down with what
they tell; payload.py and words.py: what they say; sending.py: the attempts, one at a time; mail.py and webhook.py: how
it leaves; channels.py: the channels, and a test of one. docs/notifications.md is for who receives it.
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
