"""Lists a run's files, stores them, and watches them until they are no longer written to."""

import json
import time
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from importer.access.time_zones import zone_named
from importer.connections import operations
from importer.connections.connection_kinds import kind_of
from importer.connections.file_pattern import Pattern, fill_in_dates
from importer.connections.listed_files import ListedFile, as_stored, refuse_long_name
from importer.engine.errors import Cancelled, Problem, SourceProblem
from importer.lease import lease_end
from importer.models import DiscoveredFile, Schedule, ScheduleRun
from importer.schedules.run.deduplication import classify, identity, in_batches, is_new
from importer.schedules.run.owner import require_grants_of_owner
from importer.schedules.scheduler import record_run
from importer.schedules.transitions import Outcome, Status, change_held
from importer.worker.errors import problem_of

# A file is complete if its time is long ago (ConnectionKind.complete_after), or if it was unchanged between two looks.
LOOK_EVERY = 5.0  # seconds
MOST_LOOKS = 12
# After these, and when the complete files are loaded, those that still grow are looked at less often.
WATCH_EVERY = 60.0  # seconds
MOST_WATCHES = 60
# A run stores at most this many files that were loaded before, and counts the others.
MOST_KNOWN_LISTED = 100
# Seconds between two searches for new files, or more, so that searching takes at most a tenth of the time.
ARRIVALS_EVERY = 10.0
SHARE_OF_LOOKING = 10


def look_for_files(schedule_id: int) -> ScheduleRun | None:
    """Start a run if there is a file that is new to the schedule, and set the time of the next search.

    Also if a search fails after one that did not: the run tries again with pauses, and notifies people if it fails.
    A run that lists the files is a search, too.
    """
    schedule = Schedule.objects.select_related("connection").filter(pk=schedule_id, paused=False).first()
    if not schedule or schedule.trigger != Schedule.Trigger.ARRIVAL:
        return None
    began, now = time.monotonic(), timezone.now()
    if schedule.runs.exclude(status__in=ScheduleRun.ENDED).exists():
        wanted, problem = False, None
    else:
        wanted, problem = _search(schedule, now)
    pause = max(ARRIVALS_EVERY, (time.monotonic() - began) * SHARE_OF_LOOKING)
    values: dict[str, Any] = {"next_due_at": timezone.now() + timedelta(seconds=pause)}
    values |= _as_found(schedule, problem)
    # A schedule that has changed during the search is left to its next search, if there is one.
    as_read = Schedule.objects.filter(pk=schedule_id, paused=False, version=schedule.version)
    with transaction.atomic():
        if not as_read.update(**values):
            return None
        return record_run(schedule, now, ScheduleRun.Cause.ARRIVAL) if wanted else None


def _search(schedule: Schedule, now: datetime) -> tuple[bool, dict[str, Any]]:
    """Whether a run is to begin, and the problem of the search as JSON, or {}."""
    try:
        require_grants_of_owner(schedule)
        return is_new(schedule, _find(schedule, now)), {}
    except Exception as error:
        problem = problem_of(error, schedule).as_json()
    return not schedule.problem, problem


def _as_found(schedule: Schedule, problem: dict[str, Any] | None) -> dict[str, Any]:
    """The schedule's values after a look that found this problem, or {}; None: there was no look."""
    if problem is None or problem == schedule.problem == {}:
        return {}
    before = {name: value for name, value in schedule.problem.items() if name != "at"}
    at = {"at": timezone.now().isoformat(timespec="seconds")} if problem else {}
    changed = _as_text(problem) != _as_text(before)
    return {"problem": problem | at, **({"version": F("version") + 1} if changed else {})}


def _as_text(problem: dict[str, Any]) -> str:
    """A problem to compare with a stored one, whose tuples have become lists."""
    return json.dumps(problem, sort_keys=True)


def _find(schedule: Schedule, moment: datetime) -> list[ListedFile]:
    zone = zone_named(schedule.zone)
    return operations.find(schedule.connection, schedule.pattern, moment, zone, schedule.subfolders)


def list_files(run: ScheduleRun) -> float | None:
    """List the run's files. Returns the seconds until the next look, or None once files are to be loaded.

    These are the complete ones; the others are *still written* then. Raises Forbidden, and asks no server, if the
    owner's grants have ended.
    """
    files = _listed(run)
    if run.looks:
        _compare(run, files)
    else:
        _store(run, files)
    unsettled = run.files.filter(outcome=Outcome.FOUND, settled=False)
    if unsettled.exists() and run.looks + 1 < MOST_LOOKS:
        change_held(run, looks=run.looks + 1)
        return LOOK_EVERY
    # Without an identity, the file is new to a later run.
    unsettled.update(outcome=Outcome.STILL_WRITTEN, identity="")
    run.looks += 1
    change_held(run, looks=run.looks, status=Status.LOADING, note="")
    return None


def watches_on(run: ScheduleRun) -> bool:
    """Whether the run looks again, after WATCH_EVERY, at files that were still written to when it loaded the others."""
    return not _has_watched_enough(run) and _only_this_run_watches(run)


def has_given_up(run: ScheduleRun) -> bool:
    """Whether the run no longer looks at files that are still written to, and no other run will soon."""
    return _has_watched_enough(run) and _only_this_run_watches(run)


def _has_watched_enough(run: ScheduleRun) -> bool:
    return run.looks >= MOST_LOOKS + MOST_WATCHES


def _only_this_run_watches(run: ScheduleRun) -> bool:
    return run.files.filter(outcome=Outcome.STILL_WRITTEN).exists() and not _is_followed(run)


def _is_followed(run: ScheduleRun) -> bool:
    """Whether a later run will soon look for files of the same names: on arrival, or at the next due time."""
    schedule = Schedule.objects.get(pk=run.schedule_id)
    if schedule.trigger == Schedule.Trigger.ARRIVAL and not schedule.paused:
        return True
    soon = timezone.now() + timedelta(seconds=WATCH_EVERY)
    waiting = schedule.runs.filter(status=Status.WAITING).values_list("moment", flat=True)
    next_due = [schedule.next_due_at] if schedule.next_due_at and schedule.next_due_at <= soon else []
    return any(_pattern(schedule, each) == _pattern(schedule, run.moment) for each in (*waiting, *next_due))


def _pattern(schedule: Schedule, moment: datetime) -> Pattern:
    return fill_in_dates(schedule.pattern, moment, zone_named(schedule.zone), schedule.subfolders)


def _listed(run: ScheduleRun) -> list[ListedFile]:
    """The files, as _find(). With trigger arrival, the schedule's problem says whether they could be listed."""
    schedule, problem = run.schedule, {}
    try:
        require_grants_of_owner(schedule)
        return _find(schedule, run.moment)
    except Problem as error:
        problem = error.as_json()
        raise
    finally:
        if schedule.trigger == Schedule.Trigger.ARRIVAL and (found := _as_found(schedule, problem)):
            Schedule.objects.filter(pk=schedule.pk, trigger=schedule.trigger).update(**found)


def _store(run: ScheduleRun, files: list[ListedFile]) -> None:
    """Insert the run's files in batches, so that no transaction is long.

    Raises Cancelled if another worker has the run by now: it lists the files again.
    """
    run.files.all().delete()  # Rows of a worker that died while it inserted them.
    known = 0
    for batch in in_batches(classify(run, files)):
        rows = []
        for each, outcome in batch:
            known += outcome == Outcome.ALREADY_LOADED
            if outcome != Outcome.ALREADY_LOADED or known <= MOST_KNOWN_LISTED:
                rows.append(_discovered(run, each, outcome))
        with transaction.atomic():
            if not change_held(run, lease=lease_end()):
                raise Cancelled("The run is no longer wanted.", where=str(run))
            DiscoveredFile.objects.bulk_create(rows)
    change_held(run, found_files=len(files), known_files=known)


def _discovered(run: ScheduleRun, file: ListedFile, outcome: DiscoveredFile.Outcome) -> DiscoveredFile:
    """The row of a file. One whose name is too long to be stored has failed, under the beginning of its name."""
    problem: dict[str, Any] = {}
    try:
        refuse_long_name(file.name)
    except SourceProblem as error:
        outcome = Outcome.FAILED if outcome == Outcome.FOUND else outcome
        problem = error.as_json()
    return DiscoveredFile(
        run=run,
        schedule=run.schedule,
        name=as_stored(file.name),
        problem=problem,
        size=file.size,
        modified_at=file.modified_at,
        etag=file.etag,
        identity=identity(file),
        settled=_is_complete(run, file),
        outcome=outcome,
    )


def _is_complete(run: ScheduleRun, file: ListedFile) -> bool:
    """Whether one look shows that the file is complete: by its time, or, without one, by the kind of its connection."""
    kind = kind_of(run.schedule.connection)
    if not file.modified_at:
        return not kind.lists_unfinished
    return file.settled and file.modified_at <= timezone.now() - kind.complete_after


def _compare(run: ScheduleRun, files: list[ListedFile]) -> None:
    """Update the files that may still be written to: complete if unchanged since the last look, or gone."""
    now = {each.name: each for each in files}
    for picked in run.files.filter(outcome__in=(Outcome.FOUND, Outcome.STILL_WRITTEN), settled=False):
        is_now = now.get(picked.name)
        if not is_now:
            # Without an identity, it is new to a later run if it comes back.
            picked.outcome, picked.identity = Outcome.GONE, ""
        else:
            picked.settled = is_now == listed_file(picked) or _is_complete(run, is_now)
            picked.size, picked.modified_at, picked.etag = is_now.size, is_now.modified_at, is_now.etag
            picked.outcome, picked.identity = Outcome.FOUND, identity(is_now)
        picked.save(update_fields=["outcome", "settled", "size", "modified_at", "etag", "identity"])


def listed_file(picked: DiscoveredFile) -> ListedFile:
    """The stored file, as the connection listed it."""
    return ListedFile(picked.name, picked.size, picked.modified_at, picked.etag)
