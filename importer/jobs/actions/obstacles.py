"""The ways out for a job that cannot end, because the target refuses to put back what was changed for its time.

The job itself tries again without limit. A person who has removed the obstacle need not wait for that, and one who
cannot remove it may end the job without the keys: what is missing is recorded, with the SQL that brings it back.
"""

from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from importer import queue
from importer.engine.errors import NotPutBack, Problem
from importer.engine.mysql.connection import connect
from importer.engine.mysql.sign_in.reasons import KINDS, REASON_HIDDEN
from importer.engine.target import global_settings, temporary_changes
from importer.jobs.lifecycle import advance
from importer.jobs.steps.target_changes import merged_problems
from importer.jobs.transitions import Changes, JobStep, Status, change_status, no_step
from importer.lease import change
from importer.models import ImportJob
from importer.queue import Message


def is_stuck(job: ImportJob) -> bool:
    """Whether the job waits for the target to let it put back, or check, what it has changed there, and was refused."""
    return bool(job.obstacle) and (job.unrestored or job.status == Status.INDEXING)


def try_now(job_id: int) -> None:
    """Try at once to put everything back, instead of after the pause. Raises Problem if that is being done already."""
    job = _stuck(job_id)
    waiting = ImportJob.objects.filter(pk=job.pk, step=JobStep.RESTORE_QUEUED)
    if change(waiting, step_failures=0):
        queue.send([Message("restore", job.pk, label=job.target.label)])
    elif messages := advance(job.pk):
        queue.send(messages)
    else:
        raise _tried_just_now(job)


def end_without(job_id: int) -> None:
    """End the job although keys or server variables are not put back, or rows not checked. A retry does that.

    Raises Problem if nothing is in the job's way, or while a worker is trying to put them back.
    """
    job = _stuck(job_id)
    done: dict[str, Any] = {
        "status": Status.FAILING if job.status == Status.INDEXING else job.status,
        "problem": merged_problems(job, _not_put_back(job)),
        "changes": Changes.LEFT if job.unrestored else job.changes,
        "obstacle": {},
        "step_failures": 0,
        # The next attempt's number: a worker that lost its lease while it was putting keys back records nothing.
        "step_attempt": F("step_attempt") + 1,
        **no_step(),
    }
    tried = Q(step=JobStep.RESTORING, step_lease__gt=timezone.now())
    if not change_status(ImportJob.objects.exclude(tried).filter(pk=job.pk, status=job.status), **done):
        raise _tried_just_now(job)
    queue.send(advance(job.pk))


def _stuck(job_id: int) -> ImportJob:
    job = ImportJob.objects.select_related("target").get(pk=job_id)
    if not is_stuck(job):
        raise Problem(
            "Nothing keeps this import from putting back what it has changed.",
            advice="Its page shows its present state.",
        )
    return job


def _tried_just_now(job: ImportJob) -> Problem:
    return Problem(
        "A worker is trying just now to put back what was changed.",
        where=str(job),
        advice="Its page shows in a moment whether that succeeds.",
    )


def _not_put_back(job: ImportJob) -> NotPutBack:
    """The problem of a job that ends without putting something back, with the SQL for it, or without a check."""
    rows = "All rows are in the table, but" if job.status == Status.INDEXING else "The import has ended, but"
    # Everybody who may see the import reads this, also who may not know why there is no connection.
    reason = (REASON_HIDDEN if job.obstacle["kind"] in KINDS else job.obstacle["what"]).rstrip(".")
    missing = job.temporary_changes
    if not (job.unrestored and missing):
        names = ", ".join(each.name for each in job.unchecked)
        return NotPutBack(
            f"{rows} whether {names} would have refused some could not be found out: {reason}.",
            where=job.table,
            advice="Remove the obstacle, then retry the import, which looks for them.",
        )
    by_hand = [*missing.restore_sql]
    if missing.variables:
        by_hand.append(global_settings.restore_query(job.target.database, str(job.key)))
    sql = " ".join(f"{statement};" for statement in by_hand)
    return NotPutBack(
        f"{rows} {missing.description} could not be put back ({missing.names}): {reason}.",
        where=f"{missing.schema}.{missing.table}",
        advice=f"Remove the obstacle, then retry the import, or run millrace target restore {job.target.name}."
        f" By hand: {sql}",
    )


def put_back_variables(job: ImportJob) -> None:
    """Put global variables back, and forget the record on the target, for an ended job that is to have another key.

    The keys that are missing are those of a staging table, which is dropped. Raises Problem if the target refuses.
    """
    if job.left_changed:
        with connect(job.target.address) as connection:
            global_settings.restore(connection, str(job.key))
            temporary_changes.delete_record(connection, str(job.key))
