"""An import without Redis and workers: the same work in a pool of processes of our own."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

import django
from django.db import connections

from importer import copies, jobs
from importer.models import ImportJob
from importer.wake import Step

LOOK_EVERY = 0.2  # seconds


def run(job_id: int, parallelism: int, look: Callable[[ImportJob], None]) -> ImportJob:
    """Take the job to its end; `look` is called with it again and again.

    Starts one process more than `parallelism`, for the scan. While another import has the table, that one is taken on
    as well: the process that began it may have been killed.
    """
    pool = ProcessPoolExecutor(parallelism + 1, multiprocessing.get_context("spawn"), initializer=django.setup)
    connections.close_all()
    running: set[Future[None]] = set()
    try:
        while not (job := ImportJob.objects.select_related("source").get(pk=job_id)).ended:
            look(job)
            running |= {pool.submit(_take, step) for step in _steps(job)}
            done, running = wait(running, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
        return job
    finally:
        pool.shutdown(cancel_futures=True)
        copies.remove_unneeded()


def _steps(job: ImportJob) -> list[Step]:
    """The job's next steps; while it waits, also those of the import that it waits for."""
    before = jobs.holder(job)
    if not before:
        return jobs.advance(job.pk)
    from importer import work

    work.take_back_expired()
    return [*jobs.advance(before.pk), *jobs.advance(job.pk)]


def _take(step: Step) -> None:
    """Runs in a process of the pool. What follows is not its business: the loop looks at the job again anyway."""
    from importer import arranging, finishing, runs, work

    tasks = {
        "scan": work.scan_job,
        "load_run": runs.load,
        "verify": work.verify_job,
        "arrange": arranging.arrange_job,
        "restore": arranging.restore_job,
        "stage": finishing.stage_job,
        "finish": finishing.finish_job,
        "clean": finishing.clean_job,
    }
    tasks[step.task](step.id, lambda _job_id, _later: None)
