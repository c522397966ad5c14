"""Advances a run under its lease: admits it, lists its files, imports them, and ends it or waits for the next step."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from importer.engine.errors import Cancelled, Problem
from importer.engine.units import count_of
from importer.models import ScheduleRun
from importer.queue import Message
from importer.schedules.past_import import record_end
from importer.schedules.run import retry_policy
from importer.schedules.run.completion import complete, end, growing_files, stop
from importer.schedules.run.discovery import WATCH_EVERY, list_files, watches_on
from importer.schedules.run.ingest import Stopped, load_files
from importer.schedules.transitions import Status, change_held, claim, held, lease_keeper, look_again, release
from importer.worker.errors import problem_of

Then = Callable[[Sequence[Message]], None]

# Longest delay of a message (seconds). For a longer pause, the tick sends the message when it is due.
LONGEST_DELAY = 30


def advance(run_id: int, then: Then) -> None:
    """Take the run as far as possible without waiting, unless another worker has it. `then` gets the next messages."""
    run = claim(run_id)
    if not run:
        record_end(run_id)
        return
    try:
        with lease_keeper(run):
            then(_advance(run))
    except Cancelled:
        release(run)
    except Stopped as stopped:
        then(_failed(run, stopped.problem))
    except Exception as error:
        then(_failed(run, problem_of(error, run).as_json()))


def _advance(run: ScheduleRun) -> list[Message]:
    """Take one step after another until the run must wait or ends. Returns the next messages."""
    if run.deadline_at and run.deadline_at <= timezone.now():
        _end_at_deadline(run)
        return []
    if run.status == Status.WAITING and not _admit(run):
        release(run)
        return []
    if run.status == Status.FINDING:
        if (pause := list_files(run)) is not None:
            return _later(run, pause)
        run.status = Status.LOADING
    if load_files(run):
        release(run)
        # The import may have ended, and sent its message, while this worker still held the run.
        return [Message("take_run", run.pk)] if _import_has_ended(run) else []
    if watches_on(run):
        return _watch(run)
    complete(run, held(run))
    return []


def _watch(run: ScheduleRun) -> list[Message]:
    """Let the run look again, after a pause, at the files that were still written to when it loaded the others."""
    if not change_held(run, status=Status.FINDING, note=growing_files(run)):
        return []
    run.status = Status.FINDING
    return _later(run, WATCH_EVERY)


def _admit(run: ScheduleRun) -> bool:
    """Make the run the active one of its schedule: one at a time, in the order of due times. False: it must wait."""
    before = ScheduleRun.objects.filter(schedule=run.schedule_id, status=Status.WAITING, due_at__lt=run.due_at)
    if before.exists():
        return False
    now, minutes = timezone.now(), run.schedule.deadline_minutes
    deadline_at = now + timedelta(minutes=minutes) if minutes else None
    values = {"schedule_claim": run.schedule_id, "started_at": now, "deadline_at": deadline_at}
    try:
        with transaction.atomic():
            admitted = change_held(run, status=Status.FINDING, **values)
    except IntegrityError:
        return False
    run.status = Status.FINDING
    return admitted


def _import_has_ended(run: ScheduleRun) -> bool:
    loading = run.files.filter(outcome="loading").select_related("job").first()
    return bool(loading and (not loading.job or loading.job.ended))


def _end_at_deadline(run: ScheduleRun) -> None:
    minutes = run.schedule.deadline_minutes or 0
    problem = Problem(
        f"The run has not ended within its {count_of(minutes, 'minute')}.",
        str(run.schedule),
        "What was loading is cancelled. Run it now to continue with the rest, or give it a later deadline.",
    )
    stop(run, held(run), Status.FAILED, problem.as_json(), note="past its deadline")


def _failed(run: ScheduleRun, problem: dict[str, Any]) -> list[Message]:
    """Retry after a pause that doubles with each failure, if the problem is retryable; or else end the run."""
    if retry_policy.is_retryable(problem) and run.failures + 1 < run.schedule.most_attempts:
        return _later(run, retry_policy.pause_after(run), failures=run.failures + 1, problem=problem)
    end(run, held(run), Status.FAILED, problem)
    return []


def _later(run: ScheduleRun, seconds: float, **values: Any) -> list[Message]:
    look_again(run, seconds, **values)
    return [Message("take_run", run.pk, delay=seconds)] if seconds <= LONGEST_DELAY else []
