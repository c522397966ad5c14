"""Sends somebody the link that sets a password."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone

from importer.access import audit
from importer.notifications.email import hand_over


def link_lasts_until() -> datetime:
    """When a link that is made now expires."""
    return timezone.now() + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)


def send_invitation(user: User, link: str) -> bool:
    """Send the link to the person's address. False: there is no address, or no mail server is set.

    Raises Problem if the mail server does not accept the mail.
    """
    if not (user.email and settings.EMAIL_BACKEND):
        return False
    context = {"user": user, "link": link, "until": link_lasts_until(), "site": settings.SITE_URL}
    text = render_to_string("notifications/invitation.txt", context)
    hand_over(EmailMessage("Millrace: your password", text, to=[user.email]))
    audit.note(sent_to=user.email)
    return True
