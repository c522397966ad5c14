"""What beat does for schedules every few seconds: take up what is due, say what is late, wake what nobody works on.

A due time is taken up in one transaction: the schedule's `next_due_at` moves on, if it still is what was read, and the
rows of the runs are there, or neither. So of two beats, and of a tick that comes twice, one finds nothing to do.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from importer.engine.errors import Problem
from importer.models import Schedule, ScheduleRun
from importer.models.channel import Event
from importer.queue import Message
from importer.schedules import recurrence
from importer.schedules.events import record_event
from importer.schedules.transitions import UNENDED, Status, touch

log = logging.getLogger(__name__)

Then = Callable[[Sequence[Message]], None]

MOST_SCHEDULES = 500  # taken up by one tick, so that it does not last; those due first come first
MOST_WOKEN = 500
MOST_WAITING = 100  # runs of one schedule: more are left out, or a run that hangs would gather them for ever


def tick(then: Then) -> None:
    """Take up all that is due; `then` gets the steps that follow."""
    now = timezone.now()
    for schedule in _due(now):
        try:
            then(process_due(schedule, now))
        except Exception:
            # The others are due as well.
            log.exception("schedule %s could not be taken up", schedule.pk)
    _notify_late_runs(now)
    then(_woken(now))


def _due(now: datetime) -> list[Schedule]:
    found = Schedule.objects.filter(paused=False, next_due_at__lte=now).order_by("next_due_at", "pk")
    return list(found[:MOST_SCHEDULES])


def process_due(schedule: Schedule, now: datetime) -> list[Message]:
    """Record what becomes of the schedule's due times up to now, as it was read; the steps that follow."""
    if schedule.trigger == Schedule.Trigger.ARRIVAL:
        # Until whoever looks has said when the next look is due.
        next_look = now + timedelta(seconds=settings.LEASE_SECONDS)
        return [Message("look_for_files", schedule.pk)] if _claim_due_times(schedule, next_due_at=next_look) else []
    assert schedule.next_due_at
    try:
        decision = recurrence.decide(
            timing_of(schedule), schedule.next_due_at, now, schedule.misfire, schedule.misfire_most
        )
    except Problem as problem:
        _claim_due_times(schedule, next_due_at=None, problem=problem.as_json())
        return []
    with transaction.atomic():
        if not _claim_due_times(schedule, next_due_at=decision.next_due_at):
            return []
        return _record(schedule, decision)


def timing_of(schedule: Schedule) -> recurrence.Timing:
    """When it is due, unless that is when a file appears."""
    return recurrence.Timing(schedule.cron, schedule.every_minutes, schedule.zone)


def _claim_due_times(schedule: Schedule, **values: object) -> bool:
    """Whether the schedule still was as it was read: nobody else has taken up the same due times."""
    as_read = Schedule.objects.filter(pk=schedule.pk, paused=False, next_due_at=schedule.next_due_at)
    return bool(as_read.update(**values))


def _record(schedule: Schedule, decision: recurrence.Decision) -> list[Message]:
    if left_out := decision.left_out:
        _leave_out(schedule, left_out.first, "missed", last_due_at=left_out.last, due_times=left_out.times)
    runs = [record_run(schedule, each, ScheduleRun.Cause.CATCH_UP) for each in decision.caught_up]
    for each in decision.on_time:
        if why := _overlaps(schedule):
            _leave_out(schedule, each, why)
        else:
            runs.append(record_run(schedule, each, ScheduleRun.Cause.DUE))
    touch(schedule.pk)
    return [Message("take_run", run.pk) for run in runs if run]


def record_run(
    schedule: Schedule,
    due_at: datetime,
    cause: ScheduleRun.Cause,
    moment: datetime | None = None,
    asked_by: int | None = None,
) -> ScheduleRun | None:
    """A run that waits for a worker; None if that due time has one, as after a clock that was put back."""
    lateness = schedule.lateness_minutes
    run, is_new = ScheduleRun.objects.get_or_create(
        schedule=schedule,
        due_at=due_at,
        defaults={
            "cause": cause,
            "moment": moment or due_at,
            "asked_by_id": asked_by,
            "late_at": None if lateness is None else due_at + timedelta(minutes=lateness),
            "woken_at": timezone.now(),
        },
    )
    return run if is_new else None


def _leave_out(schedule: Schedule, due_at: datetime, why: str, **values: object) -> None:
    skipped = {"moment": due_at, "cause": ScheduleRun.Cause.DUE, "status": Status.SKIPPED, "note": why}
    ended = {"finished_at": timezone.now(), **values}
    ScheduleRun.objects.get_or_create(schedule=schedule, due_at=due_at, defaults={**skipped, **ended})


def _overlaps(schedule: Schedule) -> str:
    """Why a due time is left out, "" if it is not."""
    before = schedule.runs.filter(status__in=UNENDED).count()
    if before and schedule.overlap == Schedule.Overlap.SKIP:
        return "the run before was still going"
    return f"{before} runs were waiting already" if before >= MOST_WAITING else ""


def _notify_late_runs(now: datetime) -> None:
    for run in ScheduleRun.objects.filter(late_at__lte=now, status__in=UNENDED)[:MOST_WOKEN]:
        record_event(run, Event.LATE)
        ScheduleRun.objects.filter(pk=run.pk).update(late_at=None)


def _woken(now: datetime) -> list[Message]:
    """The runs that nobody works on although somebody should: a message was lost, a worker died, a try is due.

    Each is sent once in the time of a lease, however long the workers take to come to it.
    """
    free = Q(lease=None) | Q(lease__lte=now)
    is_due = Q(retry_at=None) | Q(retry_at__lte=now) | Q(deadline_at__lte=now)
    long_ago = Q(woken_at=None) | Q(woken_at__lte=now - timedelta(seconds=settings.LEASE_SECONDS))
    found = ScheduleRun.objects.filter(free, is_due, long_ago, status__in=UNENDED).order_by(
        F("woken_at").asc(nulls_first=True)
    )
    woken = list(found.values_list("pk", flat=True)[:MOST_WOKEN])
    ScheduleRun.objects.filter(pk__in=woken).update(woken_at=now)
    return [Message("take_run", pk) for pk in woken]
