"""Modes that stage: claims and results of creating the staging table, of the finishing step, and of cleaning up."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Case, F, QuerySet, Sum, Value, When
from django.utils import timezone

from importer.engine.errors import Cancelled, NotAsSeen, TooManyChanges
from importer.engine.load.outcome import Compared, Seen, Tally
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.schema.new_table import NewTable
from importer.engine.stored import from_json, to_json
from importer.engine.target.staging import Staged
from importer.jobs.lifecycle import after_all_rows, fail
from importer.jobs.permission import why_forbidden
from importer.jobs.rejects.counts import COUNTS
from importer.jobs.transitions import (
    STEP,
    JobStep,
    Staging,
    Status,
    backoff,
    change_status,
    claim_step,
    held_step,
    no_step,
    release_step,
)
from importer.models import ImportJob, Target
from importer.queue import Message

# Time until the next try to drop the staging table of a job that has ended, after MAX_ATTEMPTS without an answer.
CLEAN_AGAIN = timedelta(minutes=10)

# Of a job that has put no row into the table.
_NO_ROWS = dict.fromkeys(
    (
        *("loaded_rows", "replaced_rows", "unchanged_rows", "skipped_rows", "committed_bytes"),
        *("deleted_rows", "marked_rows"),
    ),
    0,
)
NOT_DONE = (*ImportJob.ENDING, Status.FAILED, Status.CANCELLED)


def claim_stage(job_id: int) -> ImportJob | None:
    """The job, for the one worker that may create its staging table now; None for all others."""
    job = claim_step(job_id, "stage")
    if job and job.status != Status.UNAPPROVED:
        # Set before the table is created: whichever error follows, the sweeper will look for it.
        held_step(job).filter(staging=Staging.NONE).update(staging=Staging.BEGUN)
    return job


def record_types(job: ImportJob, table: NewTable, plan: ImportPlan) -> bool:
    """Record the final types of the new table and the job's mapping, after the whole file was read.

    False: another worker has the step.
    """
    mine = held_step(job).filter(step=JobStep.STAGING)
    return bool(
        mine.update(
            new_table_json=to_json(table),
            mapping_json=job.mapping_json,
            plan_json=plan_to_json(plan),
            version=F("version") + 1,
        )
    )


def record_definition(job: ImportJob, staged: Staged) -> bool:
    """Record what the staging table is going to be made like, before it is. False: another worker has the step."""
    job.plan_json = {**job.plan_json, "staged": to_json(staged)}
    return bool(held_step(job).filter(step=JobStep.STAGING).update(plan_json=job.plan_json))


def record_staged(job: ImportJob, digest: str) -> bool:
    """Record the staging table, with its Table.digest. False: another worker has the step, or the job is ending."""
    plan = {**job.plan_json, "table_digest": digest}
    mine = held_step(job).filter(step=JobStep.STAGING, status__in=[Status.LOADING, Status.PAUSED])
    return bool(
        mine.update(staging=Staging.READY, plan_json=plan, step_failures=0, version=F("version") + 1, **no_step())
    )


def claim_finish(job_id: int) -> ImportJob | None:
    """The job, for the one worker that may take its finishing step now; None for all others.

    Fails the job instead if the person who asked for it may no longer load into its table.
    """
    job = claim_step(job_id, "finish")
    if job and (problem := why_forbidden(job)):
        fail(job.pk, problem)
        release_step(job)
        return None
    return job


def renew_step(job: ImportJob, connection_id: int | None) -> bool:
    """Renew the lease of a step. False: it must end, because another worker has it or the job is being cancelled."""
    return STEP.renew(_wanted(job), step_connection_id=connection_id)


def is_step_wanted(job: ImportJob) -> bool:
    """Whether the step is still wanted from this attempt. Only reads."""
    return _wanted(job).exists()


def _wanted(job: ImportJob) -> QuerySet[ImportJob]:
    return held_step(job).exclude(status=Status.CANCELLING)


def staged_rows(job: ImportJob) -> int:
    """The rows that the job's chunks have put into its staging table."""
    return int(_sum(job, "loaded_rows"))


def record_compared(job: ImportJob, compared: Compared, seen: Seen | None) -> None:
    """Record what the file changes, before it does. Raises Cancelled if the finishing step is no longer wanted."""
    shown = {"seen_json": to_json(seen)} if seen else {}
    if not _wanted(job).update(compared_json=to_json(compared), **shown):
        raise Cancelled("The finishing step is no longer wanted.", where=str(job))


def record_previewed(job: ImportJob, size: int) -> bool:
    """Record that the file was compared, and end the job, which changes nothing. False: another worker has the step."""
    return _keep(job, size, status=Status.CANCELLING, previewed_at=timezone.now())


def record_stopped(job: ImportJob, problem: TooManyChanges | NotAsSeen, size: int) -> bool:
    """Record why the job changes nothing, and end it. False: another worker has the step."""
    return _keep(job, size, status=Status.FAILING, problem=problem.as_json())


def _keep(job: ImportJob, size: int, **values: Any) -> bool:
    """Let the job end with its staged rows, which take `size` bytes and of which none is in the table."""
    mine = held_step(job).filter(status=Status.FINISHING)
    if seen := mine.values_list("seen_json", flat=True).first():
        values |= {"seen_json": {**seen, "bytes": size}}
    return change_status(mine, staging=Staging.KEPT, step_failures=0, **_NO_ROWS, **no_step(), **values)


def kept_rows(job: ImportJob) -> dict[str, int]:
    """The counts of a job whose staged rows are kept, for the next step with them."""
    return {name: _sum(job, name) for name in COUNTS} | {"committed_bytes": _sum(job, "length")}


def record_finished(job: ImportJob, tally: Tally, index_seconds: float = 0) -> bool:
    """Record the finishing step: all rows are in the table, `tally` counts their outcomes, and verification follows.

    `index_seconds`: the time to build the keys of the staging table. Also for a job that is failing or being
    cancelled, or has ended in that way, whose finishing step turns out to be committed.
    """
    mine = held_step(job).filter(status__in=[Status.FINISHING, *NOT_DONE])
    return change_status(
        mine,
        status=after_all_rows(job),
        staging=Staging.MERGED,
        index_seconds=index_seconds,
        loaded_rows=tally.loaded,
        replaced_rows=tally.replaced + _sum(job, "replaced_rows"),
        unchanged_rows=tally.unchanged + _sum(job, "unchanged_rows"),
        deleted_rows=_compared(job).deleted,
        marked_rows=_compared(job).marked,
        skipped_rows=tally.skipped + _sum(job, "skipped_rows"),
        committed_bytes=_sum(job, "length"),
        kept_table=job.plan.staged.old if job.plan.staged else "",
        problem={},
        step_failures=0,
        **no_step(),
    )


def _compared(job: ImportJob) -> Compared:
    """What was recorded before the finishing step changed the table; nothing in modes that do not compare."""
    stored = ImportJob.objects.values_list("compared_json", flat=True).get(pk=job.pk)
    return from_json(Compared, stored or {})


def _sum(job: ImportJob, name: str) -> int:
    return int(job.chunks.aggregate(sum=Sum(name, default=0))["sum"])


def claim_clean(job_id: int) -> ImportJob | None:
    """The job, for the one worker that may clean up after it now; None for all others."""
    return claim_step(job_id, "clean")


def record_clean(job: ImportJob) -> None:
    """Record that the job has no staging table on the target any more; unless it is finished, its counts become 0."""
    gone = Case(When(staging__in=ImportJob.FINISHED, then=Value(Staging.DONE)), default=Value(Staging.NONE))
    held_step(job).update(staging=gone, step_failures=0, version=F("version") + 1, **no_step())
    held_step(job).filter(status__in=NOT_DONE, staging=Staging.NONE).update(**_NO_ROWS)


def cleaning_failed(job: ImportJob) -> list[Message]:
    """After a failure to clean up: retry after a backoff. A job that has ended is tried on, every CLEAN_AGAIN."""
    again = {"step": JobStep.CLEAN_QUEUED, "step_lease": timezone.now() + CLEAN_AGAIN, "step_connection_id": None}
    often = job.step_failures + 1 >= settings.MAX_ATTEMPTS
    if often and held_step(job).filter(status__in=ImportJob.ENDED).update(**again):
        return []
    return [Message("advance", job.pk, delay=backoff(job))]


def leftovers(on: Target | None = None) -> list[int]:
    """Jobs that have ended and may have left a staging table on their target, or on this one."""
    ended = ImportJob.objects.filter(status__in=ImportJob.ENDED, staging__in=ImportJob.LEFTOVER)
    return list((ended.filter(target=on) if on else ended).values_list("pk", flat=True))
