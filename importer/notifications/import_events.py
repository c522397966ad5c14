"""Decides which events the end of an import raises, and writes the sentence of each event of an import or a run."""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TypedDict
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone

from importer.engine.units import count_of
from importer.history.regressions import regression
from importer.models import Channel, DiscoveredFile, ImportJob, JobFact, Lab, Schedule, ScheduleRun
from importer.models.channel import Event
from importer.notifications.outbox import enqueue
from importer.notifications.page_addresses import link
from importer.notifications.payload import rows_of

log = logging.getLogger(__name__)

Status = ImportJob.Status

# An import that ended longer ago, and gets its record only now, raises no event.
NEWS = timedelta(days=1)


def import_ended(job: ImportJob) -> None:
    """Enqueue the events of an import's end, in the transaction that ends it. An error here does not undo the end."""
    if job.trial_id is None and Channel.objects.exists():
        _log_errors(partial(_note_end, job), job)


def import_recorded(job: ImportJob) -> None:
    """Enqueue a regression in the transaction that writes the import's record, which compares it with its peers.

    An error here does not undo the record.
    """
    if job.finished_at and job.finished_at > timezone.now() - NEWS:
        _log_errors(partial(_note_regression, job), job)


def approval_wanted(job: ImportJob, what: str) -> None:
    """Enqueue that an import waits for another person's approval, in the transaction that says so. `what` it does."""
    about = f"{_about(job)} asked {job.approval_asked_at:%FT%T.%f}"
    _log_errors(lambda: enqueue(Event.APPROVAL, about, what, job=job, **_part_of(job)), job)


def lab_approval_wanted(lab: Lab, what: str) -> None:
    """Enqueue that a lab waits for another person's approval, as approval_wanted() does for an import."""
    details = {"lab": lab.pk, "name": f"{lab} on {lab.target.name}", "url": link("lab", lab.pk)}
    _log_errors(lambda: enqueue(Event.APPROVAL, f"lab {lab.pk}", what, details=details), lab)


def run_event(run_id: int, event: Event) -> None:
    """Enqueue an event of a schedule run, in the transaction that records the event."""
    run = ScheduleRun.objects.select_related("schedule", "schedule__connection").get(pk=run_id)
    job = _main_job(run)
    enqueue(event, f"run {run.pk}", WHAT[event](run), job=job, run=run)


def _log_errors(noting: Callable[[], None], about: ImportJob | Lab) -> None:
    try:
        with transaction.atomic():
            noting()
    except Exception:
        log.exception("%s: no notification", about)


def _note_end(job: ImportJob) -> None:
    about, part_of = _about(job), _part_of(job)
    if job.status == Status.SUCCEEDED and _has_too_many_rejects(job, **part_of):
        enqueue(Event.REJECTS, about, _rejected(rows_of([job])), job=job, **part_of)
    if part_of["run"]:
        return  # FAILED, RECOVERED and SUCCEEDED of a scheduled import are events of its run.
    if job.status == Status.FAILED:
        enqueue(Event.FAILED, about, job.problem.get("what", ""), job=job, **part_of)
    elif job.status == Status.SUCCEEDED:
        for event in (*((Event.RECOVERED,) if _failed_before(job) else ()), Event.SUCCEEDED):
            enqueue(event, about, _in_table(rows_of([job])), job=job, **part_of)


def _has_too_many_rejects(job: ImportJob, run: ScheduleRun | None, schedule: Schedule | None) -> bool:
    """Whether channels are asked for their limits. A run applies its schedule's limit itself, to all of its imports."""
    if not schedule or schedule.rejects_limit is None:
        return job.rejected_rows > 0
    return not run and job.rejected_rows > schedule.rejects_limit


def _note_regression(job: ImportJob) -> None:
    if slower := regression(job):
        enqueue(Event.REGRESSION, _about(job), slower.words, job=job, details=slower.as_json(), **_part_of(job))


def _about(job: ImportJob) -> str:
    return f"job {job.pk} try {job.attempts}"


class PartOf(TypedDict):
    """What an import is part of: the schedule run that reports its end, if there is one, and the schedule."""

    run: ScheduleRun | None
    schedule: Schedule | None


def _part_of(job: ImportJob) -> PartOf:
    """The latest schedule run that loads by this import: a later run may continue the import of an earlier one.

    Without the run if it had ended before the import: a person has retried that.
    """
    run = ScheduleRun.objects.filter(files__job=job).select_related("schedule").order_by("-pk").first()
    if not run:
        return {"run": None, "schedule": None}
    ended_by_run = job.finished_at and run.finished_at and job.finished_at <= run.finished_at
    return {"run": None if run.ended and not ended_by_run else run, "schedule": run.schedule}


def _failed_before(job: ImportJob) -> bool:
    """Whether the previous attempt of the import, or else the previous import into its table, has failed."""
    # The import's record is still that of the previous attempt.
    if JobFact.objects.filter(record=job.pk, name="status", text=Status.FAILED).exists():
        return True
    others = ImportJob.objects.filter(
        target=job.target_id, schema_name=job.schema_name, table_name=job.table_name, trial=None, picked=None
    ).exclude(pk=job.pk)
    ended = others.filter(status__in=(Status.SUCCEEDED, Status.FAILED), finished_at__isnull=False)
    return ended.order_by("-finished_at").values_list("status", flat=True).first() == Status.FAILED


def _main_job(run: ScheduleRun) -> ImportJob | None:
    """The import that a run's notification shows: the last one that failed, or else the last one."""
    imported = ImportJob.objects.filter(picked__run=run).select_related("target", "source").order_by("-pk")
    return imported.filter(picked__outcome=DiscoveredFile.Outcome.FAILED).first() or imported.first()


def _why_failed(run: ScheduleRun) -> str:
    return str(run.problem.get("what", ""))


def _late(run: ScheduleRun) -> str:
    due = run.due_at.astimezone(ZoneInfo(run.schedule.zone))
    return f"It was due at {due:%Y-%m-%d %H:%M} ({run.schedule.zone}) and has not ended in time."


def _no_file(run: ScheduleRun) -> str:
    return f"No new file on {run.schedule.connection} matches {run.schedule.pattern}."


def _rejected(rows: dict[str, int]) -> str:
    return f"{rows['rejected']:,} of {count_of(rows['source'], 'row')} were rejected."


def _in_table(rows: dict[str, int]) -> str:
    return f"{count_of(rows['loaded'] + rows['replaced'] + rows['unchanged'], 'row')} loaded."


def _of_run(sentence: Callable[[dict[str, int]], str]) -> Callable[[ScheduleRun], str]:
    """A sentence about an import's rows, for the sums over the successful imports of a run."""
    return lambda run: sentence(rows_of(ImportJob.objects.filter(picked__run=run, status=Status.SUCCEEDED)))


# The sentence of each event of a run. REGRESSION is an event of an import only.
WHAT: dict[Event, Callable[[ScheduleRun], str]] = {
    Event.FAILED: _why_failed,
    Event.RECOVERED: _of_run(_in_table),
    Event.REJECTS: _of_run(_rejected),
    Event.LATE: _late,
    Event.NO_FILE: _no_file,
    Event.SUCCEEDED: _of_run(_in_table),
}
