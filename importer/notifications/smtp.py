"""Django's SMTP back end, which also keeps the addresses that the server refused although it took the message."""

import smtplib
from typing import Any

from django.core.mail.backends.smtp import EmailBackend


class _Connection(smtplib.SMTP):
    """A connection that keeps what smtplib returns and Django drops: each refused address with the server's answer."""

    refused: dict[str, tuple[int, bytes]]

    def sendmail(self, *args: Any, **kwargs: Any) -> dict[str, tuple[int, bytes]]:
        self.refused = super().sendmail(*args, **kwargs)
        return self.refused


class _EncryptedConnection(_Connection, smtplib.SMTP_SSL):
    """The same, encrypted from its beginning."""


class Backend(EmailBackend):
    """The back end for a mail server. After a message, while it is open, `refused` has the refused addresses."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        """What `open` connects with."""
        return _EncryptedConnection if self.use_ssl else _Connection

    @property
    def refused(self) -> dict[str, tuple[int, bytes]]:
        """The addresses of the last message that the server refused, with its answers."""
        return getattr(self.connection, "refused", {})
