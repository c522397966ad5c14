"""Runs an import without Redis and workers, in a pool of its own processes."""

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
from importer.models import Chunk, ImportJob
from importer.queue import Message
from importer.worker import working_copies

# Seconds between two checks of the job: short at first, so that a small file does not wait.
FIRST_LOOK, LOOK_EVERY = 0.01, 0.2
# A file of fewer bytes is loaded before new processes would have started.
IN_THREADS_BELOW = 16 * MIB
# Seconds that the pool waits for its processes to start; then the import begins anyway.
LONGEST_START = 60
SPAWN = multiprocessing.get_context("spawn")


def run(job_id: int, parallelism: int, look: Callable[[ImportJob], None], *, wait_for_start: bool = False) -> ImportJob:
    """Run the job to its end. `look` is called with the job at each check of its state.

    Starts one process more than `parallelism`, for the scan; for a small file, threads instead. With `wait_for_start`
    all processes are up before the import begins, so that its time does not contain their start. While another import
    has the table, its steps are run too: the process that began it may have been killed. Returns early if the job waits
    for another person's approval.
    """
    job = ImportJob.objects.select_related("source").get(pk=job_id)
    pool = _pool(job, parallelism + 1, wait_for_start)
    left_to_workers = _queued(job)
    connections.close_all()
    running: set[Future[None]] = set()
    pace, ended = FIRST_LOOK, False
    try:
        running |= {pool.submit(run_step, step) for step in left_to_workers}
        while not is_over(job := ImportJob.objects.select_related("source").get(pk=job_id)):
            look(job)
            running |= {pool.submit(run_step, step) for step in _steps(job)}
            done, running = wait(running, timeout=pace, return_when=FIRST_COMPLETED)
            if not (done or running):
                time.sleep(pace)
            pace = min(LOOK_EVERY, pace * 1.5)
            for future in done:
                future.result()
        ended = True
        return job
    finally:
        # After Ctrl-C the job is cancelled, which ends the steps that still run.
        pool.shutdown(wait=ended or isinstance(pool, ProcessPoolExecutor), cancel_futures=True)
        working_copies.remove_unneeded()


def _queued(job: ImportJob) -> list[Message]:
    """The steps that were left to workers, of which there may be none. The first process that claims one takes it."""
    chunks = job.chunks.filter(status=Chunk.Status.QUEUED).values_list("pk", flat=True)
    task, queued, _ = job.step.partition(" queued")
    return [*([Message(task, job.pk)] if queued else []), *(Message("load_run", pk) for pk in chunks)]


def is_over(job: ImportJob) -> bool:
    """Whether nothing happens any more without somebody else: the job has ended, or waits for approval."""
    return job.ended or jobs.is_asked_for(job)


def _pool(job: ImportJob, workers: int, wait_for_start: bool) -> Executor:
    if job.data_bytes < IN_THREADS_BELOW:
        return ThreadPoolExecutor(workers)
    return _started_processes(workers) if wait_for_start else ProcessPoolExecutor(workers, SPAWN, django.setup)


def _started_processes(workers: int) -> Executor:
    pool = ProcessPoolExecutor(workers, SPAWN, django.setup)
    up: set[int] = set()
    until = time.monotonic() + LONGEST_START
    try:
        while len(up) < workers and time.monotonic() < until:
            up.update(pool.map(_import_steps, range(workers)))
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    return pool


def _import_steps(_: int) -> int:
    """Import the steps' modules and return the process id. The pause lets another process take the next call."""
    import_module("importer.worker.steps")
    time.sleep(FIRST_LOOK)
    return os.getpid()


def _steps(job: ImportJob) -> list[Message]:
    """The job's next steps; while it waits for the table, also those of the import that has the table."""
    before = jobs.table_owner(job)
    if not before:
        return jobs.advance(job.pk)
    from importer.worker import sweep

    sweep.expire_runs()
    return [*jobs.advance(before.pk), *jobs.advance(job.pk)]


def run_step(step: Message) -> None:
    """Run one step of an import, in the pool. Messages that follow from it are dropped: run() checks the job again."""
    from importer.worker.steps import IMPORT_STEPS

    if step.task not in IMPORT_STEPS:
        return  # The import has ended. A lab or a schedule that waits for its end has workers of its own.
    try:
        IMPORT_STEPS[step.task](step.id, lambda _job_id, _later: None)
    finally:
        connections.close_all()
