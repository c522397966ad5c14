"""How a run ends, and what is told of that."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Sum
from django.utils import timezone

from importer import jobs, queue
from importer.engine.errors import Problem
from importer.models import DiscoveredFile, ImportJob, JobFact, Schedule, ScheduleRun
from importer.models.channel import Event
from importer.queue import Message
from importer.schedules.events import record_event
from importer.schedules.transitions import Outcome, Status, touch

NOT_NEW = (Outcome.ALREADY_LOADED, Outcome.FAILED_BEFORE, Outcome.GONE)


def complete(run: ScheduleRun, mine: QuerySet[ScheduleRun]) -> None:
    """No file is left: the run has succeeded, or failed if one of them has, or if there was none and that is wrong."""
    failed = run.files.filter(outcome=Outcome.FAILED)
    if first := failed.first():
        note = f"{failed.count():,} of {run.found_files:,} {'file' if run.found_files == 1 else 'files'} failed"
        end(run, mine, Status.FAILED, {**first.problem, "where": first.problem.get("where") or first.name}, note)
        return
    if run.cause == ScheduleRun.Cause.ARRIVAL or run.files.exclude(outcome__in=NOT_NEW).exists():
        end(run, mine, Status.SUCCEEDED, note=_cleanup_note(run))
        return
    nothing = f"No new file matches {run.schedule.pattern}."
    if run.schedule.no_file == Schedule.NoFile.FAIL:
        advice = "See that whatever writes it has done so; then run the schedule now."
        problem = Problem(nothing, str(run.schedule.connection), advice).as_json()
        end(run, mine, Status.FAILED, problem, "no new file")
    else:
        told = [Event.NO_FILE] if run.schedule.no_file == Schedule.NoFile.WARN else []
        end(run, mine, Status.SUCCEEDED, note="no new file", told=told)


def _cleanup_note(run: ScheduleRun) -> str:
    left = run.files.filter(done=DiscoveredFile.Done.FAILED).count()
    files = "1 loaded file" if left == 1 else f"{left:,} loaded files"
    return f"{files} could not be {run.schedule.afterwards}d" if left else ""


def end(
    run: ScheduleRun,
    guarded: QuerySet[ScheduleRun],
    status: Status,
    problem: dict[str, Any] | None = None,
    note: str = "",
    told: Iterable[Event] = (),
) -> bool:
    """End the run if it still is one of `guarded`; whether it was. Its files that are left are for a later one.

    What is told of it is written down in the same transaction. The next run that waits is sent for.
    """
    with transaction.atomic():
        late = run.late_at and run.late_at <= timezone.now()
        ended: dict[str, Any] = {"schedule_claim": None, "finished_at": timezone.now(), "lease": None, "retry_at": None}
        ended |= {"problem": problem or {}, "note": note[:200], "late_at": None}
        if not guarded.update(status=status, version=F("version") + 1, **ended):
            return False
        run.status = status
        run.files.filter(outcome__in=(Outcome.FOUND, Outcome.FETCHED)).update(outcome=Outcome.LEFT)
        run.files.filter(outcome=Outcome.LOADING).update(outcome=Outcome.FAILED, problem=problem or {})
        for event in (*told, *([Event.LATE] if late else []), *_events(run)):
            record_event(run, event)
        touch(run.schedule_id)
    waiting = ScheduleRun.objects.filter(schedule=run.schedule_id, status=Status.WAITING).order_by("due_at", "pk")
    queue.send([Message("take_run", pk) for pk in waiting.values_list("pk", flat=True)[:1]])
    return True


def stop(
    run: ScheduleRun, guarded: QuerySet[ScheduleRun], status: Status, problem: dict[str, Any], note: str = ""
) -> bool:
    """End the run in the middle, and cancel the import that is under way; whether it was not ended before."""
    under_way = list(run.files.filter(outcome=Outcome.LOADING).exclude(job=None).values_list("job_id", flat=True))
    if not end(run, guarded, status, problem, note):
        return False
    for job_id in under_way:
        with suppress(Problem):  # It is ending already.
            jobs.cancel(job_id)
    return True


def _events(run: ScheduleRun) -> Iterable[Event]:
    """What there is to tell of a run that has ended."""
    if run.status == Status.FAILED:
        yield Event.FAILED
    elif run.status == Status.SUCCEEDED and not _lacks_a_file(run) and _failed_before(run):
        yield Event.RECOVERED
    own = ImportJob.objects.filter(picked__run=run)
    limit = run.schedule.rejects_limit
    if limit is not None and (own.aggregate(rows=Sum("rejected_rows"))["rows"] or 0) > limit:
        yield Event.REJECTS
    if JobFact.objects.filter(name="slower_than_like", number=1, record__job__picked__run=run).exists():
        yield Event.REGRESSION


def _lacks_a_file(run: ScheduleRun) -> bool:
    """Whether a file lies there that failed before: on arrival it is not tried again as it is."""
    return run.files.filter(outcome=Outcome.FAILED_BEFORE).exists()


def _failed_before(run: ScheduleRun) -> bool:
    """Whether a run has failed since the last one after which no file was missing."""
    lacks = DiscoveredFile.objects.filter(run=OuterRef("pk"), outcome=Outcome.FAILED_BEFORE)
    before = ScheduleRun.objects.filter(schedule=run.schedule_id, status__in=(Status.SUCCEEDED, Status.FAILED))
    telling = before.exclude(pk=run.pk).exclude(Exists(lacks), status=Status.SUCCEEDED)
    return telling.order_by("-finished_at").values_list("status", flat=True).first() == Status.FAILED
