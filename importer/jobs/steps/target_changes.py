"""Temporary changes on the target: claims and results of the steps that make them and restore the target.

A job does not end before everything is restored, or before somebody ends it without (jobs/actions/obstacles.py);
restoring is retried without limit.
"""

from dataclasses import asdict
from typing import Any

from django.db.models import Case, F, Value, When

from importer.engine.errors import Problem
from importer.engine.plan.plan import Reason
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.stored import to_json
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.jobs.transitions import (
    STEP,
    Changes,
    JobStep,
    Status,
    backoff,
    change_status,
    claim_step,
    held_step,
    no_step,
)
from importer.lease import change
from importer.models import ImportJob
from importer.queue import Message


def claim_target_change(job_id: int) -> ImportJob | None:
    """The job, for the one worker that may change the target now; None for all others."""
    return claim_step(job_id, "arrange")


def record_planned_changes(job: ImportJob, changes: TemporaryChanges) -> bool:
    """Record the changes before they are made. False: another worker has the step, or the job is ending."""
    mine = held_step(job).filter(step=JobStep.ARRANGING, status__in=[Status.LOADING, Status.PAUSED])
    values = to_json(changes)
    unchecked = {"unchecked_json": values["foreign_keys"]} if values["foreign_keys"] else {}
    return bool(mine.update(arrangement_json=values, changes=Changes.BEGUN, version=F("version") + 1, **unchecked))


def record_added_columns(job: ImportJob, digest: str) -> None:
    """Record the Table.digest of the table with the columns that the plan adds, for the attempt that has the step."""
    job.plan_json = plan_to_json(job.plan.for_target(digest))
    held_step(job).filter(step=JobStep.ARRANGING).update(plan_json=job.plan_json, version=F("version") + 1)


def record_applied_changes(job: ImportJob) -> bool:
    """Record that all changes are made, so that chunks may load. False: another worker has the step."""
    mine = held_step(job).filter(step=JobStep.ARRANGING)
    made = Case(When(changes=Changes.BEGUN, then=Value(Changes.MADE)), default=Value(Changes.SETTLED))
    return bool(mine.update(changes=made, step_failures=0, version=F("version") + 1, **no_step()))


def record_unchanged(job: ImportJob, reason: Reason) -> bool:
    """Record that nothing is changed, for this reason, so that chunks may load. False: another worker has the step."""
    plan = {**job.plan_json, "arrangement": None, "reasons": [*job.plan_json["reasons"], asdict(reason)]}
    mine = held_step(job).filter(step=JobStep.ARRANGING)
    return bool(
        mine.update(
            plan_json=plan,
            arrangement_json={},
            unchecked_json=[],
            changes=Changes.SETTLED,
            step_failures=0,
            version=F("version") + 1,
            **no_step(),
        )
    )


def claim_restore(job_id: int) -> ImportJob | None:
    """The job, for the one worker that may restore the target now; None for all others."""
    return claim_step(job_id, "restore")


def renew_target_change(job: ImportJob, connection_id: int | None) -> bool:
    """Renew the lease of a step that a cancel does not end. False: another worker has it."""
    return STEP.renew(held_step(job), step_connection_id=connection_id)


def owns_target_change(job: ImportJob) -> bool:
    """Whether this attempt still holds the step. Only reads."""
    return held_step(job).exists()


def record_restored(job: ImportJob, seconds: float, problem: Problem | None) -> bool:
    """Record that everything is restored, which took `seconds`. False: another worker has the step.

    `seconds` is added to the time in which the finishing step built keys.
    `problem`: the table has rows that violate a foreign key, so the job fails.
    """
    done: dict[str, Any] = {
        "changes": Changes.SETTLED,
        "obstacle": {},
        "step_failures": 0,
        "index_seconds": F("index_seconds") + seconds,
        **no_step(),
    }
    done |= {} if problem else {"unchecked_json": []}
    mine = held_step(job).filter(step=JobStep.RESTORING)
    indexing = mine.filter(status=Status.INDEXING)
    if not problem:
        return change_status(indexing, status=Status.VERIFYING, **done) or change(mine, **done)
    failing = {"status": Status.FAILING, "problem": problem.as_json()}
    return change_status(indexing, **failing, **done) or change(mine, problem=merged_problems(job, problem), **done)


def merged_problems(job: ImportJob, problem: Problem) -> dict[str, Any]:
    """The job's own problem, with the new one added to its advice."""
    if not job.problem:
        return problem.as_json()
    return {**job.problem, "advice": f"{job.problem['advice']} In addition: {problem}".strip()}


def restore_failed(job: ImportJob, problem: Problem) -> list[Message]:
    """After a failure to restore the target: store the obstacle, which the page shows, and retry without limit."""
    delay = backoff(job)
    held_step(job).update(obstacle=problem.as_json(), version=F("version") + 1)
    return [Message("advance", job.pk, delay=delay)]
