"""Sends somebody the link that sets a password."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone

from importer.access import audit, people
from importer.access.policy import require_admin
from importer.engine.errors import Problem
from importer.notifications.email import hand_over, require_mail_server
from importer.notifications.page_addresses import link as link_to


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


def invite_by_mail(user: User) -> None:
    """Send somebody new the link that sets the first password, for programs: nobody else gets to see it.

    A program that has stolen a token must not take over an account that somebody uses, also one that signs in by
    another provider and has no password. Raises Problem for a person who has a password or has signed in, or has no
    address; without a mail server, and if that does not accept the mail; and Forbidden unless an admin acts.
    """
    require_admin("invite people")
    by_hand = "An admin makes the link on the person's page, or with millrace user reset."
    if use := people.use_of(user):
        raise Problem(f"{user.username} {use} already.", advice=by_hand)
    if not user.email:
        raise Problem(f"{user.username} has no mail address.", advice=f"Add it first. Or: {by_hand}")
    require_mail_server()
    send_invitation(user, link_to("invitation", *people.invitation(user)))
