"""Runs an import without Redis and workers, in a pool of its own processes."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from importlib import import_module

from django.db import OperationalError, connections

from importer.engine.errors import Problem
from importer.engine.mysql import waits
from importer.engine.units import MIB
from importer.jobs import lifecycle
from importer.jobs.approval import is_asked_for
from importer.jobs.steps import staging
from importer.jobs.steps.lease_recovery import expired_runs
from importer.jobs.steps.table_backup import pending_backups
from importer.models import Chunk, ImportJob
from importer.models.outcomes.step_kinds import QUEUED
from importer.queue import Message
from importer.security import held_passwords
from importer.worker import shutdown, working_copies

# Seconds between two checks whether the job has changed: short at first, so that a small file does not wait. The job is
# looked at after a change, after the end of a step, and at least every LOOK_EVERY.
FIRST_CHECK, LOOK_EVERY = 0.01, 0.5
# A file of fewer bytes is loaded before new processes would have started.
IN_THREADS_BELOW = 16 * MIB
# Seconds that the pool waits for its processes to start; then the import begins anyway.
LONGEST_START = 60
STEPS = "importer.worker.steps"
FORK, SPAWN = multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")


def run(job_id: int, parallelism: int, look: Callable[[ImportJob], None], *, wait_for_start: bool = False) -> ImportJob:
    """Run the job to its end. `look` is called with the job at each check of its state.

    Starts one process more than `parallelism`, for the scan; for a small file, threads instead. The processes ignore
    the signals of ENDS: `look` may cancel the job. With `wait_for_start` all processes are up before the import begins,
    so that its time does not contain their start. While another import has the table, its steps are run too: the
    process that began it may have been killed. Chunks of a killed process are loaded once their lease has expired.
    Returns early if the job waits for another person's approval. Staging tables that ended jobs have left are dropped,
    too: that of this job, and after a success those that only a command can drop. Raises Problem if a newer release has
    planned it, and if one of the processes is killed.
    """
    job = ImportJob.objects.select_related("source").get(pk=job_id)
    if job.is_newer:
        raise Problem(f"A newer release has planned import {job_id}.", advice="Run it with that release.")
    if job.ended and job.leftover:
        _clean([job_id])
    # A fork must not share a connection, nor be one of a process with other threads.
    connections.close_all()
    waits.end_thread()
    pool = _pool(job, parallelism + 1, wait_for_start)
    running = Running(pool)
    ended = False
    try:
        while not is_over(job := ImportJob.objects.select_related("source").get(pk=job_id)):
            look(job)
            if not running.all_sessions_load(job):
                running.add(_steps(job, idle=running.is_idle))
                running.adopt(_queued(job))
            running.wait_for_change(job)
        ended = True
    except OperationalError:
        # What the other steps commit until they end counts for the report of the command.
        pool.shutdown(cancel_futures=True)
        raise
    except BrokenExecutor as error:
        # The others are asked for their end by a signal that they ignore.
        for each in multiprocessing.active_children():
            each.kill()
        raise Problem(
            "A process of this command was killed.",
            advice="Systems do so when memory is short: then load fewer chunks in parallel (--parallel). What is"
            f" committed stays. The missing rows: millrace job run {job_id}",
        ) from error
    finally:
        pool.shutdown(wait=ended or isinstance(pool, ProcessPoolExecutor), cancel_futures=True)
        working_copies.remove_unneeded()
    if job.status != ImportJob.Status.SUCCEEDED or not job.target.left_to_commands:
        return job
    # No sweep of the workers cleans up there.
    _clean(staging.leftovers(on=job.target))
    return ImportJob.objects.select_related("source").get(pk=job_id)


def _clean(job_ids: Iterable[int]) -> None:
    from importer.worker.stage_and_finish import clean_now  # Here: most imports need none of it.

    for job_id in job_ids:
        clean_now(job_id)


class Running:
    """The steps that the pool's processes have been given and have not ended."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._steps: dict[Future[None], Message] = {}
        self._pace = FIRST_CHECK

    def add(self, steps: list[Message]) -> None:
        """Give the steps to the pool."""
        self._steps |= {self._pool.submit(run_step, step): step for step in steps}

    def adopt(self, queued: list[Message]) -> None:
        """Give the pool these steps, without those that it has been given already."""
        has = {(step.task, step.id) for step in self._steps.values()}
        self.add([step for step in queued if (step.task, step.id) not in has])

    @property
    def is_idle(self) -> bool:
        """Whether no process of the pool has anything to do."""
        return not self._steps

    def all_sessions_load(self, job: ImportJob) -> bool:
        """Whether the job loads with all its sessions, so that no step can begin before another one has ended."""
        loading = sum(step.task == "load_run" for step in self._steps.values())
        return job.status == ImportJob.Status.LOADING and loading >= job.parallelism

    def wait_for_change(self, job: ImportJob) -> None:
        """Wait until a step ends or the job's row is no longer as in `job`; at most LOOK_EVERY.

        Raises what a step raised.
        """
        until = time.monotonic() + LOOK_EVERY
        while (left := until - time.monotonic()) > 0:
            pace = LOOK_EVERY if self.all_sessions_load(job) else self._pace
            if self._some_ended(min(left, pace)):
                return
            # Cheaper than a look, and most often nothing has changed.
            if pace < left and not ImportJob.objects.filter(pk=job.pk, version=job.version).exists():
                return
            self._pace = min(LOOK_EVERY, self._pace * 1.5)

    def _some_ended(self, timeout: float) -> bool:
        """Whether steps have ended within `timeout` seconds. Raises what they raised."""
        if not self._steps:
            time.sleep(timeout)
        ended = wait(self._steps, timeout, FIRST_COMPLETED).done
        for each in ended:
            del self._steps[each]
            each.result()
        return bool(ended)


def _queued(job: ImportJob) -> list[Message]:
    """The steps that somebody else has left to workers, of which there may be none.

    The first process that claims one takes it. A step that has failed is left alone: it waits for its next attempt.
    """
    kind = QUEUED.get(job.step)
    own = [Message(kind.task, job.pk)] if kind and not job.step_failures else []
    chunks = job.chunks.filter(status=Chunk.Status.QUEUED).values_list("pk", flat=True)
    return [*own, *(Message("load_run", pk) for pk in chunks)]


def is_over(job: ImportJob) -> bool:
    """Whether nothing happens any more without somebody else: the job has ended, or waits for approval."""
    return job.ended or is_asked_for(job)


def _pool(job: ImportJob, workers: int, wait_for_start: bool) -> Executor:
    if job.data_bytes < IN_THREADS_BELOW:
        return ThreadPoolExecutor(workers)
    if can_fork():
        return _forked_processes(workers, job)
    return _started_processes(workers) if wait_for_start else _spawned_processes(workers)


def can_fork() -> bool:
    """Whether a fork of this process is safe: no other thread can hold a lock, which nobody would release there.

    On macOS, system libraries may not be used after a fork.
    """
    return sys.platform == "linux" and threading.active_count() == 1


def _forked_processes(workers: int, job: ImportJob) -> Executor:
    """A pool of forks of this process. Each has all modules without importing them: 0.5 s of processor time less."""
    import_module(STEPS)
    # Each fork reads the plan, too: now msgspec is imported, and has looked at the plan's classes.
    _ = job.plan
    pool = ProcessPoolExecutor(workers, FORK, _begin_forked, (os.getpid(),))
    # With the first call all of them are forked, before this process has further threads or connections.
    pool.submit(os.getpid)
    return pool


def _begin_forked(parent: int) -> None:
    shutdown.end_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    shutdown.leave_ends_to_the_parent()


def _spawned_processes(workers: int) -> Executor:
    return ProcessPoolExecutor(workers, SPAWN, shutdown.begin_spawned, (held_passwords.all_held(),))


def _started_processes(workers: int) -> Executor:
    pool = _spawned_processes(workers)
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
    import_module(STEPS)
    time.sleep(FIRST_CHECK)
    return os.getpid()


def _steps(job: ImportJob, *, idle: bool) -> list[Message]:
    """The job's next steps; while it waits for the table, also those of the import that has the table.

    `idle`: this pool loads nothing, so that chunks, and a backup, whose lease has expired are those of a dead process.
    """
    before = lifecycle.table_owner(job)
    if idle and ((expired := expired_runs(before or job)) or (before and before.ended)):
        from importer.worker import sweep  # Here: most imports need none of it.

        sweep.expire_runs(expired)
        sweep.release_backups(each for each in pending_backups() if each == before)
    return [*(lifecycle.advance(before.pk) if before else ()), *lifecycle.advance(job.pk)]


def run_step(step: Message) -> None:
    """Run one step of an import, in the pool. Messages that follow from it are dropped: run() checks the job again."""
    from importer.worker.steps import IMPORT_STEPS

    if step.task not in IMPORT_STEPS:
        return  # The import has ended. A lab or a schedule that waits for its end has workers of its own.
    try:
        IMPORT_STEPS[step.task](step.id, lambda _job_id, _later: None)
    except OperationalError as error:
        # On its way from another process an error loses its cause, which alone has SQLite's name of it.
        vars(error)["sqlite_errorname"] = getattr(error.__cause__, "sqlite_errorname", None)
        raise
    finally:
        connections.close_all()
