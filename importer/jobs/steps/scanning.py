"""The scan of a job's file: its claim, its lease and its results."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.chunks.skipped_lines import NO_LINES, SkippedLines
from importer.engine.stored import to_json
from importer.jobs.bulk import insert_each
from importer.jobs.lifecycle import enforce_limits
from importer.jobs.transitions import STEP, JobStep, Status, claim_step, held_step, no_step
from importer.models import Chunk, ImportJob
from importer.models.chunk import RANGE
from importer.models.job import LINES_AFTER, LINES_AMONG, LINES_BEFORE


def claim_scan(job_id: int) -> ImportJob | None:
    """The job, for the one worker that may scan it now; None for all others."""
    return claim_step(job_id, "scan")


def renew_copy(job: ImportJob, copied_bytes: int) -> bool:
    """Renew the scan's lease while the plain copy is made; it holds `copied_bytes` of the file so far.

    False: another worker scans now, or the job is ending.
    """
    return _renew(job, copied_bytes=copied_bytes)


def renew_scan(job: ImportJob) -> bool:
    """Renew the scan's lease. False as for renew_copy()."""
    return _renew(job)


def is_scan_wanted(job: ImportJob) -> bool:
    """Whether the scan is still wanted from this attempt. Only reads."""
    return _wanted(job).exists()


def record_copy(
    job: ImportJob, name: str, size: int, skipped: SkippedLines | None, files: Sequence[JoinedFile] = ()
) -> bool:
    """Record the finished working copy of `size` bytes. False as for renew_copy().

    `skipped`: the lines from the first record on that are none, if the copy does not have them. `files`: where the
    records of each of several files lie in the copy.
    """
    job.plain_copy, job.plain_size = name, size
    job.files_json = [to_json(each) for each in files]
    lines = {} if skipped is None else {"lines_json": {**job.lines_json, LINES_AMONG: skipped.as_json()}}
    return _renew(job, plain_copy=name, plain_size=size, files_json=job.files_json, **lines)


def record_unsorted(job: ImportJob, plan: ImportPlan) -> bool:
    """Record the plan of a job whose file is not sorted after all. False as for renew_copy()."""
    job.plan_json = plan_to_json(plan)
    return _renew(job, plan_json=job.plan_json)


def add_chunks(job: ImportJob, ranges: list[ChunkRange]) -> bool:
    """Record the chunks that the scan found, and renew its lease. False as for renew_copy()."""
    end = ranges[-1].offset + ranges[-1].length
    with transaction.atomic():
        rows = sum(each.rows for each in ranges)
        held = _renew(job, scanned_bytes=end, scanned_rows=F("scanned_rows") + rows, **_with_lines_among(job, ranges))
        if held:
            insert_each(Chunk, [_chunk_values(job, each) for each in ranges])
    return held


def record_end_read(job: ImportJob) -> bool:
    """Record that the end of the file was looked at, and shows its footer. False as for renew_copy()."""
    job.end_unread = False
    sampled = sorted({*job.file_dialect.sampled, "skip_footer"})
    job.dialect_json = {**job.dialect_json, "sampled": sampled}
    return _renew(job, end_unread=False, dialect_json=job.dialect_json)


def await_bytes(job: ImportJob, size: int) -> None:
    """Let the scan continue when `size` bytes of the upload have arrived."""
    held_step(job).update(awaits_bytes=size)


def scanned_rows(job: ImportJob) -> int:
    """How many rows the scan has found so far."""
    return int(ImportJob.objects.values_list("scanned_rows", flat=True).get(pk=job.pk))


def finish_scan(job: ImportJob, size: int, before: SkippedLines, after: SkippedLines) -> None:
    """Record the end of the scan of `size` bytes, and the lines before and after the records.

    Limits in percent are exact from now on, and are enforced.
    """
    with transaction.atomic():
        held_step(job).filter(step=JobStep.SCANNING).update(
            scan_finished=True,
            lines_json={**_lines(job), LINES_BEFORE: before.as_json(), LINES_AFTER: after.as_json()},
            scanned_bytes=size,
            scanned_at=timezone.now(),
            step_failures=0,
            version=F("version") + 1,
            **no_step(),
        )
        enforce_limits(job.pk)


def all_sessions_load(job: ImportJob) -> bool:
    """Whether each session of the job has a run, or a message for one: then nothing can be queued for it.

    A run that ends later advances the job itself, and finds what was committed before this was asked.
    """
    runs = Chunk.objects.filter(job=job, job__status=Status.LOADING, status__in=Chunk.IN_FLIGHT)
    return runs.order_by().values("run").distinct().count() >= job.parallelism


def _with_lines_among(job: ImportJob, ranges: Sequence[ChunkRange]) -> dict[str, Any]:
    """The values that add the lines among the records of these chunks; none for chunks without any."""
    found = sum((each.skipped for each in ranges), NO_LINES)
    if not found:
        return {}
    lines = _lines(job)
    return {
        "lines_json": {**lines, LINES_AMONG: (SkippedLines.from_json(lines.get(LINES_AMONG, {})) + found).as_json()}
    }


def _lines(job: ImportJob) -> dict[str, Any]:
    """The lines that are recorded so far. Nobody else changes them while this attempt holds the step."""
    return dict(ImportJob.objects.values_list("lines_json", flat=True).get(pk=job.pk))


def _renew(job: ImportJob, **values: Any) -> bool:
    """Renew the lease if this attempt still scans the job, and the job is not ending; and set the values."""
    return STEP.renew(_wanted(job), version=F("version") + 1, **values)


def _wanted(job: ImportJob) -> QuerySet[ImportJob]:
    return held_step(job).filter(step=JobStep.SCANNING, status__in=[Status.UNAPPROVED, Status.LOADING, Status.PAUSED])


def _chunk_values(job: ImportJob, chunk: ChunkRange) -> dict[str, Any]:
    return {"job": job.pk, **{name: getattr(chunk, name) for name in RANGE}}
