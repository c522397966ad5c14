"""Notices, written down in the transaction of what they tell: what did not happen is not told, and what did is."""

from typing import Any

from django.utils import timezone

from importer import wake
from importer.models import Channel, ImportJob, Notice
from importer.models.channel import Event
from importer.telling.payload import payload_of
from importer.wake import Step


def note(
    event: Event, about: str, what: str, *, job: ImportJob | None = None, details: dict[str, Any] | None = None
) -> None:
    """Let every channel that hears of it tell it, each once for the same `event` and `about` ("job 17 try 1").

    `what` is a sentence; `details` go into the message as they are. Call it in the transaction of what has happened.
    """
    payload = payload_of(event, what, job, details)
    noted = [_note(channel, event, about, payload, job) for channel in _hearing(event, job)]
    wake.send([Step("tell", pk) for pk in noted if pk])


def _note(channel: Channel, event: Event, about: str, payload: dict[str, Any], job: ImportJob | None) -> int | None:
    """The new notice; None if there is one."""
    values = {"channel": channel, "event": event, "job": job, "payload": payload, "next_at": timezone.now()}
    notice, is_new = Notice.objects.get_or_create(once=f"{channel.pk} {event} {about}", defaults=values)
    return notice.pk if is_new else None


def _hearing(event: Event, job: ImportJob | None) -> list[Channel]:
    """The channels to tell."""
    hearing = [channel for channel in Channel.objects.filter(on=True) if event in channel.events]
    if event == Event.REJECTS and job:
        return [channel for channel in hearing if job.rejected_rows > channel.most_rejects]
    return hearing
