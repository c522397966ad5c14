"""Why the messages of channels wait."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Min, QuerySet

from dashboard.formatting import when
from importer.lease import is_overdue
from importer.models import Channel, Notification
from importer.notifications.channels import told_problem
from importer.worker.hosts.installation import state

ON_THEIR_WAY = "A worker sends them one after another."
NOT_TAKEN = "None has been tried yet: no worker has taken them."


@dataclass(frozen=True)
class Wait:
    """Why messages wait, in sentences, and since when the oldest does; None for one of this minute."""

    why: str
    since: datetime | None


def waits(channels: Collection[Channel]) -> dict[int, Wait]:
    """The wait of each channel's messages by its primary key; without channels that have none.

    What stops the workers comes first. The oldest message goes first, and the others wait for it.
    """
    waiting = Notification.objects.filter(channel__in=channels, status=Notification.Status.WAITING)
    oldest, tried = _first_of_each(waiting), _first_of_each(waiting.exclude(problem=""))
    system = state()
    stopped = "" if system.serves(settings.CELERY_TASK_DEFAULT_QUEUE) else f"{system.cause}."
    found = {}
    for each in channels:
        if first := oldest.get(each.pk):
            late = is_overdue(first.created_at)
            words = (stopped, "" if each.on else "The channel is off.", _told(tried.get(each.pk)))
            why = " ".join(filter(None, words)) or (NOT_TAKEN if late else ON_THEIR_WAY)
            found[each.pk] = Wait(why, first.created_at if late else None)
    return found


def _first_of_each(waiting: QuerySet[Notification]) -> dict[int, Notification]:
    """The oldest message of each channel."""
    first = waiting.values("channel").annotate(first=Min("pk")).values("first")
    return {each.channel_id: each for each in Notification.objects.filter(pk__in=first)}


def _told(tried: Notification | None) -> str:
    """The problem of the last attempt, and when the next one is due."""
    if tried is None:
        return ""
    due = "was due" if is_overdue(tried.next_at) else "is due"
    return f"{told_problem(tried)} The next try {due} {when(tried.next_at)}."
