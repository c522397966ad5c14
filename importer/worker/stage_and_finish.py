"""The steps of modes that stage: creates the staging table, takes the finishing step, cleans up, takes it back."""

import logging
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial

from django.conf import settings

from config.telemetry import traces
from importer.connections.source_location import copy_of, location_of_types
from importer.engine import failpoints
from importer.engine.errors import Cancelled, NotAsSeen, Previewed, Problem, RowsChangedSince, TooManyChanges
from importer.engine.load import ledger
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.finish import FinishingStep, finish, is_done
from importer.engine.load.outcome import Seen
from importer.engine.mysql.connection import connect
from importer.engine.plan.plan import Reason
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.schema.new_table import NewTable
from importer.engine.sorting.original_positions import OriginalPositions
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.scan_files import record_ranges
from importer.engine.stored import from_json, to_json
from importer.engine.target import staging, table_backup
from importer.engine.target.write_modes import SWAPPING
from importer.engine.validation.file_scan import FileScan
from importer.engine.validation.type_widening import (
    describe_changes,
    find_mismatches,
    map_widened,
    widen_types,
)
from importer.jobs import lifecycle
from importer.jobs.approval import ask as ask_for_approval
from importer.jobs.approval import is_approved
from importer.jobs.steps import staging as job_staging
from importer.jobs.steps import table_backup as job_backup
from importer.jobs.steps.staging import record_compared
from importer.jobs.transitions import claim_step, release_step
from importer.models import ImportJob
from importer.preparation.prepare import replan
from importer.preparation.whole_file import original_lines
from importer.queue import FollowUp
from importer.worker import live_progress
from importer.worker.errors import after_failure, as_problem
from importer.worker.heartbeat import LeaseKeeper
from importer.worker.hosts import placement
from importer.worker.sweep import end_connection
from importer.worker.verify import lost_chunks

log = logging.getLogger(__name__)

LOOK_EVERY = 0.5  # seconds


def stage_job(job_id: int, then: FollowUp) -> None:
    """Create the job's staging table, into which its chunks load. Before an approval, only find its types."""
    job = job_staging.claim_stage(job_id)
    if not job:
        return
    try:
        if job.new_table and not is_approved(job) and not _widen_types(job, job.new_table):
            then(job_id, ())
            return
        if job.status == ImportJob.Status.UNAPPROVED:
            ask_for_approval(job)
            release_step(job)
            then(job_id, ())
            return
        failpoints.reach("stage.claimed")
        end_connection(job.target, job.step_connection_id, job)
        with traces.span("create staging table", job.trace):
            digest = _create_staging(job)
        failpoints.reach("stage.created")
        job_staging.record_staged(job, digest)
    except Cancelled:
        release_step(job)
        then(job_id, ())
    except Exception as error:
        then(job_id, after_failure(job, error, given_up=placement.hand_back(job, error, "stage")))
    else:
        then(job_id, ())


def _create_staging(job: ImportJob) -> str:
    """Create the staging table; returns its Table.digest.

    Raises Cancelled if the step is no longer wanted from this worker. A worker that takes the step over later kills the
    connection, so that no table is created when another one has ended the job and dropped its table.
    """
    plan = job.plan
    assert plan.staged
    if plan.staged.mode == "replace" and not plan.staged.definition:
        with connect(job.target.address) as connection:
            wanted = job_staging.record_definition(job, staging.with_definition(connection, plan.schema, plan.staged))
        if not wanted:
            raise Cancelled("The staging table is no longer wanted.", where=str(job))
    with connect(job.target.address) as connection:
        if not job_staging.renew_step(job, connection.thread_id()):
            raise Cancelled("The staging table is no longer wanted.", where=str(job))
        failpoints.reach("stage.connected")
        ledger.create(connection)
        return staging.create(connection, plan.schema, str(job.key), plan.staged)


def _widen_types(job: ImportJob, table: NewTable) -> bool:
    """Read the whole file and widen the new table's types to hold it. False: the step is no longer wanted."""
    renewed = time.monotonic()

    def keep_lease() -> None:
        nonlocal renewed
        if time.monotonic() - renewed > settings.HEARTBEAT_SECONDS:
            renewed = time.monotonic()
            if not job_staging.renew_step(job, None):
                raise Cancelled("The types are no longer wanted.", where=str(job))

    try:
        with open_source(location_of_types(job)) as fd:
            dialect = job.file_dialect.plain
            whole = (job.data_offset, job.data_line, job.read_size)
            (start, line, end), *further = record_ranges(fd, dialect, job.joined_files, whole)
            file = FileScan(fd, dialect, start, line, end, keep_lease, further=tuple(further))
            mismatches = find_mismatches(file, table, job.mapping)
            if job.file_dialect.is_converted:
                mismatches = original_lines(mismatches, OriginalPositions.next_to(copy_of(job)), job.data_line)
    except Cancelled:
        release_step(job)
        return False
    widened = widen_types(table, mismatches, rejects=job.options.on_error == "reject")
    job.new_table_json = to_json(widened)
    job.mapping_json = [to_json(each) for each in map_widened(job.mapping, table, widened)]
    plan = replan(job, job.key)
    reasons = [Reason(*change) for change in describe_changes(table, widened, mismatches)]
    plan = replace(plan, reasons=(*plan.reasons, Reason("Types hold the whole file", "all of it was read"), *reasons))
    job.plan_json = plan_to_json(plan)
    return job_staging.record_types(job, widened, plan)


def finish_job(job_id: int, then: FollowUp) -> None:
    """Bring the staged rows into the table, exactly once; or reopen the chunks that a fail-over has lost."""
    job = job_staging.claim_finish(job_id)
    if not job:
        return
    keeper = LeaseKeeper.for_step(job)
    try:
        end_connection(job.target, job.step_connection_id, job)
        missing = lost_chunks(job)
        if missing:
            lifecycle.reopen(job, missing)
        else:
            with traces.span("finish", job.trace), keeper, live_progress.restoring(job.pk) as on_stage:
                callbacks = LoadCallbacks(
                    keeper.connected, on_stage=on_stage, on_compared=partial(record_compared, job)
                )
                tally = finish(_finishing_step(job), callbacks)
            job_staging.record_finished(job, tally, callbacks.index_seconds)
            failpoints.reach("stage.finished")
            with suppress(Problem):  # The rows are in the table; the sweeper cleans up when the job has ended.
                _drop_staging(job)
                _record_clean(job)
    except Previewed:
        job_staging.record_previewed(job, _staged_bytes(job))
        then(job_id, ())
    except (TooManyChanges, NotAsSeen) as problem:
        job_staging.record_stopped(job, problem, _staged_bytes(job))
        then(job_id, ())
    except RowsChangedSince as changed:
        _stage_again(job, changed.chunks, then)
    except Exception as error:
        then(job_id, after_failure(job, error, given_up=keeper.killed))
    else:
        then(job_id, ())


def _stage_again(job: ImportJob, chunks: frozenset[int], then: FollowUp) -> None:
    """Take the chunks out of the staging table and reopen them. A worker that finds them gone from the ledger, because
    this one has died in between, reopens them as well.
    """
    try:
        from importer.engine.load.finish.left_out import take_out  # Here: few imports need it.

        take_out(job.target.address, job.plan.schema, str(job.key), chunks)
        lifecycle.reopen(job, chunks, attempt=1)
    except Exception as error:
        then(job.pk, after_failure(job, error, given_up=False))
    else:
        then(job.pk, ())


def clean_job(job_id: int, then: FollowUp) -> None:
    """Drop the staging table of a job that is ending or has ended. A committed finishing step is recorded first."""
    job = job_staging.claim_clean(job_id)
    if not job:
        return
    try:
        end_connection(job.target, job.step_connection_id, job)
        done = job.finished or _record_if_done(job)
        dropped = _drop_staging(job)
        # The server may still have completed a RENAME or a COMMIT whose connection was lost. A table that could be
        # dropped was not renamed, and cannot be any more.
        if not done and not (dropped and job.options.mode in SWAPPING):
            done = _record_if_done(job)
        if not done:
            _drop_kept(job)
        _record_clean(job)
    except Exception as error:
        log.info("%s: its staging table could not be dropped: %s", job, as_problem(error, job, job))
        then(job_id, job_staging.cleaning_failed(job))
    else:
        then(job_id, ())


def clean_now(job_id: int) -> None:
    """Drop the staging table of a job that has ended, as clean_job() does, whether or not the step is due."""
    lifecycle.advance(job_id)
    clean_job(job_id, lambda _job_id, _later: None)


def undo_job(job_id: int, then: FollowUp) -> None:
    """Take the import back, exactly once; or record why that is not possible, and release its table."""
    job = claim_step(job_id, "undo")
    if not job:
        return
    from importer.engine.target.take_back import take_back  # Here: few imports are taken back.

    keeper, staged = LeaseKeeper.for_step(job), job.plan.staged
    assert staged
    try:
        end_connection(job.target, job.step_connection_id, job)
        overwrite = bool((job.undo_json or {}).get("overwrite"))
        with traces.span("take back", job.trace), keeper:
            taken = take_back(job.target.address, job.schema_name, str(job.key), staged, overwrite, keeper.connected)
        if job_backup.record_taken_back(job, taken) and not taken.by_others:
            # Its names of rows are of no use any more.
            with suppress(Problem):
                job_backup.drop_backup(job.pk)
    except Exception as error:
        then(job_id, job_backup.undo_failed(job, as_problem(error, job, job), given_up=keeper.killed))
    else:
        then(job_id, ())


def taken_back_here(job_id: int) -> Problem | None:
    """Take the import back in this process, if that is asked for. Returns the problem for which it was not.

    Waits while another process does it, and takes over from one that was killed.
    """
    while (job := ImportJob.objects.get(pk=job_id)).undo_asked:
        lifecycle.advance(job_id)
        undo_job(job_id, lambda _job_id, _later: None)
        if ImportJob.objects.get(pk=job_id).undo_asked:
            time.sleep(LOOK_EVERY)
    problem = (job.undo_json or {}).get("problem")
    return Problem(*(problem[name] for name in ("what", "where", "advice"))) if problem else None


def _finishing_step(job: ImportJob) -> FinishingStep:
    exact = job.options.on_clash != "replace"
    rows, seen = job_staging.staged_rows(job), from_json(Seen, job.seen_json) if job.seen_json else None
    return FinishingStep(str(job.key), job.step_attempt, job.target.address, job.plan, rows, exact=exact, seen=seen)


def _record_if_done(job: ImportJob) -> bool:
    """Record the finishing step if it is done; returns whether it is."""
    with connect(job.target.address) as connection:
        done = is_done(connection, str(job.key), job.plan)
    if done:
        job_staging.record_finished(job, finish(_finishing_step(job), LoadCallbacks()))
    return done


def _staged_bytes(job: ImportJob) -> int:
    """The size of the staging table; 0 if the server does not tell it."""
    with suppress(Problem), connect(job.target.address) as connection:
        return table_backup.counted_size(connection, job.plan.schema, staging.staging_name(str(job.key)))
    return 0


def _drop_staging(job: ImportJob) -> bool:
    """Drop the job's staging table. False: there is none."""
    with connect(job.target.address) as connection:
        dropped = staging.drop(connection, job.plan.schema, str(job.key))
    failpoints.reach("stage.dropped")
    return dropped


def _drop_kept(job: ImportJob) -> None:
    """Drop the table for the rows that a finishing step was to keep, which has not changed anything."""
    if job.plan.staged and job.plan.staged.kept:
        with connect(job.target.address) as connection:
            table_backup.drop(connection, job.plan.schema, job.plan.staged.old)


def _record_clean(job: ImportJob) -> None:
    if job.plan.staged and job.plan.staged.old:
        job_backup.record_backup(job)
    job_staging.record_clean(job)
