"""Channels: what they may be, and a test of one."""

import uuid

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import Count, Max, Q, QuerySet

from importer.engine.errors import Problem
from importer.models import Channel, Notification, Schedule, Subscription
from importer.models.channel import Event
from importer.notifications.delivery import POST
from importer.notifications.payload import test_payload
from importer.security.outbound_addresses import web_url

SHORTEST_SECRET = 16


def check_addresses(text: str) -> None:
    """Raise Problem unless the text is one or more mail addresses, each on its line or after a blank."""
    if not text.split():
        raise Problem("There is no address.", advice="Enter at least one, each on a line of its own.")
    for address in text.split():
        try:
            validate_email(address)
        except ValidationError as error:
            raise Problem(f"“{address}” is no mail address.", advice="Write it as NAME@HOST.") from error


def check_secret(secret: str) -> None:
    """Raise Problem if a secret to sign with is too short."""
    if len(secret) < SHORTEST_SECRET:
        raise Problem(f"The secret has {len(secret)} characters.", advice=f"Take at least {SHORTEST_SECRET}.")


def save(channel: Channel, secret: str | None = None) -> Channel:
    """Save a channel as it was asked for; a `secret` of None keeps a stored one. Raises Problem if it cannot work."""
    if channel.kind == Channel.Kind.MAIL:
        check_addresses(channel.addresses)
    else:
        web_url(channel.url)
        if secret is not None or not channel.secret_ciphertext:
            check_secret(secret or "")
            channel.set_secret(secret or "")
    _check_events(channel.events)
    try:
        channel.full_clean()
    except ValidationError as error:
        what = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
        raise Problem(what, advice="Correct that and try again.") from error
    channel.save()
    return channel


def subscribe(channel: Channel, schedule: Schedule, events: list[str]) -> None:
    """Let the channel hear of these events of one schedule, besides what it hears of all; of none, no longer.

    Raises Problem for an event that there is not.
    """
    _check_events(events)
    if events:
        Subscription.objects.update_or_create(channel=channel, schedule=schedule, defaults={"events": events})
    else:
        Subscription.objects.filter(channel=channel, schedule=schedule).delete()


def _check_events(events: list[str]) -> None:
    if unknown := [event for event in events if event not in Event.values]:
        raise Problem(f"There is no event {unknown[0]}.", advice=f"There are {', '.join(Event.values)}.")


def with_state() -> QuerySet[Channel]:
    """All channels by name: how many of their messages are `waiting` and `given_up`, and when one was `last_sent`."""
    status = Notification.Status
    return Channel.objects.annotate(
        waiting=Count("notifications", filter=Q(notifications__status=status.WAITING)),
        given_up=Count("notifications", filter=Q(notifications__status=status.GIVEN_UP)),
        last_sent=Max("notifications__sent_at"),
    ).order_by("name")


def test(channel: Channel) -> None:
    """Send a message that says it is a test, at once. Raises Problem with what stands in the way."""
    POST[channel.kind](channel, str(uuid.uuid4()), test_payload())
