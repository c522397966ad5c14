"""The scan of a job's file: who may do it, and what it has found."""

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from importer.engine.plan.plan import ImportPlan
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.stored import to_json
from importer.jobs.bulk import insert_each
from importer.jobs.lifecycle import enforce_limits
from importer.jobs.transitions import JobStep, Status, claim_step, lease_end
from importer.models import Chunk, ImportJob
from importer.models.chunk import RANGE


def claim_scan(job_id: int) -> ImportJob | None:
    """The job, for the one worker that may scan it now; None for everybody else."""
    return claim_step(job_id, JobStep.SCAN_QUEUED, JobStep.SCANNING)


def renew_copy(job: ImportJob, copied_bytes: int) -> bool:
    """Keep the scan's lease while the plain copy is made, so many bytes of the file being in it.

    False: somebody else scans now, or the job is ending.
    """
    return bool(_mine(job).update(copied_bytes=copied_bytes, step_lease=lease_end(), version=F("version") + 1))


def record_copy(job: ImportJob, name: str, size: int) -> bool:
    """The plain copy is whole, `size` bytes. False as for renew_copy()."""
    job.plain_copy, job.plain_size = name, size
    return bool(_mine(job).update(plain_copy=name, plain_size=size, step_lease=lease_end(), version=F("version") + 1))


def record_unsorted(job: ImportJob, plan: ImportPlan) -> bool:
    """The file's order is kept after all, as this plan says. False as for renew_copy()."""
    job.plan_json = to_json(plan)
    return bool(_mine(job).update(plan_json=job.plan_json, step_lease=lease_end(), version=F("version") + 1))


def add_chunks(job: ImportJob, ranges: list[ChunkRange]) -> bool:
    """Record what the scan has found, and renew its lease. False: somebody else scans now, or the job is ending."""
    end = ranges[-1].offset + ranges[-1].length
    with transaction.atomic():
        mine = _mine(job).update(
            scanned_bytes=end,
            scanned_rows=F("scanned_rows") + sum(each.rows for each in ranges),
            step_lease=lease_end(),
            version=F("version") + 1,
        )
        if mine:
            insert_each(Chunk, [_as_found(job, each) for each in ranges])
    return bool(mine)


def scanned_rows(job: ImportJob) -> int:
    """How many rows the scan has found so far."""
    return int(ImportJob.objects.values_list("scanned_rows", flat=True).get(pk=job.pk))


def finish_scan(job: ImportJob, size: int) -> None:
    """The whole file is scanned, `size` bytes: now a share of its rows is a number."""
    with transaction.atomic():
        ImportJob.objects.filter(pk=job.pk, step=JobStep.SCANNING, step_attempt=job.step_attempt).update(
            scan_finished=True,
            scanned_bytes=size,
            scanned_at=timezone.now(),
            step=JobStep.NONE,
            step_lease=None,
            version=F("version") + 1,
        )
        enforce_limits(job.pk)


def _mine(job: ImportJob) -> QuerySet[ImportJob]:
    """The job, as long as this attempt is the one that scans it, and it is wanted."""
    return ImportJob.objects.filter(
        pk=job.pk, step=JobStep.SCANNING, step_attempt=job.step_attempt, status__in=[Status.LOADING, Status.PAUSED]
    )


def _as_found(job: ImportJob, found: ChunkRange) -> dict[str, Any]:
    return {"job": job.pk, **{name: getattr(found, name) for name in RANGE}}
