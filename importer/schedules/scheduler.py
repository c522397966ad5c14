"""The tick, which Celery beat sends every few seconds: records due runs, reports late ones, wakes idle ones.

A due time is processed in one transaction, which moves the schedule's `next_due_at`, if it is still the value that was
read, and inserts the runs. So with two beats, or a tick that is delivered twice, one of them finds nothing to do.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from importer.engine import failpoints
from importer.engine.errors import Problem
from importer.lease import shorten
from importer.models import Schedule, ScheduleRun
from importer.models.channel import Event
from importer.models.outcomes.looks import MISSED
from importer.queue import Message
from importer.schedules import recurrence
from importer.schedules.events import record_event
from importer.schedules.transitions import LONGEST_PAUSE, UNENDED, Status, touch

log = logging.getLogger(__name__)

Then = Callable[[Sequence[Message]], None]

MOST_SCHEDULES = 500  # schedules per tick, the longest due first, so that a tick is short
MOST_WOKEN = 500
LONGEST = timedelta(seconds=LONGEST_PAUSE)  # until a run is tried again, or a folder is looked at
MOST_WAITING = 100  # runs of one schedule; further due times are skipped, since a hanging run would pile them up


def tick(then: Then) -> None:
    """Process all schedules that are due. `then` gets the next messages."""
    now = timezone.now()
    _shorten()
    for schedule in _due(now):
        failpoints.reach("schedule.due")
        try:
            following = process_due(schedule, now)
            failpoints.reach("schedule.recorded")
            then(following)
        except Exception:
            # The other schedules are due, too.
            log.exception("schedule %s could not be taken up", schedule.pk)
    _notify_late_runs(now)
    then(_wake_idle_runs(now))


def _shorten() -> None:
    """Shorten times that lie too far ahead since the clock was set back (lease.shorten()).

    A due time by the clock stays: the due times before it have their runs.
    """
    unended = ScheduleRun.objects.filter(status__in=UNENDED)
    shorten(unended, "woken_at")
    shorten(unended, "retry_at", LONGEST)
    shorten(Schedule.objects.filter(trigger=Schedule.Trigger.ARRIVAL), "next_due_at", LONGEST)


def _due(now: datetime) -> list[Schedule]:
    due = Schedule.objects.filter(paused=False, next_due_at__lte=now).order_by("next_due_at", "pk")
    return list(due[:MOST_SCHEDULES])


def process_due(schedule: Schedule, now: datetime) -> list[Message]:
    """Record the runs and the skipped due times of the schedule up to now. Returns the next messages."""
    if schedule.trigger == Schedule.Trigger.ARRIVAL:
        # A preliminary value: the worker that looks for files sets the next time.
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
    """The schedule's timing. Meaningless for trigger arrival."""
    return recurrence.Timing(schedule.cron, schedule.every_minutes, schedule.zone)


def _claim_due_times(schedule: Schedule, **values: object) -> bool:
    """Set the values if the schedule is as it was read. False: another tick has processed these due times."""
    as_read = Schedule.objects.filter(pk=schedule.pk, paused=False, next_due_at=schedule.next_due_at)
    return bool(as_read.update(**values))


def _record(schedule: Schedule, decision: recurrence.Decision) -> list[Message]:
    if left_out := decision.left_out:
        _leave_out(schedule, left_out.first, MISSED, last_due_at=left_out.last, due_times=left_out.times)
    runs = [record_run(schedule, each, ScheduleRun.Cause.CATCH_UP) for each in decision.caught_up]
    for each in decision.on_time:
        if why := _why_overlapping(schedule):
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
    user_id: int | None = None,
) -> ScheduleRun | None:
    """A new run that waits for a worker; None if that due time has a run, as after a clock was set back."""
    lateness = schedule.lateness_minutes
    run, is_new = ScheduleRun.objects.get_or_create(
        schedule=schedule,
        due_at=due_at,
        defaults={
            "cause": cause,
            "moment": moment or due_at,
            "asked_by_id": user_id,
            "late_at": None if lateness is None else due_at + timedelta(minutes=lateness),
            "woken_at": timezone.now(),
        },
    )
    return run if is_new else None


def _leave_out(schedule: Schedule, due_at: datetime, why: str, **values: object) -> None:
    skipped = {"moment": due_at, "cause": ScheduleRun.Cause.DUE, "status": Status.SKIPPED, "note": why}
    ended = {"finished_at": timezone.now(), **values}
    ScheduleRun.objects.get_or_create(schedule=schedule, due_at=due_at, defaults={**skipped, **ended})


def _why_overlapping(schedule: Schedule) -> str:
    """Why a due time is skipped because of earlier runs; "" if it is not."""
    before = schedule.runs.filter(status__in=UNENDED).count()
    if before and schedule.overlap == Schedule.Overlap.SKIP:
        return "the run before was still going"
    return f"{before} runs were waiting already" if before >= MOST_WAITING else ""


def _notify_late_runs(now: datetime) -> None:
    for run in ScheduleRun.objects.filter(late_at__lte=now, status__in=UNENDED)[:MOST_WOKEN]:
        record_event(run, Event.LATE)
        ScheduleRun.objects.filter(pk=run.pk).update(late_at=None)


def _wake_idle_runs(now: datetime) -> list[Message]:
    """Messages for runs that no worker has although one should: a message was lost, a worker died, a retry is due.

    A run gets at most one message in LEASE_SECONDS, even if the workers are slow to take it.
    """
    free = Q(lease=None) | Q(lease__lte=now)
    is_due = Q(retry_at=None) | Q(retry_at__lte=now) | Q(deadline_at__lte=now)
    long_ago = Q(woken_at=None) | Q(woken_at__lte=now - timedelta(seconds=settings.LEASE_SECONDS))
    idle = ScheduleRun.objects.filter(free, is_due, long_ago, status__in=UNENDED).order_by(
        F("woken_at").asc(nulls_first=True)
    )
    woken = list(idle.values_list("pk", flat=True)[:MOST_WOKEN])
    ScheduleRun.objects.filter(pk__in=woken).update(woken_at=now)
    return [Message("take_run", pk) for pk in woken]
