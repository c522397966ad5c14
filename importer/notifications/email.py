"""Sends messages as mail, through Django's mail backend (EMAIL_URL), and declares the channel kind `mail`."""

import smtplib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, EmailMultiAlternatives, get_connection
from django.core.validators import validate_email

from importer.engine.errors import Problem
from importer.models import Channel
from importer.notifications import rendering
from importer.notifications.channel_kind import ChannelField, ChannelKind


def check_addresses(text: str) -> None:
    """Raise Problem unless the text is one or more mail addresses, separated by white space."""
    if not text.split():
        raise Problem("There is no address.", advice="Enter at least one, each on a line of its own.")
    for address in text.split():
        try:
            validate_email(address)
        except ValidationError as error:
            raise Problem(f"“{address}” is no mail address.", advice="Write it as NAME@HOST.") from error


def require_mail_server(_values: Mapping[str, Any] | None = None) -> None:
    """Raise Problem if no mail server is set: then no mail channel can send."""
    if not settings.EMAIL_BACKEND:
        raise Problem("No mail server is set.", advice="Set EMAIL_URL (.env.example explains it) and restart.")


def addresses_of(channel: Channel) -> list[str]:
    """The addresses that the channel's messages go to."""
    return channel.addresses.split()


def post(channel: Channel, key: str, payload: dict[str, Any]) -> str:
    """Give the message to the mail server. Returns who does not get it; raises Problem if nobody does.

    The Message-ID contains `key`: mail systems drop a second message with an equal Message-ID.
    """
    require_mail_server()
    text, html = rendering.bodies(payload, channel.name)
    message = EmailMultiAlternatives(
        rendering.subject(payload),
        text,
        to=addresses_of(channel),
        headers={
            "Message-ID": f"<{key}@{urlsplit(settings.SITE_URL).hostname or 'millrace'}>",
            # Keeps out-of-office replies away (RFC 3834).
            "Auto-Submitted": "auto-generated",
        },
    )
    message.attach_alternative(html, "text/html")
    return hand_over(message)


def hand_over(message: EmailMessage) -> str:
    """Give the message to the mail server. Raises Problem if the server does not accept it.

    Returns a sentence with the addresses that the server refused; "" if it took the message for all of them.
    """
    try:
        with get_connection() as server:
            server.send_messages([message])
            refused = getattr(server, "refused", {})
    except (smtplib.SMTPException, OSError, ValueError) as error:  # ValueError: a header that cannot be written.
        raise Problem(
            f"The mail server did not take it: {_reason(error).rstrip('.')}.",
            advice="Look at EMAIL_URL and the addresses.",
        ) from error
    return f"The mail server refused {_in_words(refused)}; the others get the message." if refused else ""


def _in_words(refused: Mapping[str, tuple[int, bytes]]) -> str:
    return ", ".join(f"{who} ({code})" for who, (code, _) in refused.items())


def _reason(error: Exception) -> str:
    """The reason given by the server or the network."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return f"it refused {_in_words(error.recipients)}"
    if isinstance(error, smtplib.SMTPResponseException):
        answer = error.smtp_error
        return f"{error.smtp_code} {answer if isinstance(answer, str) else answer.decode(errors='replace')}"
    return str(error) or type(error).__name__


KIND = ChannelKind(
    name="mail",
    label="mail",
    title="New mail channel",
    fields=(
        ChannelField(
            "addresses",
            "Addresses",
            help="One address per line. Recipients see all addresses.",
            check=check_addresses,
            several=True,
        ),
    ),
    metavar="ADDRESS",
    option_help="who gets it",
    require_sendable=require_mail_server,
    send=post,
    describe=addresses_of,
)
