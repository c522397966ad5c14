"""What the end of an import is worth telling, and of a schedule's run what is worth telling besides."""

import logging
from collections.abc import Callable
from datetime import timedelta
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone

from importer.history.regressions import regression
from importer.models import DiscoveredFile, ImportJob, JobFact, ScheduleRun
from importer.models.channel import Event
from importer.notifications.outbox import enqueue
from importer.notifications.payload import rows_of

log = logging.getLogger(__name__)

Status = ImportJob.Status

# An older import that gets its record only now is no news.
NEWS = timedelta(days=1)


def import_ended(job_id: int) -> None:
    """Note what there is to tell, in the transaction that ends the import; whatever goes wrong with that, it ends."""
    job = ImportJob.objects.select_related("target", "source").get(pk=job_id)
    if job.trial_id is None:
        _log_errors(_note_end, job)


def import_recorded(job: ImportJob) -> None:
    """The same in the transaction that writes its record, which tells how fast it was beside its like."""
    if job.finished_at and job.finished_at > timezone.now() - NEWS:
        _log_errors(_note_regression, job)


def run_event(run_id: int, event: Event) -> None:
    """Note what has happened to a run of a schedule, in the transaction that writes that down."""
    run = ScheduleRun.objects.select_related("schedule", "schedule__connection").get(pk=run_id)
    job = _job_of(run)
    enqueue(event, f"run {run.pk}", WHAT[event](run), job=job, run=run)


def _log_errors(noting: Callable[[ImportJob], None], job: ImportJob) -> None:
    try:
        with transaction.atomic():
            noting(job)
    except Exception:
        log.exception("%s: nobody is told of its end", job)


def _note_end(job: ImportJob) -> None:
    about, run = _about(job), _run_of(job)
    if job.status == Status.SUCCEEDED and job.rejected_rows and not (run and run.schedule.rejects_limit is not None):
        enqueue(Event.REJECTS, about, _rejected(rows_of([job])), job=job, run=run)
    if run:
        return  # Whether a schedule fails or works again, its runs tell.
    if job.status == Status.FAILED:
        enqueue(Event.FAILED, about, job.problem.get("what", ""), job=job)
    elif job.status == Status.SUCCEEDED and _failed_before(job):
        enqueue(Event.RECOVERED, about, _went_in(rows_of([job])), job=job)


def _note_regression(job: ImportJob) -> None:
    if slower := regression(job):
        enqueue(Event.REGRESSION, _about(job), slower.words, job=job, run=_run_of(job), details=slower.as_json())


def _about(job: ImportJob) -> str:
    return f"job {job.pk} try {job.tries}"


def _run_of(job: ImportJob) -> ScheduleRun | None:
    """The run of a schedule that the import belongs to; the latest, where another one has gone on with it."""
    return ScheduleRun.objects.filter(files__job=job).select_related("schedule").order_by("-pk").first()


def _failed_before(job: ImportJob) -> bool:
    """Whether what ended last before this, its own last try or an import into the same table, has failed."""
    # Its record is still that of the try before.
    if JobFact.objects.filter(record=job.pk, name="status", text=Status.FAILED).exists():
        return True
    others = ImportJob.objects.filter(
        target=job.target_id, schema_name=job.schema_name, table_name=job.table_name, trial=None, picked=None
    ).exclude(pk=job.pk)
    ended = others.filter(status__in=(Status.SUCCEEDED, Status.FAILED), finished_at__isnull=False)
    return ended.order_by("-finished_at").values_list("status", flat=True).first() == Status.FAILED


def _job_of(run: ScheduleRun) -> ImportJob | None:
    """The import that says most of a run: of the files, the last one that failed, or else the last one."""
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
    return f"{rows['rejected']:,} of {rows['source']:,} rows did not go in."


def _went_in(rows: dict[str, int]) -> str:
    went_in = rows["loaded"] + rows["replaced"]
    return f"{went_in:,} {'row' if went_in == 1 else 'rows'} went in."


def _of_run(said: Callable[[dict[str, int]], str]) -> Callable[[ScheduleRun], str]:
    """The same sentence about all imports of a run."""
    return lambda run: said(rows_of(ImportJob.objects.filter(picked__run=run)))


# What is said of a run; of an import's speed, its record tells.
WHAT: dict[Event, Callable[[ScheduleRun], str]] = {
    Event.FAILED: _why_failed,
    Event.RECOVERED: _of_run(_went_in),
    Event.REJECTS: _of_run(_rejected),
    Event.LATE: _late,
    Event.NO_FILE: _no_file,
}
