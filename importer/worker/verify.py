"""Compares the ledger on the target with the scan, and ends the job or reopens it."""

from config.telemetry import traces
from importer import jobs
from importer.engine.load import verify
from importer.models import ImportJob
from importer.queue import FollowUp
from importer.worker.errors import as_problem


def verify_job(job_id: int, then: FollowUp) -> None:
    """Compare the ledger on the target with the scan: end the job, or load again what a fail-over has lost."""
    job = jobs.claim_verify(job_id)
    if not job:
        return
    try:
        with traces.span("verify", job.trace):
            missing = set() if _is_finished(job) else lost_chunks(job)
    except Exception as error:
        then(job_id, jobs.step_failed(job, as_problem(error, job, job)))
        return
    if missing:
        jobs.reopen(job, missing)
        then(job_id, ())
    else:
        then(job_id, jobs.succeed(job_id))


def lost_chunks(job: ImportJob) -> set[int]:
    """The numbers of the chunks that a fail-over has lost, with their rows. Raises Problem if only the ledger did."""
    address, key = job.target.address, str(job.key)
    missing = verify.missing_chunks(address, key, jobs.planned_rows(job))
    if missing:
        verify.require_lost_rows(address, job.plan, key, missing, jobs.seconds_since(job, missing))
    return missing


def _is_finished(job: ImportJob) -> bool:
    """Whether the job has staged its rows and brought them into the table. Raises Problem if the ledger lacks that."""
    if job.finished:
        verify.check_finish(job.target.address, str(job.key), jobs.staged_rows(job))
    return job.finished
