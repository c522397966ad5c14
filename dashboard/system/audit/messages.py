"""The messages of pages. One that tells an error is the outcome of the request in the audit log, too."""

from django.contrib.messages.constants import ERROR
from django.contrib.messages.storage.fallback import FallbackStorage

from importer.access import audit


class RecordedMessages(FallbackStorage):
    """Django's storage of messages, which tells the audit log of errors."""

    def add(self, level: int, message: str, extra_tags: str | None = "") -> None:
        """Queue a message."""
        if level >= ERROR:
            audit.failed(str(message))
        super().add(level, message, extra_tags)
