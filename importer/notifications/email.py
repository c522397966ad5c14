"""A message as mail, through Django's mail back end (EMAIL_URL)."""

import smtplib
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from importer.engine.errors import Problem
from importer.models import Channel
from importer.notifications import rendering


def post(channel: Channel, key: str, payload: dict[str, Any]) -> None:
    """Give the message to the mail server. Raises Problem if that does not take it.

    Its Message-ID is made of `key`: mail systems drop a second one of the same.
    """
    if not settings.EMAIL_BACKEND:
        raise Problem("No mail server is set.", advice="Set EMAIL_URL (.env.example explains it) and restart.")
    text, html = rendering.bodies(payload, channel.name)
    message = EmailMultiAlternatives(
        rendering.subject(payload),
        text,
        to=channel.address_list,
        headers={
            "Message-ID": f"<{key}@{urlsplit(settings.SITE_URL).hostname or 'millrace'}>",
            # So that nobody's out-of-office notice comes back (RFC 3834).
            "Auto-Submitted": "auto-generated",
        },
    )
    message.attach_alternative(html, "text/html")
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        raise Problem(
            f"The mail server did not take it: {_said(error).rstrip('.')}.",
            advice="Look at EMAIL_URL and the addresses.",
        ) from error


def _said(error: Exception) -> str:
    """What the server or the network said."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        refused = ", ".join(f"{who} ({code})" for who, (code, _) in error.recipients.items())
        return f"it refused {refused}"
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        return f"{error.smtp_code} {said if isinstance(said, str) else said.decode(errors='replace')}"
    return str(error) or type(error).__name__
