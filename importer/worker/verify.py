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
            missing = _missing(job)
    except Exception as error:
        then(job_id, jobs.step_failed(job, as_problem(error, job, job)))
        return
    if missing:
        jobs.reopen(job, missing)
        then(job_id, ())
    else:
        then(job_id, jobs.succeed(job_id))


def _missing(job: ImportJob) -> set[int]:
    """The chunks that the ledger lacks. For a job that staged its rows, only the finishing step is checked."""
    if job.finished:
        verify.check_finish(job.target.address, str(job.key), jobs.staged_rows(job))
        return set()
    return verify.missing_chunks(job.target.address, str(job.key), jobs.planned_rows(job))
