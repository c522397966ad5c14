"""Follows an import from the command line to its end: in this process, or while workers load it."""

import sys
import time
from collections.abc import Callable

from importer.engine.units import count_of
from importer.jobs.actions import commands
from importer.jobs.actions.obstacles import is_stuck
from importer.jobs.lifecycle import table_owner
from importer.management.terminal.follow.ctrl_c import counted
from importer.management.terminal.follow.progress import Progress
from importer.management.terminal.follow.waiting import WaitingSaid
from importer.models import ImportJob
from importer.queue import waiting_for_end
from importer.worker import local_pool
from importer.worker.hosts import presence

LOOK_EVERY = 0.1  # seconds
NOT_TAKEN_AFTER = 20  # seconds until NOT_TAKEN is written
NOT_TAKEN = "No worker has taken the import yet: is `millrace serve` running? Without --workers it needs none.\n"


def follow(job: ImportJob, *, in_process: bool, quiet: bool) -> ImportJob:
    """Run the import in this process, or start it for the workers, and wait for its end.

    `quiet`: without a progress line. Ctrl-C cancels it. One that waits for approval is not waited for: that can take
    days.
    """
    if in_process:
        return _looked_at(job, quiet, lambda look: local_pool.run(job.pk, job.parallelism, look))
    _warn_of_few_workers(job.options.parallelism)
    commands.start(job.pk)
    return wait(job, quiet=quiet)


def wait(job: ImportJob, *, quiet: bool) -> ImportJob:
    """Wait for the end of an import that workers load."""
    return _looked_at(job, quiet, lambda look: _wait(job.pk, look))


def _looked_at(job: ImportJob, quiet: bool, run: Callable[[Callable[[ImportJob], None]], ImportJob]) -> ImportJob:
    """What `run` returns. The function that it is given shows the import's state."""
    progress, waiting, told = Progress(quiet), WaitingSaid(), set[str]()
    with counted(progress.write, job.pk) as ctrl_c:

        def look(now: ImportJob) -> None:
            ctrl_c.act(now)
            if (reason := _why_it_waits(now)) and reason not in told:
                told.add(reason)
                progress.write(reason)
            waiting.look(now)
            progress.show(now, waiting.now)

        try:
            ended = run(look)
            look(ended)
        finally:
            progress.close()
        if ctrl_c.pressed and ended.status == ImportJob.Status.CANCELLED:
            progress.write(f"To load the missing rows: millrace job retry {ended.pk}")
    return ended


def _why_it_waits(job: ImportJob) -> str:
    """What the job waits for, other than workers; "" for nothing."""
    if before := table_owner(job):
        return f"Import {before.pk} has the table {job.table}: this one waits for it."
    if not is_stuck(job):
        return ""
    return (
        f"What import {job.pk} has changed on the server cannot be put back yet, and is tried again:"
        f" {job.obstacle['what']} {job.obstacle['advice']} Ctrl-C ends it without, and gives the SQL."
    )


def _warn_of_few_workers(parallelism: int | None) -> None:
    most = presence.parallel_loads()
    if parallelism and 0 < most < parallelism:
        sys.stderr.write(
            f"--parallel {parallelism}: the running workers load at most {count_of(most, 'chunk')} in parallel.\n"
        )


def _wait(job_id: int, look: Callable[[ImportJob], None]) -> ImportJob:
    begun = time.monotonic()
    warned = False
    with waiting_for_end(job_id) as wait:
        while not local_pool.is_over(job := ImportJob.objects.get(pk=job_id)):
            look(job)
            if not warned and job.step == ImportJob.Step.SCAN_QUEUED and time.monotonic() - begun > NOT_TAKEN_AFTER:
                warned = True
                sys.stderr.write(NOT_TAKEN)
            wait(LOOK_EVERY)
    return job
