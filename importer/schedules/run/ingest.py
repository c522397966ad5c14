"""Imports a run's files one after another: fetches each, skips known contents, and waits for the import to end."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from importer.access.acting import acting_as
from importer.access.time_zones import zone_named
from importer.connections import operations
from importer.connections.source_location import location_of
from importer.engine import failpoints
from importer.engine.errors import Cancelled, LoadedBefore, NoConnection, Problem, SourceChanged, TooManyChanges
from importer.engine.reading.other_file import differing_encoding, differing_lines
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import Reading
from importer.engine.source.profile.profile import profile_file
from importer.jobs.actions import commands
from importer.models import DiscoveredFile, ImportJob, Schedule, ScheduleRun
from importer.models.outcomes.in_backup import was_in_backup
from importer.preparation.prepare import PreparedImport, prepare
from importer.preparation.request import ImportRequest
from importer.schedules.run import deduplication, retry_policy, schema_drift
from importer.schedules.run.discovery import listed_file
from importer.schedules.run.owner import require_grants_of_owner
from importer.schedules.transitions import Outcome, change_held
from importer.sources.uploads import SourceInUse, remove, with_file_name

PENDING = (Outcome.FOUND, Outcome.FETCHED)
HOW_TO_ANSWER = (
    "Nothing was loaded, and the file is where it was. Choose it for a new import, answer the question there, save that"
    " as a preset without starting the import, and choose the preset in the schedule: its next run loads the file."
)
# Files whose rows are in the table: loaded by this run, or by an earlier one that could not move or delete the file.
IN_THE_TABLE = (Outcome.LOADED, Outcome.ALREADY_LOADED)
DONE = {Schedule.Afterwards.MOVE: DiscoveredFile.Done.MOVED, Schedule.Afterwards.DELETE: DiscoveredFile.Done.DELETED}


class Stopped(Exception):
    """A problem that ends or postpones the whole run (importer.engine.errors.Problem as JSON)."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem)
        self.problem = problem


class PartlyLoaded(Problem):
    """An earlier import of the file is not complete, and cannot be continued with this file now."""


def load_files(run: ScheduleRun) -> bool:
    """Process the run's files until an import is under way. Returns False once no file is left.

    Raises Problem, and Stopped for a problem that ends or postpones the whole run.
    """
    loading = run.files.filter(outcome=Outcome.LOADING).select_related("job").first()
    if loading and loading.job and not loading.job.ended:
        return True
    if loading:
        _finish_file(run, loading)
    _move_or_delete(run)
    while picked := run.files.filter(outcome__in=PENDING).select_related("source").first():
        if _begin(run, picked):
            return True
    # Again, for files whose content turned out to be loaded already.
    _move_or_delete(run)
    return False


def _finish_file(run: ScheduleRun, picked: DiscoveredFile) -> None:
    """Record the outcome of a file whose import has ended."""
    job = picked.job
    if job and job.status == ImportJob.Status.SUCCEEDED and job.balanced:
        _record(picked, Outcome.LOADED)
        run.failures = 0
        change_held(run, failures=0, problem={})
        return
    problem = (job.problem if job else {}) or Problem(f"The import was {job.status if job else 'removed'}.").as_json()
    changed = problem.get("kind") == SourceChanged.__name__
    if job and changed and not job.source.owned and not has_rows_in(job):
        _watch_again(picked)
        return
    if _will_retry(run, problem):
        _record(picked, Outcome.FETCHED)
        raise Stopped(problem)
    _fail(picked, problem)


def _watch_again(picked: DiscoveredFile) -> None:
    """Leave a file that has changed since it was listed until it is listed again, by this run or the next search."""
    picked.source, picked.job = None, None
    _record(picked, Outcome.STILL_WRITTEN, settled=False, identity="", fingerprint="", source=None, job=None)


def _will_retry(run: ScheduleRun, problem: dict[str, Any]) -> bool:
    return retry_policy.is_retryable(problem) and run.failures + 1 < run.schedule.most_attempts


def _fail(picked: DiscoveredFile, problem: dict[str, Any]) -> None:
    _record(picked, Outcome.FAILED, problem=problem)
    if retry_policy.stops_the_run(problem):
        raise Stopped(problem)


def _record(picked: DiscoveredFile, outcome: DiscoveredFile.Outcome, **values: Any) -> None:
    picked.outcome = outcome
    DiscoveredFile.objects.filter(pk=picked.pk).update(outcome=outcome, **values)


def _begin(run: ScheduleRun, picked: DiscoveredFile) -> bool:
    """Fetch the file and start its import. False: there is no import to wait for."""
    began = timezone.now()
    try:
        require_grants_of_owner(run.schedule)
        _fetch(run.schedule, picked)
        if known := _known(run.schedule, picked):
            _record(picked, known)
            _remove_copy(picked, began)
            return False
        failpoints.reach("schedule.fetched")
        job_id = _continued(run, picked) or _create(run, picked)
    except Cancelled:
        raise
    except NeedsAnswer as question:
        _record(picked, Outcome.NEEDS_ANSWER, problem={**question.as_json(), "advice": HOW_TO_ANSWER})
        return False
    except SourceChanged:
        _watch_again(picked)
        return False
    except LoadedBefore:
        _record(picked, Outcome.ALREADY_LOADED)
        _remove_copy(picked, began)
        return False
    except Problem as problem:
        shown = with_file_name(problem, picked.source) if picked.source else problem
        if _will_retry(run, shown.as_json()):
            raise Stopped(shown.as_json()) from problem
        _fail(picked, shown.as_json())
        return False
    failpoints.reach("schedule.created")
    commands.start(job_id)
    failpoints.reach("schedule.started")
    return True


def _fetch(schedule: Schedule, picked: DiscoveredFile) -> None:
    if picked.source and picked.outcome == Outcome.FETCHED:
        return
    picked.source = operations.fetch(schedule.connection, listed_file(picked), schedule.created_by)
    picked.fingerprint = picked.source.fingerprint
    _record(picked, Outcome.FETCHED, source=picked.source, fingerprint=picked.fingerprint)


def _remove_copy(picked: DiscoveredFile, began: datetime) -> None:
    """Remove a copy that was made since `began` and that nothing needs. An earlier one may be a person's."""
    if picked.source and picked.source.owned and picked.source.created_at >= began:
        with suppress(SourceInUse, NoConnection):
            remove(picked.source)


def _known(schedule: Schedule, picked: DiscoveredFile) -> DiscoveredFile.Outcome | None:
    """What has come of the content of a file that is known by its content; None if it is to be loaded."""
    if not deduplication.is_known_by_content(schedule, picked):
        return None
    same = deduplication.same_content(picked)
    if same.filter(deduplication.is_loaded()).exists():
        return Outcome.ALREADY_LOADED
    return Outcome.DROPPED if same.filter(outcome=Outcome.DROPPED).exists() else None


def _continued(run: ScheduleRun, picked: DiscoveredFile) -> int | None:
    """An import of an earlier attempt that is under way, or that is retried because it left rows in the table.

    Raises PartlyLoaded if that import is of another version of the file, or can no longer be retried.
    """
    tries = deduplication.earlier_tries(run.schedule, picked)
    job = next((job for job in tries if _is_of_this_version(job, picked)), None)
    if not job:
        return None
    if job.ended:
        _retry(run, picked, job)
    _attach(run, picked, job)
    return job.pk


def _retry(run: ScheduleRun, picked: DiscoveredFile, job: ImportJob) -> None:
    try:
        with acting_as(run.schedule.created_by):
            commands.retry(job.pk, started_by=run.asked_by, source=picked.source)
    except commands.Reached:
        return  # Somebody has just retried it: the run waits for the same import.
    except Problem as problem:
        if type(problem) is not Problem:  # Of the server or the table, which the other files need, too.
            raise
        what = f"Import {job.pk} of this file is not complete, and cannot be retried: {problem.what}"
        raise PartlyLoaded(what, picked.name, problem.advice, retryable=problem.retryable) from problem


def _is_of_this_version(job: ImportJob, picked: DiscoveredFile) -> bool:
    """Whether the import must load this file. False: it has ended without rows in the table.

    Raises PartlyLoaded if it loads another version of the file, or has loaded a part of one.
    """
    same = job.source.fingerprint == picked.fingerprint
    if same and job.ended and job.keeps_staged:
        raise TooManyChanges(
            f"Import {job.pk} of this file waits for a decision: {job.problem.get('what', '')}",
            picked.name,
            f"Apply what it has staged or drop it, on its page or by millrace job apply|drop {job.pk}.",
        )
    if job.ended and not has_rows_in(job):
        return False
    if same:
        return True
    if not job.ended:
        raise PartlyLoaded(
            f"Import {job.pk} of an earlier version of this file is under way.",
            picked.name,
            f"Wait until import {job.pk} has ended, or cancel it; then run the schedule now.",
            retryable=True,
        )
    maybe = " or more" if was_in_backup(job) else ""
    raise PartlyLoaded(
        f"{job.accounted_rows:,}{maybe} rows of an earlier version of this file are in the table, by import {job.pk}.",
        picked.name,
        f"Retry import {job.pk} to load the rest of that version; or take its rows out of the table, and forget"
        " that attempt: millrace schedule forget.",
    )


def has_rows_in(job: ImportJob) -> bool:
    """Whether an import that has not succeeded left rows in the table, or may have: a new import would repeat them."""
    return job.finished or (not job.stages and (job.accounted_rows > job.rejected_rows or was_in_backup(job)))


def _create(run: ScheduleRun, picked: DiscoveredFile) -> int:
    """Create the import on behalf of the schedule's owner."""
    owner = run.schedule.created_by
    with acting_as(owner):
        prepared = _prepare(run.schedule, picked)
        with transaction.atomic():
            job = commands.create(prepared, owner, started_by=[run.asked_by, *_who_saved(run.schedule)])
            _attach(run, picked, job)
    return job.pk


def _who_saved(schedule: Schedule) -> Iterable[User]:
    """The people who created or changed the schedule: they decided what its imports do."""
    return User.objects.filter(pk__in=schedule.starters)


def _prepare(schedule: Schedule, picked: DiscoveredFile) -> PreparedImport:
    assert picked.source
    place, dialect = location_of(picked.source), schedule.file_dialect
    if asked := differing_encoding(place, dialect):
        raise NeedsAnswer(Reading(dialect, (asked,), ()), picked.source.name)
    profile = profile_file(place, dialect)
    schema_drift.reconcile(schedule, profile)
    if asked := differing_lines(place, profile, [each.column for each in schedule.mapping]):
        raise NeedsAnswer(Reading(profile.dialect, (asked,), ()), picked.source.name)
    return prepare(picked.source, schedule.target, schedule.table, ImportRequest.like(schedule), lambda *_: profile)


def _attach(run: ScheduleRun, picked: DiscoveredFile, job: ImportJob) -> None:
    """Record that the import loads the file. Raises Cancelled if another worker has the run."""
    if not change_held(run):
        raise Cancelled("The run is no longer wanted.", where=str(run))
    _record(picked, Outcome.LOADING, job=job)


def _move_or_delete(run: ScheduleRun) -> None:
    """Move or delete each file whose rows are in the table, if the schedule says so.

    Raises Forbidden, and touches no file, if the owner's grants have ended.
    """
    what = Schedule.Afterwards(run.schedule.afterwards)
    if what == Schedule.Afterwards.KEEP:
        return
    schedule = run.schedule
    require_grants_of_owner(schedule)
    for picked in run.files.filter(outcome__in=IN_THE_TABLE, done=DiscoveredFile.Done.NOTHING):
        done, problem = DONE[what], {}
        try:
            moves = what == Schedule.Afterwards.MOVE
            folder = operations.folder_at(schedule.move_to, run.moment, zone_named(schedule.zone)) if moves else ""
            operations.afterwards(schedule.connection, listed_file(picked), what, folder)
        except Problem as error:
            changed = isinstance(error, SourceChanged)  # For good: it is another file now.
            if error.retryable and not changed and run.failures + 1 < run.schedule.most_attempts:
                raise Stopped(error.as_json()) from error
            done, problem = DiscoveredFile.Done.FAILED, error.as_json()
        DiscoveredFile.objects.filter(pk=picked.pk).update(done=done, done_problem=problem)
