"""Notices, written down in the transaction of what they tell: what did not happen is not told, and what did is."""

from typing import Any

from django.utils import timezone

from importer import queue
from importer.models import Channel, Hearing, ImportJob, Notice, Run
from importer.models.channel import Event
from importer.notifications.payload import payload_of
from importer.queue import Message


def note(
    event: Event,
    about: str,
    what: str,
    *,
    job: ImportJob | None = None,
    run: Run | None = None,
    details: dict[str, Any] | None = None,
) -> None:
    """Let every channel that hears of it tell it, each once for the same `event` and `about` ("job 17 try 1").

    `what` is a sentence; `details` go into the message as they are. Call it in the transaction of what has happened.
    """
    hearing = _hearing(event, job, run)
    if not hearing:
        return
    payload = payload_of(event, what, job, run, details)
    values = {"job": job, "run": run, "schedule": run and run.schedule, "payload": payload}
    noted = [_note(channel, event, about, values) for channel in hearing]
    queue.send([Message("tell", pk) for pk in noted if pk])


def _note(channel: Channel, event: Event, about: str, values: dict[str, Any]) -> int | None:
    """The new notice; None if there is one."""
    notice, is_new = Notice.objects.get_or_create(
        once=f"{channel.pk} {event} {about}",
        defaults={"channel": channel, "event": event, "next_at": timezone.now(), **values},
    )
    return notice.pk if is_new else None


def _hearing(event: Event, job: ImportJob | None, run: Run | None) -> set[Channel]:
    """The channels to tell: those that hear of every import, and those that hear of this schedule."""
    hearing = {channel for channel in Channel.objects.filter(on=True) if event in channel.events}
    if event == Event.REJECTS and job:
        hearing = {channel for channel in hearing if job.rejected_rows > channel.most_rejects}
    if run:
        of_schedule = Hearing.objects.filter(schedule=run.schedule_id, channel__on=True).select_related("channel")
        hearing |= {each.channel for each in of_schedule if event in each.events}
    return hearing
