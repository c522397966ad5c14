"""What a run looks for: its files are listed, written down, and watched until nobody writes to them any more."""

import time
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from importer import connections
from importer.connections import ListedFile
from importer.engine.errors import Cancelled, Problem
from importer.lease import lease_end
from importer.models import DiscoveredFile, Schedule, ScheduleRun
from importer.schedules.recurrence import zone_named
from importer.schedules.run.deduplication import classify, identity, in_batches, is_new
from importer.schedules.scheduler import record_run
from importer.schedules.transitions import Outcome, Status, change_held, touch

# Nobody writes any more to a file whose time is that long ago, or that was the same in two looks so far apart.
UNCHANGED_AFTER = timedelta(seconds=10)
LOOK_EVERY = 5.0  # seconds
MOST_LOOKS = 12
# Of files that were loaded before a run lists so many; the others are counted.
MOST_KNOWN_LISTED = 100
# New files are looked for so often, or so that looking takes at most a tenth of the time (seconds).
ARRIVALS_EVERY = 10.0
SHARE_OF_LOOKING = 10


def look_for_files(schedule_id: int) -> ScheduleRun | None:
    """Begin a run if a file has appeared that the schedule has never seen; and say when the next look is due."""
    schedule = Schedule.objects.select_related("connection").filter(pk=schedule_id, paused=False).first()
    if not schedule or schedule.trigger != Schedule.Trigger.ARRIVAL:
        return None
    began, problem = time.monotonic(), {}
    try:
        run = _run_for_new_files(schedule)
    except Problem as error:
        run, problem = None, error.as_json()
    pause = max(ARRIVALS_EVERY, (time.monotonic() - began) * SHARE_OF_LOOKING)
    next_look = timezone.now() + timedelta(seconds=pause)
    Schedule.objects.filter(pk=schedule_id, paused=False).update(next_due_at=next_look)
    if problem != schedule.problem:
        Schedule.objects.filter(pk=schedule_id).update(problem=problem)
        touch(schedule_id)
    return run


def _run_for_new_files(schedule: Schedule) -> ScheduleRun | None:
    now = timezone.now()
    if schedule.runs.exclude(status__in=ScheduleRun.ENDED).exists():
        return None
    found = connections.find(schedule.connection, schedule.pattern, now, zone_named(schedule.zone), schedule.subfolders)
    return record_run(schedule, now, ScheduleRun.Cause.ARRIVAL) if is_new(schedule, found) else None


def list_files(run: ScheduleRun) -> float | None:
    """List the run's files; seconds until they are to be looked at again, None once all have settled."""
    schedule = run.schedule
    found = connections.find(
        schedule.connection, schedule.pattern, run.moment, zone_named(schedule.zone), schedule.subfolders
    )
    if run.looks:
        _compare(run, found)
    else:
        _store(run, found)
    unsettled = run.files.filter(outcome=Outcome.FOUND, settled=False)
    if unsettled.exists() and run.looks + 1 < MOST_LOOKS:
        change_held(run, looks=run.looks + 1)
        return LOOK_EVERY
    # Without an identity it is a new file to the next look.
    unsettled.update(outcome=Outcome.STILL_WRITTEN, identity="")
    change_held(run, looks=run.looks + 1, status=Status.LOADING)
    return None


def _store(run: ScheduleRun, found: list[ListedFile]) -> None:
    """All that it found, some at a time, so that nobody has to wait for ten thousand rows to be written.

    Raises Cancelled if somebody else has the run by now: that one begins anew.
    """
    run.files.all().delete()  # What a worker has written that died over it.
    known = 0
    for some in in_batches(classify(run, found)):
        rows = []
        for each, outcome in some:
            known += outcome == Outcome.ALREADY_LOADED
            if outcome != Outcome.ALREADY_LOADED or known <= MOST_KNOWN_LISTED:
                rows.append(_picked(run, each, outcome))
        with transaction.atomic():
            if not change_held(run, lease=lease_end()):
                raise Cancelled("The run is no longer wanted.", where=str(run))
            DiscoveredFile.objects.bulk_create(rows)
    change_held(run, found_files=len(found), known_files=known)


def _picked(run: ScheduleRun, found: ListedFile, outcome: DiscoveredFile.Outcome) -> DiscoveredFile:
    return DiscoveredFile(
        run=run,
        schedule=run.schedule,
        name=found.name,
        size=found.size,
        modified_at=found.modified_at,
        etag=found.etag,
        identity=identity(found),
        settled=_is_old(found),
        outcome=outcome,
    )


def _is_old(found: ListedFile) -> bool:
    """Whether its time tells that it has settled. A place that gives no time shows a file once it is complete."""
    return not found.modified_at or found.modified_at <= timezone.now() - UNCHANGED_AFTER


def _compare(run: ScheduleRun, found: list[ListedFile]) -> None:
    """The files to which somebody may still write, with what they are now."""
    now = {each.name: each for each in found}
    for picked in run.files.filter(outcome=Outcome.FOUND, settled=False):
        is_now = now.get(picked.name)
        if not is_now:
            picked.outcome = Outcome.GONE
        elif is_now == listed_file(picked):
            picked.settled = True
        else:
            picked.size, picked.modified_at, picked.etag = is_now.size, is_now.modified_at, is_now.etag
            picked.identity, picked.settled = identity(is_now), _is_old(is_now)
        picked.save(update_fields=["outcome", "settled", "size", "modified_at", "etag", "identity"])


def listed_file(picked: DiscoveredFile) -> ListedFile:
    """The file as the connection has listed it."""
    return ListedFile(picked.name, picked.size, picked.modified_at, picked.etag)
