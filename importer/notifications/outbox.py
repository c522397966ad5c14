"""The outbox: stores notifications in the transaction of their event, so that both are committed or neither."""

from typing import Any

from django.utils import timezone

from importer import queue
from importer.models import Channel, ImportJob, Notification, Schedule, ScheduleRun, Subscription
from importer.models.channel import Event
from importer.notifications.payload import payload_of
from importer.queue import Message


def enqueue(
    event: Event,
    about: str,
    what: str,
    *,
    job: ImportJob | None = None,
    run: ScheduleRun | None = None,
    schedule: Schedule | None = None,
    details: dict[str, Any] | None = None,
) -> None:
    """Store a notification for every subscribed channel, once per `event` and `about` ("job 17 try 1").

    `what` is a sentence; `details` are copied into the payload. `schedule`, unless it is that of `run`: who subscribes
    to it is sent the event, too. Call it in the transaction of the event.
    """
    schedule = run.schedule if run else schedule
    subscribed = _subscribed(event, job, schedule)
    if not subscribed:
        return
    payload = payload_of(event, what, job, run, details)
    values = {"job": job, "run": run, "schedule": schedule, "payload": payload}
    notifications = [_enqueue(channel, event, about, values) for channel in subscribed]
    queue.send([Message("tell", pk) for pk in notifications if pk])


def _enqueue(channel: Channel, event: Event, about: str, values: dict[str, Any]) -> int | None:
    """The id of the new notification; None if the channel has one for this event already."""
    notice, is_new = Notification.objects.get_or_create(
        once=f"{channel.pk} {event} {about}",
        defaults={"channel": channel, "event": event, "next_at": timezone.now(), **values},
    )
    return notice.pk if is_new else None


def _subscribed(event: Event, job: ImportJob | None, schedule: Schedule | None) -> set[Channel]:
    """The channels that get the event: by their own events, or by a subscription to the schedule.

    The limit of rejected rows is the schedule's, which is exceeded here already, or else each channel's.
    """
    subscribed = {channel for channel in Channel.objects.filter(on=True) if event in channel.events}
    if schedule:
        of_schedule = Subscription.objects.filter(schedule=schedule, channel__on=True).select_related("channel")
        subscribed |= {each.channel for each in of_schedule if event in each.events}
    if event == Event.REJECTS and job and (not schedule or schedule.rejects_limit is None):
        subscribed = {channel for channel in subscribed if job.rejected_rows > channel.most_rejects}
    return subscribed
