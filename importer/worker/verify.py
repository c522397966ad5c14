"""Compares the ledger on the target with the scan, and ends the job or reopens it."""

from dataclasses import asdict

from config.telemetry import traces
from importer.engine.errors import Problem
from importer.engine.load import ledger, verify
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import connect, telling
from importer.engine.units import count_of
from importer.jobs import lifecycle
from importer.jobs.steps import chunk_leases
from importer.jobs.steps.outside_changes import find_changes, record_changes
from importer.jobs.steps.staging import renew_step, staged_rows
from importer.models import ImportJob
from importer.queue import FollowUp
from importer.worker.errors import as_problem
from importer.worker.heartbeat import LockWatch


def verify_job(job_id: int, then: FollowUp) -> None:
    """Compare the ledger on the target with the scan: end the job, or load again what a fail-over has lost."""
    job = lifecycle.claim_verify(job_id)
    if not job:
        return
    try:
        with traces.span("verify", job.trace), LockWatch(job) as locks, telling(locks.connected):
            missing = set() if _is_finished(job) else lost_chunks(job)
            if not missing and (changes := find_changes(job, lambda: renew_step(job, None))):
                record_changes(job, changes)
    except Exception as error:
        then(job_id, lifecycle.step_failed(job, as_problem(error, job, job)))
        return
    if missing:
        lifecycle.reopen(job, missing)
        then(job_id, ())
    else:
        then(job_id, lifecycle.succeed(job_id))


def lost_chunks(job: ImportJob) -> set[int]:
    """The numbers of the chunks that a fail-over has lost, with their rows. Raises Problem if only the ledger did."""
    address, key = job.target.address, str(job.key)
    expected, seals = lifecycle.planned_rows(job), chunk_leases.known_seals(job)
    if not expected:
        return set()  # A file without rows: perhaps the target has no ledger yet.
    with connect(address) as connection:
        missing = verify.missing_chunks(connection, str(address), key, expected)
        # Also where no chunk is missing: one may have been loaded again after its first seal was deleted with it.
        verify.require_seals(connection, address, job.plan, key, seals)
        if missing:
            verify.require_lost_rows(connection, address, job.plan, key, lifecycle.seconds_since(job, missing))
    return missing


def read_committed(job: ImportJob) -> str:
    """Set the rows of a job that has not ended to those of the ledger, in memory only. Returns them in a sentence.

    The application's own records are behind it after a process has ended without recording what it committed: it was
    killed, or these records could not be written. The sentence says why if the ledger cannot be read; then the job's
    rows are those of its last record.
    """
    try:
        with connect(job.target.address) as connection:
            total = ledger.read_total(connection, str(job.key)) if ledger.exists(connection) else Tally()
    except Problem as problem:
        return f"How many of its rows are on {job.target} could not be read, and may be more than recorded: {problem}"
    if not job.finished:
        vars(job).update({f"{name}_rows": rows for name, rows in asdict(total).items()})
    place = f"the staging table for {job.table}" if job.stages else job.table
    return f"By {ledger.TABLE}, {count_of(job.rows_in_table, 'row')} of it are in {place}."


def _is_finished(job: ImportJob) -> bool:
    """Whether the job has staged its rows and brought them into the table. Raises Problem if the ledger lacks that."""
    if job.finished:
        verify.check_finish(job.target.address, str(job.key), staged_rows(job))
    return job.finished
