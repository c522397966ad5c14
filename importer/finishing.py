"""What a worker does in modes that stage, besides loading chunks: stage, finish, clean up."""

import logging
from contextlib import suppress

from importer import jobs
from importer.engine import ledger, staging, verify
from importer.engine.connection import connect
from importer.engine.errors import Problem
from importer.engine.finish import Finish, finish, is_done
from importer.engine.load import Watch
from importer.heart import Heart
from importer.models import ImportJob
from importer.work import Then, as_problem, end_connection

log = logging.getLogger(__name__)


def stage_job(job_id: int, then: Then) -> None:
    """Make the job's staging table, which its chunks then load into."""
    job = jobs.claim_stage(job_id)
    if not job:
        return
    plan = job.plan
    assert plan.staged
    try:
        with connect(job.target.address) as connection:
            ledger.create(connection)
            digest = staging.make(connection, plan.schema, str(job.key), plan.staged)
        jobs.record_staged(job, digest)
    except Exception as error:
        then(job_id, jobs.step_failed(job, as_problem(error, str(job), job)))
    else:
        then(job_id, ())


def finish_job(job_id: int, then: Then) -> None:
    """Bring the staged rows where they belong, exactly once; or load again what a fail-over has lost of them."""
    job = jobs.claim_finish(job_id)
    if not job:
        return
    heart = Heart.of_step(job)
    try:
        end_connection(job.target.address, job.step_connection_id, str(job))
        missing = verify.missing_chunks(job.target.address, str(job.key), jobs.planned_rows(job))
        if missing:
            jobs.reopen(job, missing)
        else:
            with heart:
                tally = finish(_work(job), Watch(heart.connected))
            jobs.record_finished(job, tally)
            with suppress(Problem):  # The rows are where they belong; the sweeper does this when the job has ended.
                _drop_staging(job)
    except Exception as error:
        if heart.ended_it:
            jobs.release_step(job)
            then(job_id, ())
        else:
            then(job_id, jobs.step_failed(job, as_problem(error, str(job), job)))
        return
    then(job_id, ())


def clean_job(job_id: int, then: Then) -> None:
    """Drop the staging table of a job that is ending or has ended; unless its finishing step took place after all."""
    job = jobs.claim_clean(job_id)
    if not job:
        return
    try:
        end_connection(job.target.address, job.step_connection_id, str(job))
        if not job.finished and _is_done(job):
            jobs.record_finished(job, finish(_work(job), Watch()))
        _drop_staging(job)
    except Exception as error:
        log.info("%s: its staging table could not be dropped: %s", job, as_problem(error, str(job), job))
        jobs.cleaning_failed(job)
    then(job_id, ())


def _work(job: ImportJob) -> Finish:
    exact = job.options.on_duplicate != "replace"
    return Finish(str(job.key), job.step_attempt, job.target.address, job.plan, jobs.staged_rows(job), exact=exact)


def _is_done(job: ImportJob) -> bool:
    with connect(job.target.address) as connection:
        return is_done(connection, str(job.key), job.plan)


def _drop_staging(job: ImportJob) -> None:
    with connect(job.target.address) as connection:
        staging.drop(connection, job.plan.schema, str(job.key))
    if job.options.mode == "replace":
        jobs.record_kept(job)
    jobs.record_clean(job)
