"""The files of the import that a schedule is made from: the schedule has nothing to load from them again."""

from collections.abc import Sequence

from django.utils import timezone

from importer.connections.listed_files import ListedFile, as_stored
from importer.models import DiscoveredFile, ImportJob, Schedule, ScheduleRun, SourceConnection, SourceFile
from importer.schedules.run.deduplication import identity
from importer.schedules.run.ingest import has_rows_in
from importer.schedules.transitions import Outcome, Status


def may_have_rows(job: ImportJob) -> bool:
    """Whether the import has loaded its files, a part of them, or still may: to load them again would repeat rows."""
    succeeded = job.status == ImportJob.Status.SUCCEEDED
    return job.restored_at is None and (succeeded or not job.ended or has_rows_in(job))


def record(schedule: Schedule, job: ImportJob) -> None:
    """Record the files of a past import with the new schedule, which recognizes them by identity and content.

    They belong to a run that was skipped. An import that is not complete is recorded, too: a run waits for it, or
    retries it.
    """
    if not may_have_rows(job):
        return
    files, now = job.source.files, timezone.now()
    run = ScheduleRun.objects.create(
        schedule=schedule,
        due_at=now,
        moment=now,
        cause=ScheduleRun.Cause.DUE,
        status=Status.SKIPPED,
        found_files=len(files),
        finished_at=now,
        note=_note(job, files),
    )
    DiscoveredFile.objects.bulk_create(_discovered(run, job, each) for each in files)


def record_end(run_id: int) -> None:
    """Record the end of an import that was under way when a schedule was made from it, in the run that has its files.

    Files of an import that ended without rows are new to the schedule.
    """
    loading = DiscoveredFile.objects.filter(run=run_id, run__status=Status.SKIPPED, outcome=Outcome.LOADING)
    for file in loading.select_related("job"):
        job = file.job
        if not job or not may_have_rows(job):
            file.delete()
        elif job.ended:
            file.outcome = Outcome.LOADED if job.status == ImportJob.Status.SUCCEEDED else Outcome.FAILED
            file.save(update_fields=["outcome"])


def known_file_note(job: ImportJob, connection: SourceConnection, file: ListedFile, known_by: str) -> str:
    """What a schedule made from the import would do with a listed file because of it, in words; "" if it is new.

    `known_by`: as the schedule has it. A file is not read for that. Its content may be that of the import's file if
    both have one size.
    """
    if not may_have_rows(job):
        return ""
    by_content = known_by == Schedule.KnownBy.CONTENT or not identity(file)
    perhaps = False
    for source in job.source.files:
        listed = as_listed(source, connection)
        if listed and identity(listed) and identity(listed) == identity(file):
            loaded = job.status == ImportJob.Status.SUCCEEDED
            return f"loaded by import {job.pk} already" if loaded else f"left to import {job.pk}"
        perhaps = perhaps or (by_content and source.size == file.size)
    return f"left out if its content is that of import {job.pk}" if perhaps else ""


def as_listed(source: SourceFile, connection: SourceConnection) -> ListedFile | None:
    """The file as the connection listed it when it was fetched; None for one that came from elsewhere."""
    if source.connection_id != connection.pk:
        return None
    return ListedFile(source.found_name, source.size, source.found_modified_at, source.found_etag)


def _note(job: ImportJob, files: Sequence[SourceFile]) -> str:
    count = "Its file is" if len(files) == 1 else f"Its {len(files):,} files are"
    return f"The schedule was made from import {job.pk}. {count} not loaded again."


def _discovered(run: ScheduleRun, job: ImportJob, source: SourceFile) -> DiscoveredFile:
    listed = as_listed(source, run.schedule.connection)
    is_loaded = job.status == ImportJob.Status.SUCCEEDED
    unloaded = Outcome.FAILED if job.ended else Outcome.LOADING
    return DiscoveredFile(
        run=run,
        schedule=run.schedule,
        name=as_stored(listed.name if listed else source.name),
        size=source.size,
        modified_at=source.found_modified_at,
        etag=listed.etag if listed else "",
        identity=identity(listed) if listed else "",
        fingerprint=source.fingerprint,
        settled=True,
        # An import that succeeded is none of the schedule's own; another one is continued by a run.
        job=None if is_loaded else job,
        outcome=Outcome.LOADED if is_loaded else unloaded,
    )
