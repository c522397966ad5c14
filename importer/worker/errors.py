"""Turns any exception of a worker into a Problem that the job, the schedule or the lab stores and shows.

A step of a job then fails, or is left to another worker.
"""

import logging

from django.db import OperationalError

from importer.engine.errors import Problem, SourceMissing, is_of_full_disk
from importer.jobs.lifecycle import step_failed
from importer.jobs.transitions import release_step
from importer.models import Chunk, ImportJob, Lab, Schedule, ScheduleRun
from importer.queue import Message
from importer.sources import uploads
from importer.sources.room import of_full_disk
from importer.worker.hosts import placement

log = logging.getLogger(__name__)


def problem_of(error: Exception, where: Schedule | ScheduleRun | Lab) -> Problem:
    """The error of a schedule or lab as a Problem; an unexpected exception is logged with its traceback as well."""
    if isinstance(error, Problem):
        return error
    if is_of_full_disk(error):
        return of_full_disk(error, str(where))
    log.exception("%s: unexpected error", where, exc_info=error)
    advice = "Please report it with the worker's log."
    return Problem(f"An unexpected error: {type(error).__name__}: {error}.", str(where), advice)


def as_problem(error: Exception, where: ImportJob | Chunk, job: ImportJob) -> Problem:
    """The error as a Problem; an unexpected exception is logged with its traceback as well."""
    if isinstance(error, SourceMissing) and (problem := placement.problem_if_no_host_sees(job)):
        return problem
    if isinstance(error, Problem):
        return uploads.with_file_name(error, job.source)
    if is_of_full_disk(error):
        return of_full_disk(error, str(where))
    if isinstance(error, OperationalError):
        log.warning("%s: the application's database has refused a change: %s", where, error)
        return Problem(
            f"The application's own database has refused a change: {error}.",
            where=str(where),
            advice="Look at DATABASE_URL's server. What was committed on the target is known there.",
            retryable=True,
        )
    log.exception("%s: unexpected error", where, exc_info=error)
    return Problem(
        f"An unexpected error: {type(error).__name__}: {error}.",
        where=str(where),
        advice="Please report it with the worker's log. Nothing of this part was kept; Retry loads what is not in yet.",
    )


def after_failure(job: ImportJob, error: Exception, *, given_up: bool) -> list[Message]:
    """Fail the job's step with the error, or release it if it is given up: then any worker may take it again."""
    if given_up:
        release_step(job)
        return []
    return step_failed(job, as_problem(error, job, job))
