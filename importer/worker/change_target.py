"""Makes the temporary changes on the target before the first chunk, and restores the target after the last one."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from config.telemetry import traces
from importer.engine import failpoints
from importer.engine.errors import Problem
from importer.engine.load import verify
from importer.engine.load.finish import READ_TIMEOUT
from importer.engine.mysql.connection import Connection, connect, kill
from importer.engine.plan.plan import Reason
from importer.engine.schema import added_columns, alter_table, foreign_keys
from importer.engine.target import global_settings, temporary_changes
from importer.engine.target.table_identity import read_identity
from importer.engine.target.temporary_changes import DeferralRefused
from importer.jobs.steps import target_changes
from importer.jobs.transitions import release_step
from importer.models import ImportJob
from importer.queue import FollowUp
from importer.worker import live_progress
from importer.worker.errors import after_failure, as_problem
from importer.worker.heartbeat import LeaseKeeper

log = logging.getLogger(__name__)


def change_target_job(job_id: int, then: FollowUp) -> None:
    """Record the temporary changes and make them; or leave the target unchanged if the server refuses."""
    job = target_changes.claim_target_change(job_id)
    if not job:
        return
    keeper = LeaseKeeper.for_target_change(job)
    try:
        with traces.span("prepare table", job.trace), keeper, _connected(job, keeper) as connection:
            _change_target(job, connection)
    except Exception as error:
        then(job_id, after_failure(job, error, given_up=keeper.killed))
    else:
        then(job_id, ())


def _change_target(job: ImportJob, connection: Connection) -> None:
    if job.plan.added_columns:
        _add_columns(job, connection)
    planned, key = job.plan.temporary_changes, str(job.key)
    if not planned:
        target_changes.record_applied_changes(job)
        return
    # Use the record of an earlier attempt, which may have changed the table already.
    changes = job.temporary_changes
    try:
        if not changes:
            changes = temporary_changes.confirm(connection, planned)
            if not target_changes.record_planned_changes(job, changes):
                release_step(job)
                return
            failpoints.reach("keys.planned")
        temporary_changes.record(connection, key, changes)
        failpoints.reach("keys.noted")
        temporary_changes.apply(connection, changes)
        global_settings.set_for_job(connection, key, changes.variables)
        failpoints.reach("keys.dropped")
    except DeferralRefused as reason:
        if changes:
            temporary_changes.restore(connection, job.target.address, changes)
            global_settings.restore(connection, key)
            temporary_changes.delete_record(connection, key)
        target_changes.record_unchanged(
            job, Reason(f"Left as it was: {planned.description}", reason.what, holds_back=True)
        )
    else:
        target_changes.record_applied_changes(job)


def _add_columns(job: ImportJob, connection: Connection) -> None:
    """Add the plan's columns to the table, and record the table as it then is. Idempotent."""
    plan = job.plan
    digest = added_columns.add_missing(
        connection, plan.schema, plan.final_table, plan.added_columns, plan.target_digest
    )
    target_changes.record_added_columns(job, digest)


def restore_job(job_id: int, then: FollowUp) -> None:
    """Undo all temporary changes on the target. Idempotent."""
    job = target_changes.claim_restore(job_id)
    if not job:
        return
    keeper = LeaseKeeper.for_target_change(job)
    since = time.monotonic()
    try:
        with traces.span("restore table", job.trace), keeper, _connected(job, keeper) as connection:
            problem = _rows_gone(job, connection)
            table_exists = _restore(job, connection)
            seconds = round(time.monotonic() - since, 3)
            if table_exists and not problem:
                table = job.plan.schema, job.plan.final_table
                problem = foreign_keys.rows_refused(connection, *table, job.unchecked)
        target_changes.record_restored(job, seconds, problem)
    except Exception as error:
        obstacle = as_problem(error, job, job)
        log.warning("%s: what it has changed on the server could not be put back yet: %s", job, obstacle)
        then(job_id, target_changes.restore_failed(job, obstacle))
    else:
        then(job_id, ())


def _rows_gone(job: ImportJob, connection: Connection) -> Problem | None:
    """The problem that the table was emptied or exchanged after the last chunk. Building its keys changes its identity.

    A table that does not exist is the restore's problem.
    """
    plan = job.plan
    if job.status != ImportJob.Status.INDEXING or job.stages:
        return None
    now = read_identity(connection, plan.schema, plan.table)
    try:
        if now.created:
            verify.require_same_table(connection, plan, str(job.key), now)
    except Problem as problem:
        return problem
    return None


def _restore(job: ImportJob, connection: Connection) -> bool:
    """Restore the target. Returns whether the table exists."""
    table_exists = True
    failpoints.reach("restore.begun")
    if job.temporary_changes:
        with live_progress.restoring(job.pk) as on_stage:
            table_exists = temporary_changes.restore(connection, job.target.address, job.temporary_changes, on_stage)
    global_settings.restore(connection, str(job.key))
    failpoints.reach("restore.built")
    temporary_changes.delete_record(connection, str(job.key))
    failpoints.reach("restore.forgotten")
    return table_exists


@contextmanager
def _connected(job: ImportJob, keeper: LeaseKeeper) -> Iterator[Connection]:
    """A connection to the target. First kills the connection of the worker that held the step before."""
    address = job.target.address
    if job.step_connection_id:
        kill(address, job.step_connection_id)
    with connect(address, READ_TIMEOUT) as connection:
        keeper.connected(connection.thread_id())
        alter_table.disable_statement_timeout(connection)
        yield connection
