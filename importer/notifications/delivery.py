"""Sends notifications: one at a time over each channel, with growing delays, and gives up in the end.

The worker that claims a notification has it until LEASE is over. The attempt ends before that (LONGEST_SEND), so no two
run at once. If a worker dies after the message has left and before that is stored, the message is sent a second time. A
channel that fails pauses: a thousand messages to a host that hangs must not keep workers from other work.
"""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from importer import queue
from importer.engine.errors import Problem
from importer.models import Channel, Notification
from importer.notifications.channel_kinds import kind_of
from importer.queue import Message

log = logging.getLogger(__name__)

Status = Notification.Status

LONGEST_SEND = 100  # seconds
LEASE = timedelta(seconds=LONGEST_SEND + 20)
FIRST_DELAY, LONGEST_DELAY = 10, 3600  # seconds
LONGEST_PAUSE = 300  # seconds, of a channel
GIVEN_UP_AFTER = timedelta(days=1)
# Attempts without a known end: each of them has killed its worker.
MOST_ATTEMPTS = 100
KEPT = timedelta(days=90)
NO_WORD = "An attempt was begun, and nothing is known of its end."


def send(notice_id: int) -> None:
    """Try to send the notice, if it is due and nobody uses its channel; then it is the turn of the channel's next."""
    notice = _claim(notice_id)
    if not notice:
        return
    if not notice.channel.on:
        _give_up(notice, "The channel was switched off.")
    elif notice.attempts > MOST_ATTEMPTS:
        _give_up(notice, NO_WORD)
    elif not _attempt(notice):
        return
    Channel.objects.filter(pk=notice.channel_id).update(free_at=None, failures=0)
    queue.send([Message("tell", pk) for pk in _due(Channel.objects.filter(pk=notice.channel_id))])


def due() -> list[int]:
    """Of each channel that is free, the notice that has been due for the longest time."""
    return _due(Channel.objects.filter(_free()))


def retry(notice_id: int) -> bool:
    """Try a notice again that was given up, once if that was for its age; whether it was."""
    given_up = Notification.objects.filter(pk=notice_id, status=Status.GIVEN_UP)
    asked = bool(given_up.update(status=Status.WAITING, attempts=0, next_at=timezone.now()))
    if asked:
        queue.send([Message("tell", notice_id)])
    return asked


def delete_old() -> None:
    """Notices that were sent or given up are kept for so long."""
    Notification.objects.exclude(status=Status.WAITING).filter(created_at__lt=timezone.now() - KEPT).delete()


def _due(channels: QuerySet[Channel]) -> list[int]:
    waiting = Notification.objects.filter(channel=OuterRef("pk"), status=Status.WAITING, next_at__lte=timezone.now())
    first = waiting.order_by("next_at", "pk").values("pk")[:1]
    return list(channels.annotate(first=Subquery(first)).exclude(first=None).values_list("first", flat=True))


def _free() -> Q:
    return Q(free_at=None) | Q(free_at__lte=timezone.now())


def _claim(notice_id: int) -> Notification | None:
    """The notice, for the one worker that may use its channel and try it now; None for everybody else."""
    now = timezone.now()
    due_now = Notification.objects.filter(pk=notice_id, status=Status.WAITING, next_at__lte=now)
    with transaction.atomic():
        if not Channel.objects.filter(_free(), pk__in=due_now.values("channel")).update(free_at=now + LEASE):
            return None
        if not due_now.update(attempts=F("attempts") + 1, next_at=now + LEASE, problem=NO_WORD):
            transaction.set_rollback(True)
            return None
    return Notification.objects.select_related("channel").get(pk=notice_id)


def _attempt(notice: Notification) -> bool:
    """Whether it was sent."""
    try:
        kind_of(notice.channel).send(notice.channel, str(notice.key), notice.payload)
    except Exception as error:
        _failed(notice, _in_words(notice, error))
        return False
    _mine(notice).update(status=Status.SENT, sent_at=timezone.now(), problem="")
    return True


def _failed(notice: Notification, said: str) -> None:
    now, channel = timezone.now(), notice.channel
    if now - notice.created_at >= GIVEN_UP_AFTER:
        _give_up(notice, said)
    else:
        _mine(notice).update(next_at=now + _delay(notice.attempts - 1, LONGEST_DELAY), problem=said)
    pause = _delay(channel.failures, LONGEST_PAUSE)
    failures = min(channel.failures + 1, 1000)
    Channel.objects.filter(pk=channel.pk).update(free_at=now + pause, failures=failures)


def _delay(before: int, longest: int) -> timedelta:
    """How long to wait after so many failures before this one: twice as long each time, at most `longest` seconds."""
    return timedelta(seconds=min(longest, FIRST_DELAY * 2 ** min(before, 20)))


def _give_up(notice: Notification, said: str) -> None:
    _mine(notice).update(status=Status.GIVEN_UP, problem=said)


def _mine(notice: Notification) -> QuerySet[Notification]:
    """The notice, as long as this attempt is its last."""
    return Notification.objects.filter(pk=notice.pk, attempts=notice.attempts, status=Status.WAITING)


def _in_words(notice: Notification, error: Exception) -> str:
    if isinstance(error, Problem):
        return str(error)
    log.exception("%s: unexpected error", notice, exc_info=error)
    return f"An unexpected error: {type(error).__name__}: {error}."
