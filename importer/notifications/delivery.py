"""Sends notifications, one at a time per channel. Retries with growing delays, and gives up after a day.

A worker claims a notification for LEASE; an attempt ends before that (LONGEST_SEND), so two attempts never overlap. If
a worker dies after a message was sent and before that is stored, the message is sent a second time. After a failure the
channel pauses, so that many messages to a hanging host do not occupy the workers.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from importer import queue
from importer.engine import failpoints
from importer.engine.errors import Problem
from importer.lease import shorten
from importer.models import Channel, Notification
from importer.notifications.channel_kinds import kind_of
from importer.queue import Message

log = logging.getLogger(__name__)

Status = Notification.Status

LONGEST_SEND = 100  # seconds
LEASE = timedelta(seconds=LONGEST_SEND + 20)
FIRST_DELAY, LONGEST_DELAY = 10, 3600  # seconds
LONGEST_PAUSE = 300  # seconds that a channel pauses after failures, at most
GIVEN_UP_AFTER = timedelta(days=1)
# Above this many attempts the notification is given up: each attempt may have killed its worker.
MOST_ATTEMPTS = 100
DISCARDED = "It was discarded by hand."
NO_WORD = "An attempt was begun, and nothing is known of its end."


def send(notice_id: int) -> None:
    """Try to send the notification if it is due and its channel is free; then wake the channel's next one."""
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
    """For each free channel, the id of the notification that has been due the longest."""
    shorten(Notification.objects.filter(status=Status.WAITING), "next_at", timedelta(seconds=LONGEST_DELAY))
    shorten(Channel.objects.all(), "free_at", max(LEASE, timedelta(seconds=LONGEST_PAUSE)))
    return _due(Channel.objects.filter(_free()))


def retry(notice_id: int) -> bool:
    """Queue a notification that was given up. False: it was not given up.

    One that is older than GIVEN_UP_AFTER gets a single attempt.
    """
    given_up = Notification.objects.filter(pk=notice_id, status=Status.GIVEN_UP)
    queued = bool(given_up.update(status=Status.WAITING, attempts=0, next_at=timezone.now()))
    if queued:
        queue.send([Message("tell", notice_id)])
    return queued


def send_now(channel_id: int) -> None:
    """Queue the channel's waiting messages at once, without the delays after failures.

    Raises Problem if the channel is off: a worker would give them up.
    """
    channel = Channel.objects.get(pk=channel_id)
    if not channel.on:
        raise Problem(
            f"{channel.name} is switched off, so nothing is sent.",
            advice="Switch it on in the list of channels, or discard what waits.",
        )
    _untouched(channel_id).update(next_at=timezone.now())
    if not Notification.objects.filter(channel=channel_id, status=Status.WAITING, next_at__gt=timezone.now()).exists():
        # No attempt is under way: it was a pause. A worker that has begun one since has changed the time.
        Channel.objects.filter(pk=channel_id, free_at=channel.free_at).update(free_at=None)
    queue.send([Message("tell", pk) for pk in _due(Channel.objects.filter(pk=channel_id))])


def discard(channel_id: int) -> int:
    """Give up the channel's waiting messages, except one that is being sent. Returns their number."""
    return _untouched(channel_id).update(status=Status.GIVEN_UP, problem=DISCARDED)


def delete_old(before: datetime, most: int) -> int:
    """Delete at most `most` notifications of before this moment that were sent or given up. Returns their number."""
    old = Notification.objects.exclude(status=Status.WAITING).filter(created_at__lt=before)
    keys = list(old.order_by("pk").values_list("pk", flat=True)[:most])
    Notification.objects.filter(pk__in=keys).delete()
    return len(keys)


def _due(channels: QuerySet[Channel]) -> list[int]:
    waiting = Notification.objects.filter(channel=OuterRef("pk"), status=Status.WAITING, next_at__lte=timezone.now())
    first = waiting.order_by("next_at", "pk").values("pk")[:1]
    return list(channels.annotate(first=Subquery(first)).exclude(first=None).values_list("first", flat=True))


def _free() -> Q:
    return Q(free_at=None) | Q(free_at__lte=timezone.now())


def _claim(notice_id: int) -> Notification | None:
    """The notification, for the one worker that may use its channel and send it now; None for all others."""
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
    """Send the notification once, and store the result. Returns whether it was sent."""
    failpoints.reach("notice.claimed")
    try:
        missed = kind_of(notice.channel).send(notice.channel, str(notice.key), notice.payload)
    except Exception as error:
        _record_failure(notice, _in_words(notice, error))
        return False
    failpoints.reach("notice.sent")
    _held(notice).update(status=Status.SENT, sent_at=timezone.now(), problem=missed)
    return True


def _record_failure(notice: Notification, reason: str) -> None:
    now, channel = timezone.now(), notice.channel
    if now - notice.created_at >= GIVEN_UP_AFTER:
        _give_up(notice, reason)
    else:
        _held(notice).update(next_at=now + _delay(notice.attempts - 1, LONGEST_DELAY), problem=reason)
    pause = _delay(channel.failures, LONGEST_PAUSE)
    failures = min(channel.failures + 1, 1000)
    Channel.objects.filter(pk=channel.pk).update(free_at=now + pause, failures=failures)


def _delay(before: int, longest: int) -> timedelta:
    """The delay after a failure with `before` earlier ones: doubles each time, at most `longest` seconds."""
    return timedelta(seconds=min(longest, FIRST_DELAY * 2 ** min(before, 20)))


def _give_up(notice: Notification, reason: str) -> None:
    _held(notice).update(status=Status.GIVEN_UP, problem=reason)


def _untouched(channel_id: int) -> QuerySet[Notification]:
    """The channel's waiting messages of which no attempt is under way."""
    waiting = Notification.objects.filter(channel=channel_id, status=Status.WAITING)
    return waiting.exclude(problem=NO_WORD, next_at__gt=timezone.now())


def _held(notice: Notification) -> QuerySet[Notification]:
    """The notification, if no later attempt has begun; otherwise no row."""
    return Notification.objects.filter(pk=notice.pk, attempts=notice.attempts, status=Status.WAITING)


def _in_words(notice: Notification, error: Exception) -> str:
    if isinstance(error, Problem):
        return str(error)
    log.exception("%s: unexpected error", notice, exc_info=error)
    return f"An unexpected error: {type(error).__name__}: {error}."
