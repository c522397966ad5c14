"""Recovers from lost messages and dead workers."""

import logging
from contextlib import suppress
from pathlib import Path

from importer import jobs
from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, kill
from importer.engine.mysql.named_pipes import remove_stale
from importer.jobs import reject_downloads
from importer.models import Chunk
from importer.queue import FollowUp
from importer.sources import uploads
from importer.worker import working_copies

log = logging.getLogger(__name__)


def expire_runs() -> None:
    """Release the chunks whose leases have expired, and kill the connections that their workers left open."""
    for run in jobs.expired_runs():
        if folder := run.job.plan.statements.pipe_folder:
            with suppress(OSError):
                # A server that reads from a dead worker's pipe does not react to KILL.
                remove_stale(Path(folder))
        end_connection(run.job.target.address, run.chunks[0].connection_id, str(run))
        jobs.expire_run(run, _in_hand(run))


def _in_hand(run: jobs.ChunkRun) -> Chunk | None:
    """The chunk that the run's worker was loading when it died: the first that is not in the ledger.

    If the server is away, the run's first chunk.
    """
    try:
        with connect(run.job.target.address) as connection:
            loaded = ledger.rows_by_chunk(connection, str(run.job.key)) if ledger.exists(connection) else {}
    except Problem:
        loaded = {}
    return next((chunk for chunk in run.chunks if chunk.number not in loaded), None)


def sweep_jobs(then: FollowUp) -> None:
    """Repair the consequences of lost messages and dead workers. Idempotent."""
    expire_runs()
    for job in jobs.pending_backups():
        with suppress(Problem):  # If the server is away, a later sweep does it.
            end_connection(job.target.address, job.step_connection_id, str(job))
            jobs.release_backup(job)
    for job_id in (*jobs.unended(), *jobs.leftovers()):
        then(job_id, ())
    for job_id in jobs.jobs_without_record():
        jobs.write_record(job_id)
    uploads.remove_abandoned_uploads()
    reject_downloads.remove_orphans()
    working_copies.remove_unneeded()


def end_connection(address: Address, connection_id: int | None, of: str) -> None:
    """Kill the connection that a dead worker left open. If the server is away, it has rolled back already."""
    if not connection_id:
        return
    try:
        kill(address, connection_id)
    except Problem as problem:
        log.info("%s: its connection could not be killed: %s", of, problem)
