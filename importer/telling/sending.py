"""The attempts to send a notice: one at a time, later and later, and given up in the end.

Whoever claims it has it until LEASE is over. Then the attempt is ended too (LONGEST_SEND), so no two run at once. A
worker that dies after the message has left, and before that is written down, leaves it to be sent a second time.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from importer import wake
from importer.engine.errors import Problem
from importer.models import Channel, Notice
from importer.telling import mail, webhook
from importer.wake import Step

log = logging.getLogger(__name__)

Status = Notice.Status

LONGEST_SEND = 100  # seconds
LEASE = timedelta(seconds=LONGEST_SEND + 20)
FIRST_DELAY, LONGEST_DELAY = 10, 3600  # seconds
# With these delays, they take a day.
MOST_ATTEMPTS = 32
MOST_AT_ONCE = 500
KEPT = timedelta(days=90)
NO_WORD = "An attempt was begun, and nothing is known of its end."

POST: dict[str, Callable[[Channel, str, dict[str, Any]], None]] = {
    Channel.Kind.MAIL: mail.post,
    Channel.Kind.WEBHOOK: webhook.post,
}


def send(notice_id: int) -> None:
    """Try to send the notice, if it is due and nobody else does."""
    notice = _claim(notice_id)
    if not notice:
        return
    if not notice.channel.on:
        _give_up(notice, "The channel was switched off.")
    elif notice.attempts > MOST_ATTEMPTS:
        _give_up(notice, NO_WORD)
    else:
        _attempt(notice)


def due() -> list[int]:
    """Notices that may be tried now, the longest due first."""
    waiting = Notice.objects.filter(status=Status.WAITING, next_at__lte=timezone.now()).order_by("next_at")
    return list(waiting.values_list("pk", flat=True)[:MOST_AT_ONCE])


def ask_again(notice_id: int) -> bool:
    """Try a notice again that was given up; whether it was."""
    given_up = Notice.objects.filter(pk=notice_id, status=Status.GIVEN_UP)
    asked = bool(given_up.update(status=Status.WAITING, attempts=0, next_at=timezone.now()))
    if asked:
        wake.send([Step("tell", notice_id)])
    return asked


def forget_old() -> None:
    """Notices that were sent or given up are kept for so long."""
    Notice.objects.exclude(status=Status.WAITING).filter(created_at__lt=timezone.now() - KEPT).delete()


def _claim(notice_id: int) -> Notice | None:
    """The notice, for the one worker that may try it now; None for everybody else."""
    now = timezone.now()
    claimed = Notice.objects.filter(pk=notice_id, status=Status.WAITING, next_at__lte=now).update(
        attempts=F("attempts") + 1, next_at=now + LEASE, problem=NO_WORD
    )
    return Notice.objects.select_related("channel").get(pk=notice_id) if claimed else None


def _attempt(notice: Notice) -> None:
    try:
        POST[notice.channel.kind](notice.channel, str(notice.key), notice.payload)
    except Exception as error:
        _failed(notice, _in_words(notice, error))
    else:
        _mine(notice).update(status=Status.SENT, sent_at=timezone.now(), problem="")


def _failed(notice: Notice, said: str) -> None:
    if notice.attempts >= MOST_ATTEMPTS:
        _give_up(notice, said)
    else:
        delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** (notice.attempts - 1))
        _mine(notice).update(next_at=timezone.now() + timedelta(seconds=delay), problem=said)


def _give_up(notice: Notice, said: str) -> None:
    _mine(notice).update(status=Status.GIVEN_UP, problem=said)


def _mine(notice: Notice) -> QuerySet[Notice]:
    """The notice, as long as this attempt is its last."""
    return Notice.objects.filter(pk=notice.pk, attempts=notice.attempts, status=Status.WAITING)


def _in_words(notice: Notice, error: Exception) -> str:
    if isinstance(error, Problem):
        return str(error)
    log.exception("%s: unexpected error", notice, exc_info=error)
    return f"An unexpected error: {type(error).__name__}: {error}."
