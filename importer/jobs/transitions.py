"""The guarded updates: each names the state it leaves and looks at the count.

So two deliveries of the same message, or a click and a worker, never both win. The graphs are in models/.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone

from importer.models import Chunk, ImportJob

Status = ImportJob.Status
JobStep = ImportJob.Step


LONGEST_BACKOFF = 30  # seconds
MOST_FAILURES = 1000
QUEUED_AS = {
    JobStep.SCANNING: JobStep.SCAN_QUEUED,
    JobStep.VERIFYING: JobStep.VERIFY_QUEUED,
    JobStep.ARRANGING: JobStep.ARRANGE_QUEUED,
    JobStep.RESTORING: JobStep.RESTORE_QUEUED,
    JobStep.STAGING: JobStep.STAGE_QUEUED,
    JobStep.FINISHING: JobStep.FINISH_QUEUED,
    JobStep.CLEANING: JobStep.CLEAN_QUEUED,
}

# The values of a job that nobody works on as a whole.
NO_STEP: dict[str, Any] = {"step": JobStep.NONE, "step_lease": None, "step_connection_id": None}


def change(job_id: int, old: list[Status], **values: Any) -> bool:
    """Change the job if it is in one of the `old` states; whether it was."""
    return bool(ImportJob.objects.filter(pk=job_id, status__in=old).update(version=F("version") + 1, **values))


def claim_of(job: ImportJob) -> str:
    """What stands in `table_claim` of the one job that has the table."""
    return f"{job.target_id}:{job.schema_name}.{job.table_name}"


def claim_step(job_id: int, queued: ImportJob.Step, running: ImportJob.Step) -> ImportJob | None:
    claimed = ImportJob.objects.filter(pk=job_id, step=queued).update(
        step=running, step_attempt=F("step_attempt") + 1, step_lease=lease_end(), version=F("version") + 1
    )
    return ImportJob.objects.select_related("target", "source").get(pk=job_id) if claimed else None


def release_step(job: ImportJob) -> None:
    """Whoever held the job's step holds it no longer."""
    held_step(job).update(**NO_STEP)


def held_step(job: ImportJob) -> QuerySet[ImportJob]:
    """The job, as long as this attempt is the one that holds its step."""
    return ImportJob.objects.filter(pk=job.pk, step_attempt=job.step_attempt)


def backoff(job: ImportJob) -> int:
    """The job's step has failed: queue it again, for whoever asks after so many seconds; twice as many each time."""
    delay: int = min(LONGEST_BACKOFF, 2**job.step_failures)
    again_at = timezone.now() + timedelta(seconds=delay)
    held_step(job).update(
        step=QUEUED_AS[JobStep(job.step)],
        step_lease=again_at,
        step_connection_id=None,
        # As far as the smallest field can count.
        step_failures=min(job.step_failures + 1, MOST_FAILURES),
        version=F("version") + 1,
    )
    return delay


def unqueue(job_id: int) -> None:
    Chunk.objects.filter(job=job_id, status=Chunk.Status.QUEUED).update(status=Chunk.Status.PENDING, lease=None)


def touch(job_id: int) -> None:
    ImportJob.objects.filter(pk=job_id).update(version=F("version") + 1)


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
