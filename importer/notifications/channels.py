"""Saves, subscribes, lists and tests notification channels."""

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from importer.access.policy import require_admin, seen, sees_everything
from importer.engine.errors import Problem
from importer.engine.mysql.sign_in.reasons import shows_reasons, wait_alike
from importer.models import Channel, ImportJob, Notification, Schedule, Subscription
from importer.models.channel import Event
from importer.models.checked_save import save_checked
from importer.notifications.channel_kinds import kind_of
from importer.notifications.payload import test_payload

REASON_HIDDEN = "The message was not delivered."
SOME_MISSED = "The message was not delivered to all addresses."
WHO_SEES_REASONS = "An admin sees the reason on the channel's page."


def save(channel: Channel, secret: str | None = None) -> Channel:
    """Check and save a channel; a `secret` of None keeps the stored one.

    Raises Problem for an invalid value, and for a channel whose test would be refused before its receiver is asked;
    Forbidden as require_not_wider() does.
    """
    kind = kind_of(channel)
    require_not_wider(channel, {name: getattr(channel, name) for name in (*kind.columns, "events")})
    for field in kind.fields:
        if not field.secret:
            if field.check:
                field.check(getattr(channel, field.name))
        elif secret is not None or not channel.secret_ciphertext:
            if field.check:
                field.check(secret or "")
            channel.set_secret(secret or "")
    _check_events(channel.events)
    kind.require_sendable({name: getattr(channel, name) for name in kind.columns})
    save_checked(channel)
    return channel


def require_not_wider(channel: Channel, values: Mapping[str, Any]) -> None:
    """Raise Forbidden if messages would go elsewhere by these values, or be about more events, unless an admin acts.

    They are about all imports: about more than somebody may see who administers a channel. A private address that is
    allowed now is elsewhere.
    """
    stored = Channel.objects.filter(pk=channel.pk).first() or Channel(kind=channel.kind)
    name = kind_of(channel).destination.name
    elsewhere = str(values[name]).split() != str(getattr(stored, name)).split()
    elsewhere |= values.get("private_allowed", False) and not stored.private_allowed
    if elsewhere or set(values["events"]) - set(stored.events):
        require_admin("change where a channel sends to, or add events to it")


def waiting(channel: Channel) -> int:
    """How many messages have not been sent yet."""
    count: int = channel.notifications.filter(status=Notification.Status.WAITING).count()
    return count


def remove(channel: Channel) -> int:
    """Delete the channel, its subscriptions and its notifications. Returns how many had not been sent yet."""
    unsent = waiting(channel)
    channel.delete()
    return unsent


def subscribe(channel: Channel, schedule: Schedule, events: list[str]) -> None:
    """Send the channel these events of one schedule, in addition to its own; an empty list ends the subscription.

    Raises Problem for an unknown event.
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
    """All channels by name, with the numbers of `waiting` and `given_up` messages and the time `last_sent`."""
    status = Notification.Status
    return Channel.objects.annotate(
        waiting=Count("notifications", filter=Q(notifications__status=status.WAITING)),
        given_up=Count("notifications", filter=Q(notifications__status=status.GIVEN_UP)),
        last_sent=Max("notifications__sent_at"),
    ).order_by("name")


def test(channel: Channel) -> None:
    """Send a test message at once. Raises Problem, with the reason for who may see it, if a receiver refuses it."""
    began = time.monotonic()
    try:
        if missed := kind_of(channel).send(channel, str(uuid.uuid4()), test_payload()):
            raise Problem(missed, advice="Correct or remove the refused addresses.")
    except Problem as problem:
        if shows_reasons():
            raise
        wait_alike(began)
        raise Problem(REASON_HIDDEN, advice=WHO_SEES_REASONS) from problem


def readable(notices: Iterable[Notification]) -> set[int]:
    """The ids of the messages that the acting person may read: about imports and schedules that the person may see.

    A channel tells of more than the person who administers it may see. A message whose import is deleted is for
    those who see everything.
    """
    notices = list(notices)
    if sees_everything():
        return {each.pk for each in notices}
    jobs = _seen(ImportJob, (each.job_id for each in notices))
    schedules = _seen(Schedule, (_schedule_of(each) for each in notices))
    return {each.pk for each in notices if each.job_id in jobs or _schedule_of(each) in schedules}


def _seen(model: type[ImportJob] | type[Schedule], ids: Iterable[int | None]) -> set[int]:
    return set(seen(model._default_manager.filter(pk__in=[each for each in ids if each])).values_list("pk", flat=True))


def _schedule_of(notice: Notification) -> int | None:
    return notice.run.schedule_id if notice.run else notice.schedule_id


def told_problem(notice: Notification) -> str:
    """Why the last attempt failed, or who did not get the message, for who may see that; "" if all got it.

    The reason tells a closed port from an open one, to a person who may enter a webhook's URL.
    """
    if shows_reasons() or not notice.problem:
        return notice.problem
    hidden = SOME_MISSED if notice.status == Notification.Status.SENT else REASON_HIDDEN
    return f"{hidden} {WHO_SEES_REASONS}"
