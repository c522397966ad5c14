"""Ends a run: as succeeded, failed or cancelled, with its events."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Sum
from django.utils import timezone

from importer import queue
from importer.engine.errors import Problem
from importer.jobs.actions import commands
from importer.models import DiscoveredFile, ImportJob, JobFact, Schedule, ScheduleRun
from importer.models.channel import Event
from importer.models.outcomes.looks import NO_COMPLETE_FILE, NO_NEW_FILE
from importer.queue import Message
from importer.schedules.events import record_event
from importer.schedules.run.discovery import MOST_WATCHES, WATCH_EVERY, has_given_up
from importer.schedules.transitions import Outcome, Status, touch

# Outcomes of a file that decide the status of its run, and their words in the run's note; the worst first.
UNSUCCESSFUL = (
    (Outcome.FAILED, Status.FAILED, "failed"),
    (Outcome.NEEDS_ANSWER, Status.NEEDS_ANSWER, "to be asked about"),
)
NOT_NEW = (Outcome.ALREADY_LOADED, Outcome.FAILED_BEFORE, Outcome.DROPPED, Outcome.GONE)
# Files that were there and are not loaded: a run with one of them does not end what has failed before.
LACKING = (Outcome.FAILED_BEFORE, Outcome.STILL_WRITTEN)


def complete(run: ScheduleRun, held: QuerySet[ScheduleRun]) -> None:
    """End a run that has no files left.

    It has failed if a file failed or was given up, or if there was none and `no_file` is fail. Else it needs an answer
    if a file does.
    """
    for outcome, status, verb in UNSUCCESSFUL:
        files = run.files.filter(outcome=outcome)
        if first := files.first():
            of_all = f"{files.count():,} of {run.found_files:,} {'file' if run.found_files == 1 else 'files'}"
            problem = {**first.problem, "where": first.problem.get("where") or first.name}
            end(run, held, status, problem, f"{of_all} {verb}")
            return
    if has_given_up(run):
        end(run, held, Status.FAILED, _given_up(run).as_json(), _note(run))
        return
    if run.cause == ScheduleRun.Cause.ARRIVAL or run.files.exclude(outcome__in=NOT_NEW).exists():
        end(run, held, Status.SUCCEEDED, note=_note(run) if run.files.exists() else NO_NEW_FILE.words)
        return
    nothing = f"No new file matches {run.schedule.pattern}."
    if run.schedule.no_file == Schedule.NoFile.FAIL:
        advice = "Check that the file was written; then run the schedule now."
        problem = Problem(nothing, str(run.schedule.connection), advice).as_json()
        end(run, held, Status.FAILED, problem, NO_NEW_FILE.words)
    else:
        events = [Event.NO_FILE] if run.schedule.no_file == Schedule.NoFile.WARN else []
        end(run, held, Status.SUCCEEDED, note=NO_NEW_FILE.words, events=events)


def growing_files(run: ScheduleRun) -> str:
    """How many files are still written to, in words; "" without any."""
    growing = run.files.filter(outcome=Outcome.STILL_WRITTEN).count()
    return f"{growing:,} {'file' if growing == 1 else 'files'} still written" if growing else ""


def _given_up(run: ScheduleRun) -> Problem:
    first = run.files.filter(outcome=Outcome.STILL_WRITTEN).first()
    minutes = round(MOST_WATCHES * WATCH_EVERY / 60)
    return Problem(
        f"After {minutes} minutes of watching: {growing_files(run)}, and not loaded.",
        first.name if first else "",
        "Look at what writes there. Once a file is complete, run this run again, which loads it for the same moment.",
    )


def _note(run: ScheduleRun) -> str:
    """The files that need attention, although the run may have succeeded."""
    notes = []
    if growing := growing_files(run):
        nothing = not run.files.exclude(outcome__in=(*NOT_NEW, Outcome.STILL_WRITTEN)).exists()
        notes.append(f"{NO_COMPLETE_FILE.words}: {growing}" if nothing else growing)
    if left := run.files.filter(done=DiscoveredFile.Done.FAILED).count():
        files = "1 loaded file" if left == 1 else f"{left:,} loaded files"
        notes.append(f"{files} could not be {run.schedule.afterwards}d")
    return ", ".join(notes)


def end(
    run: ScheduleRun,
    held: QuerySet[ScheduleRun],
    status: Status,
    problem: dict[str, Any] | None = None,
    note: str = "",
    events: Iterable[Event] = (),
) -> bool:
    """End the run if `held` still contains it, and wake the schedule's next run. False: it is in another state.

    Its remaining files are left for a later run. Its events, with the further ones in `events`, are recorded in the
    same transaction.
    """
    with transaction.atomic():
        late = run.late_at and run.late_at <= timezone.now()
        ended: dict[str, Any] = {"schedule_claim": None, "finished_at": timezone.now(), "lease": None, "retry_at": None}
        ended |= {"problem": problem or {}, "note": note[:200], "late_at": None}
        if not held.update(status=status, version=F("version") + 1, **ended):
            return False
        run.status = status
        run.files.filter(outcome__in=(Outcome.FOUND, Outcome.FETCHED)).update(outcome=Outcome.LEFT)
        run.files.filter(outcome=Outcome.LOADING).update(outcome=Outcome.FAILED, problem=problem or {})
        for event in (*events, *([Event.LATE] if late else []), *_events(run)):
            record_event(run, event)
        touch(run.schedule_id)
    waiting = ScheduleRun.objects.filter(schedule=run.schedule_id, status=Status.WAITING).order_by("due_at", "pk")
    queue.send([Message("take_run", pk) for pk in waiting.values_list("pk", flat=True)[:1]])
    return True


def stop(
    run: ScheduleRun, held: QuerySet[ScheduleRun], status: Status, problem: dict[str, Any], note: str = ""
) -> bool:
    """End the run before its files are loaded, and cancel its import. False: the run is in another state."""
    under_way = list(run.files.filter(outcome=Outcome.LOADING).exclude(job=None).values_list("job_id", flat=True))
    if not end(run, held, status, problem, note):
        return False
    for job_id in under_way:
        with suppress(Problem):  # The import is ending already.
            commands.cancel(job_id)
    return True


def _events(run: ScheduleRun) -> Iterable[Event]:
    """The events of a run that has ended, by its status, its rejects and its speed."""
    if run.status in ScheduleRun.UNSUCCESSFUL:
        yield Event.FAILED
    elif run.status == Status.SUCCEEDED:
        if not _lacks_a_file(run) and _failed_before(run):
            yield Event.RECOVERED
        if run.files.filter(outcome=Outcome.LOADED).exists():
            yield Event.SUCCEEDED
    if run.status != Status.CANCELLED and _has_too_many_rejects(run):
        yield Event.REJECTS
    if JobFact.objects.filter(name="slower_than_like", number=1, record__job__picked__run=run).exists():
        yield Event.REGRESSION


def _has_too_many_rejects(run: ScheduleRun) -> bool:
    """Whether the run's successful imports have rejected more rows than the schedule allows; False without a limit."""
    limit = run.schedule.rejects_limit
    succeeded = ImportJob.objects.filter(picked__run=run, status=ImportJob.Status.SUCCEEDED)
    return limit is not None and (succeeded.aggregate(rows=Sum("rejected_rows"))["rows"] or 0) > limit


def _lacks_a_file(run: ScheduleRun) -> bool:
    """Whether a file is there that is not loaded: it is still written to, or it failed before.

    With trigger arrival, a file that failed is not retried until it changes.
    """
    return run.files.filter(outcome__in=LACKING).exists()


def _failed_before(run: ScheduleRun) -> bool:
    """Whether a run has failed, or needed an answer, since the last success without a missing file."""
    lacks = DiscoveredFile.objects.filter(run=OuterRef("pk"), outcome__in=LACKING)
    before = ScheduleRun.objects.filter(
        schedule=run.schedule_id, status__in=(Status.SUCCEEDED, *ScheduleRun.UNSUCCESSFUL)
    )
    complete_or_failed = before.exclude(pk=run.pk).exclude(Exists(lacks), status=Status.SUCCEEDED)
    last = complete_or_failed.order_by("-finished_at").values_list("status", flat=True).first()
    return last in ScheduleRun.UNSUCCESSFUL
