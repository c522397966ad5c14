"""Runs again what a schedule has not loaded: one run, the due times that were missed, or those of some past days."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import islice, takewhile

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from importer import queue
from importer.access.time_zones import zone_named
from importer.engine.errors import Problem
from importer.models import Schedule, ScheduleRun
from importer.queue import Message
from importer.schedules import recurrence
from importer.schedules.scheduler import record_run, timing_of
from importer.schedules.transitions import Status, touch

MOST_RUNS = 100  # that one request starts


def run_again(run: ScheduleRun, user: User | None = None) -> list[ScheduleRun]:
    """Start a run for the moment of an ended run, or for each due time that was skipped together with it.

    Of more than MOST_RUNS due times, the first ones: the others stay skipped, and can be run next. Files whose rows are
    in the table are not loaded again. Raises Problem if the run is under way.
    """
    if not run.ended:
        raise Problem("The run is under way.", str(run), "Wait for its end, or cancel it.")
    moments = due_times_of(run)
    now, later = (moments[:MOST_RUNS], moments[MOST_RUNS:]) if has_dates(run.schedule) else (moments, [])
    started = _start(run.schedule, now, user)
    skipped = ScheduleRun.objects.filter(pk=run.pk, status=Status.SKIPPED)
    if later:
        skipped.update(due_at=later[0], moment=later[0], due_times=len(later))
    else:
        skipped.update(note=f"{run.note}; run later"[:200])
    return started


def backfill(schedule: Schedule, first: date, last: date, user: User | None = None) -> list[ScheduleRun]:
    """Start a run for each due time of some past days, in the schedule's zone; for each day if the schedule has none.

    Files whose rows are in the table are not loaded again. Raises Problem for days that have not begun, and for more
    than MOST_RUNS due times, unless one run finds the files of all.
    """
    if last < first:
        raise Problem(f"{last} is before {first}.", schedule.name, "Choose the earlier day first.")
    moments = _due_on(schedule, first, last) if schedule.cron else _each_day(schedule, first, last)
    moments = [each for each in moments if each <= timezone.now()]
    if not moments:
        raise Problem(f"Nothing was due from {first} to {last}.", schedule.name, "Choose past days.")
    if len(moments) > MOST_RUNS and has_dates(schedule):
        raise Problem(
            f"More than {MOST_RUNS} runs were due from {first} to {last}.", schedule.name, "Choose fewer days."
        )
    return _start(schedule, moments, user)


def has_dates(schedule: Schedule) -> bool:
    """Whether the pattern names files by date. Otherwise one run finds the files of all days."""
    return "{date" in schedule.pattern


def _start(schedule: Schedule, moments: Sequence[datetime], user: User | None) -> list[ScheduleRun]:
    now = timezone.now()
    wanted = moments if has_dates(schedule) else moments[-1:]
    with transaction.atomic():
        runs = []
        for number, moment in enumerate(wanted):
            # Each run has a time of its own, in the order of the moments.
            at = now + timedelta(microseconds=number)
            run = record_run(schedule, at, ScheduleRun.Cause.BY_HAND, moment, user.pk if user else None)
            if run:
                runs.append(run)
    touch(schedule.pk)
    queue.send([Message("take_run", run.pk) for run in runs])
    return runs


def due_times_of(run: ScheduleRun) -> list[datetime]:
    """The moment of a run, or the due times that were skipped together."""
    if run.due_times == 1 or not run.last_due_at:
        return [run.moment]
    last = run.last_due_at
    later = takewhile(lambda each: each <= last, recurrence.due_times(timing_of(run.schedule), run.due_at))
    return [run.due_at, *later]


def _due_on(schedule: Schedule, first: date, last: date) -> list[datetime]:
    """The due times of the days, one more than allowed at most."""
    timing, zone = timing_of(schedule), zone_named(schedule.zone)
    start = recurrence.beginning(timing, first) - timedelta(seconds=1)
    of_days = takewhile(lambda each: each.astimezone(zone).date() <= last, recurrence.due_times(timing, start))
    return list(islice(of_days, MOST_RUNS + 1))


def _each_day(schedule: Schedule, first: date, last: date) -> list[datetime]:
    days = min((last - first).days + 1, MOST_RUNS + 1)
    return [recurrence.moment_on(timing_of(schedule), first + timedelta(days=number)) for number in range(days)]
