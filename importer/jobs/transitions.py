"""Compare-and-set updates of jobs and their steps, on importer.lease. The graphs of states are in importer/models/."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from importer import lease
from importer.engine.plan.stored_plan import is_newer
from importer.history import totals
from importer.models import Chunk, ImportJob
from importer.models.outcomes import phases
from importer.models.outcomes.step_kinds import RUNNING, STEPS

Status = ImportJob.Status
JobStep = ImportJob.Step
Changes = ImportJob.Changes
Staging = ImportJob.Staging

STEP = lease.Lease(ImportJob, "step_")


# The fields that Target.lacks_password reads.
PASSWORD = ("target__key", "target__password_ciphertext", "target__password_unstored")


def no_step() -> dict[str, Any]:
    """The values of a job whose step no worker holds from now on."""
    return {"step": JobStep.NONE, "step_lease": None, "step_connection_id": None, "worked_at": timezone.now()}


def change(job_id: int, old: list[Status], **values: Any) -> bool:
    """Change the job if it is in one of the `old` states. Returns whether it was."""
    rows = ImportJob.objects.filter(pk=job_id, status__in=old)
    return change_status(rows, **values) if "status" in values else lease.change(rows, **values)


def change_status(rows: QuerySet[ImportJob], **values: Any) -> bool:
    """Give the job in `rows` the new status and other values, and count the time in its old one.

    False: no job is in `rows`, or not any more.
    """
    # A savepoint is not needed: without the transaction around it, nothing of this may stay.
    with transaction.atomic(savepoint=False):
        job = rows.select_for_update().only("status", *phases.TIMED_BY).first()
        changed = job is not None and lease.change(rows, **{**_phase_ended(job), **values})
        if changed and job and values["status"] in ImportJob.ENDED:
            totals.count_end(job.pk)
        return changed


def _phase_ended(job: ImportJob) -> dict[str, Any]:
    """The values of a job that leaves its status now. An attempt that an older version began is not timed by them."""
    if job.phase_since is None:
        return {}
    now = timezone.now()
    if job.ended:
        return {"phase_since": now}
    spent = phases.spent(job, now)
    return {"phase_since": now, "phases_json": {name: round(seconds, 6) for name, seconds in spent.items()}}


def claim_of(job: ImportJob) -> str:
    """The value of `table_claim` in the one job that has the table."""
    return f"{job.target_id}:{job.schema_name}.{job.table_name}"


def claim_step(job_id: int, task: str) -> ImportJob | None:
    """The job, for the one worker that may take the queued step of this task now; None for all others.

    None as well if a newer release has planned the job, or if this process lacks the target's password.
    """
    found = ImportJob.objects.filter(pk=job_id).select_related("target")
    job = found.only("plan_json", "status", *phases.TIMED_BY, *PASSWORD).first()
    if job is None or is_newer(job.plan_json) or job.target.lacks_password:
        return None
    queued_job = ImportJob.objects.filter(pk=job_id, step=STEPS[task].queued)
    values = {"step": STEPS[task].running, "version": F("version") + 1}
    if not (_claim_after_wait(job, queued_job, values) or STEP.claim(queued_job, **values, **_taken_now())):
        return None
    return ImportJob.objects.select_related("target", "source").get(pk=job_id)


def _claim_after_wait(job: ImportJob, queued_job: QuerySet[ImportJob], values: dict[str, Any]) -> bool:
    """Claim the step of a job that has waited for a worker until now. False: nothing was claimed.

    That is so as well if the job's status has just changed, or another worker has ended the wait.
    """
    waited = wait_ended(job)
    if not waited:
        return False
    unchanged = queued_job.filter(taken_at=job.taken_at, phase_since=job.phase_since)
    return STEP.claim(unchanged, **values, **_taken_now(), **waited)


def wait_ended(job: ImportJob) -> dict[str, Any]:
    """The values of a job that a worker takes now, if it has waited for one; otherwise none."""
    return _phase_ended(job) if phases.waits(job, timezone.now()) else {}


def _taken_now() -> dict[str, Any]:
    now = timezone.now()
    return {"taken_at": Coalesce(F("taken_at"), Value(now)), "worked_at": now}


def step_is_free() -> Q:
    """Jobs that have no step, or whose step's lease has expired."""
    return Q(step=JobStep.NONE) | STEP.expired()


def release_step(job: ImportJob) -> None:
    """Give up the job's step, unless another worker has claimed it."""
    held_step(job).update(**no_step())


def held_step(job: ImportJob) -> QuerySet[ImportJob]:
    """The job, if this attempt still holds its step; otherwise no row."""
    return STEP.held(job)


def backoff(job: ImportJob) -> int:
    """Queue the job's failed step again. Returns the seconds until it may be claimed; they double with each failure."""
    with transaction.atomic():
        delay = STEP.postpone(job, step=RUNNING[job.step].queued, worked_at=timezone.now(), version=F("version") + 1)
        totals.count_retry(totals.STEP)
    return delay


def unqueue(job_id: int) -> None:
    """Make the job's queued chunks pending."""
    Chunk.objects.filter(job=job_id, status=Chunk.Status.QUEUED).update(status=Chunk.Status.PENDING, lease=None)


def lock(job_id: int, *statuses: Status) -> bool:
    """Lock the job's row until the transaction ends. False: there is no such job, or it is in none of the `statuses`.

    It is locked before the rows of its chunks, everywhere: in another order, two workers lock each other out.
    """
    rows = ImportJob.objects.select_for_update().filter(pk=job_id)
    return bool((rows.filter(status__in=statuses) if statuses else rows).values_list("pk", flat=True).first())


def worked(job_id: int, **values: Any) -> None:
    """Record that a worker works on the job now; set the values, and increase its version, as touch() does."""
    ImportJob.objects.filter(pk=job_id).update(version=F("version") + 1, **{"worked_at": timezone.now(), **values})


def not_before(moment: datetime) -> Greatest:
    """The value of `worked_at` if a worker has worked until that moment, which may be past."""
    return Greatest(F("worked_at"), Value(moment))


def touch(job_id: int) -> None:
    """Increase the job's version, so that its page is read again."""
    ImportJob.objects.filter(pk=job_id).update(version=F("version") + 1)
