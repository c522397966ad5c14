"""An import without Redis and workers: the same work in a pool of processes of our own."""

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from importlib import import_module

import django
from django.db import connections

from importer import jobs
from importer.engine.units import MIB
from importer.models import ImportJob
from importer.queue import Message
from importer.worker import working_copies

# Seconds between two looks at the job: few at first, so that a small file is not kept waiting.
FIRST_LOOK, LOOK_EVERY = 0.01, 0.2
# A file of fewer bytes is loaded before processes of our own would have started.
IN_THREADS_BELOW = 16 * MIB
# Processes that are not up after so many seconds are not waited for.
LONGEST_START = 60
SPAWN = multiprocessing.get_context("spawn")


def run(job_id: int, parallelism: int, look: Callable[[ImportJob], None], *, up_first: bool = False) -> ImportJob:
    """Take the job to its end; `look` is called with it again and again.

    Starts one process, or for a small file one thread, more than `parallelism`, for the scan; with `up_first` all of
    them before the import begins, so that its time is its own. While another import has the table, that one is taken
    on as well: the process that began it may have been killed.
    """
    pool = _pool(ImportJob.objects.select_related("source").get(pk=job_id), parallelism + 1, up_first)
    connections.close_all()
    running: set[Future[None]] = set()
    pace, ended = FIRST_LOOK, False
    try:
        while not (job := ImportJob.objects.select_related("source").get(pk=job_id)).ended:
            look(job)
            running |= {pool.submit(take, step) for step in _steps(job)}
            done, running = wait(running, timeout=pace, return_when=FIRST_COMPLETED)
            if not (done or running):
                time.sleep(pace)
            pace = min(LOOK_EVERY, pace * 1.5)
            for future in done:
                future.result()
        ended = True
        return job
    finally:
        # After Ctrl-C the job is cancelled, which ends what still runs.
        pool.shutdown(wait=ended or isinstance(pool, ProcessPoolExecutor), cancel_futures=True)
        working_copies.remove_unneeded()


def _pool(job: ImportJob, workers: int, up_first: bool) -> Executor:
    if job.data_bytes < IN_THREADS_BELOW:
        return ThreadPoolExecutor(workers)
    return _processes_that_are_up(workers) if up_first else ProcessPoolExecutor(workers, SPAWN, django.setup)


def _processes_that_are_up(workers: int) -> Executor:
    pool = ProcessPoolExecutor(workers, SPAWN, django.setup)
    up: set[int] = set()
    until = time.monotonic() + LONGEST_START
    try:
        while len(up) < workers and time.monotonic() < until:
            up.update(pool.map(_come_up, range(workers)))
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    return pool


def _come_up(_: int) -> int:
    """Have at hand what a step needs; the process that has, which leaves the next such call to another one."""
    import_module("importer.worker.steps")
    time.sleep(FIRST_LOOK)
    return os.getpid()


def _steps(job: ImportJob) -> list[Message]:
    """The job's next steps; while it waits, also those of the import that it waits for."""
    before = jobs.table_owner(job)
    if not before:
        return jobs.advance(job.pk)
    from importer.worker import sweep

    sweep.expire_runs()
    return [*jobs.advance(before.pk), *jobs.advance(job.pk)]


def take(step: Message) -> None:
    """Take one step of an import, in the pool as a rule. What follows is not its business: whoever sent it there looks
    at the job again anyway.
    """
    from importer.worker.steps import OF_AN_IMPORT

    if step.task not in OF_AN_IMPORT:
        return  # The import has ended, and what waited for that, a lab or a schedule, has workers of its own.
    try:
        OF_AN_IMPORT[step.task](step.id, lambda _job_id, _later: None)
    finally:
        connections.close_all()
