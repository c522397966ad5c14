"""Recovers from lost messages and dead workers."""

import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from importer.engine.errors import Problem
from importer.engine.mysql.connection import kill
from importer.engine.mysql.infile.named_pipes import remove_stale
from importer.jobs import lifecycle
from importer.jobs.record import jobs_without_record, write_record
from importer.jobs.rejects import downloads
from importer.jobs.steps import staging
from importer.jobs.steps.chunk_leases import ChunkRun, record_loaded
from importer.jobs.steps.lease_recovery import expire_run, expired_runs
from importer.jobs.steps.table_backup import pending_backups, release_backup, unfinished_undos
from importer.lease import shorten
from importer.models import Examination, ImportJob, Lab, ScheduleRun, Target
from importer.queue import FollowUp
from importer.sources import abandoned
from importer.worker import load_chunks, working_copies

log = logging.getLogger(__name__)


def expire_runs(runs: Iterable[ChunkRun]) -> None:
    """Kill the connections of the dead workers of these runs, record what is committed, and release the rest."""
    for run in runs:
        if folder := run.job.plan.statements.feeding.pipe_folder:
            with suppress(OSError):
                # A server that reads from a dead worker's pipe does not react to KILL.
                remove_stale(Path(folder))
        end_connection(run.job.target, run.chunks[0].connection_id, run)
        loaded = load_chunks.committed(run)
        record_loaded(run, loaded)
        in_ledger = {each.chunk.pk for each in loaded}
        expire_run(replace(run, chunks=[each for each in run.chunks if each.pk not in in_ledger]))


def release_backups(of_jobs: Iterable[ImportJob]) -> None:
    """Kill the connections of dead processes that restored or dropped backups, and release these jobs' tables."""
    for job in of_jobs:
        with suppress(Problem):  # If the server is away, a later sweep does it.
            end_connection(job.target, job.step_connection_id, job)
            release_backup(job)


def sweep_jobs(then: FollowUp) -> None:
    """Repair the consequences of lost messages and dead workers. Idempotent."""
    for leased in (Lab, ScheduleRun, Examination):
        shorten(leased._default_manager.all(), "lease")
    expire_runs(expired_runs())
    release_backups(pending_backups())
    for job_id in (*lifecycle.unended(), *staging.leftovers(), *unfinished_undos()):
        then(job_id, ())
    for job_id in jobs_without_record():
        write_record(job_id)
    abandoned.finish_received()
    abandoned.remove_abandoned()
    downloads.remove_orphans()
    working_copies.remove_unneeded()


def end_connection(target: Target, connection_id: int | None, of: object) -> None:
    """Kill the connection that a dead worker left open. If the server is away, it has rolled back already.

    It stays if this process cannot sign in, or if the target's stored password cannot be read.
    """
    if not connection_id:
        return
    try:
        kill(target.address, connection_id)
    except Problem as problem:
        log.info("%s: its connection could not be killed: %s", of, problem)
