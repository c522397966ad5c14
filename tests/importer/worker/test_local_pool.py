"""The process pool of an import without workers."""

import itertools
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from importer.engine.mysql.connection import Address
from importer.jobs.actions import commands
from importer.jobs.steps.chunk_leases import claim_run
from importer.models import Chunk, ImportJob
from importer.queue import Message
from importer.security import held_passwords
from importer.worker import local_pool
from tests.importer.steps import import_of, now, until
from tests.importer.word_file import word_file
from tests.targets import target_with


def state(_: int) -> tuple[int, bool]:
    """The id of the process that runs the call, and whether it has imported the steps of an import."""
    return os.getpid(), "importer.worker.steps" in sys.modules


def test_processes_are_started_before_the_import_begins_and_hold_the_passwords_of_their_parent(monkeypatch):
    target = uuid4()
    monkeypatch.setitem(held_passwords._held, target, "secret")
    before = {each.pid for each in multiprocessing.active_children()}
    with local_pool._started_processes(2) as pool:
        ours = {each.pid for each in multiprocessing.active_children()} - before
        assert len(ours) == 2
        states = dict(pool.map(state, range(20)))
        assert pool.submit(held_passwords.held, target).result() == "secret"
    assert states == dict.fromkeys(states, True)
    assert set(states) <= ours


def test_next_steps_are_asked_for_until_all_sessions_load(monkeypatch):
    end = threading.Event()
    monkeypatch.setattr(local_pool, "run_step", lambda _step: end.wait())
    loading, paused = (ImportJob(status=each, parallelism=2) for each in ("loading", "paused"))
    with ThreadPoolExecutor(3) as pool:
        running = local_pool.Running(pool)
        try:
            running.add([Message("scan", 1), Message("load_run", 1)])
            assert not running.all_sessions_load(loading)
            running.add([Message("load_run", 2)])
            assert running.all_sessions_load(loading)
            assert not running.all_sessions_load(paused)
        finally:
            end.set()


def test_an_error_of_a_step_ends_the_import(monkeypatch):
    def fail(step: Message) -> None:
        raise RuntimeError(step.task)

    monkeypatch.setattr(local_pool, "run_step", fail)
    with ThreadPoolExecutor(1) as pool:
        running = local_pool.Running(pool)
        running.add([Message("scan", 1)])
    with pytest.raises(RuntimeError, match="scan"):
        running.wait_for_change(ImportJob(status="loading", parallelism=1))


class TestImportsThatOthersHaveTouched:
    """...while this process runs them, and no worker is there."""

    MOST_LOOKS = 200

    @pytest.fixture(autouse=True)
    def _alone(self, no_workers) -> None:
        """No worker takes the steps that are queued for one."""

    @pytest.fixture
    def job(self, mariadb: Address, transactional_db, tmp_path: Path) -> ImportJob:
        """An import whose only chunk is queued."""
        target = target_with(mariadb, "CREATE TABLE t (n INT, word VARCHAR(20))", name="t")
        job = import_of(word_file(tmp_path / "t.csv", range(100)), target)
        until(job, "load_run")
        return job

    def ended(self, job: ImportJob, act: Callable[[ImportJob], None] = lambda _: None) -> ImportJob:
        """The job at its end. `act` is called at each look at it, of which there are not too many."""
        looks = itertools.count()

        def look(seen: ImportJob) -> None:
            assert next(looks) < self.MOST_LOOKS, f"still {seen.status}"
            act(seen)

        return local_pool.run(job.pk, 1, look)

    def test_an_import_that_another_process_resumes_continues(self, job: ImportJob):
        commands.pause(job.pk)

        def resume(seen: ImportJob) -> None:
            if seen.status == ImportJob.Status.PAUSED:
                commands.resume(seen.pk)
                assert job.chunks.filter(status=Chunk.Status.QUEUED).exists()

        assert self.ended(job, resume).loaded_rows == 100

    @pytest.mark.parametrize("cancelled", [False, True])
    def test_an_import_whose_process_was_killed_in_a_chunk_ends(self, job: ImportJob, cancelled: bool):
        assert claim_run(job.chunks.get().pk)
        job.chunks.update(lease="2000-01-01T00:00Z")
        if cancelled:
            commands.cancel(job.pk)
        ended = self.ended(job)
        assert ended.status == (ImportJob.Status.CANCELLED if cancelled else ImportJob.Status.SUCCEEDED)
        assert ended.loaded_rows == (0 if cancelled else 100)

    def test_a_step_that_has_failed_waits_for_its_next_attempt(self, job: ImportJob):
        for failures, tasks in ((1, ["load_run"]), (0, ["verify", "load_run"])):
            ImportJob.objects.filter(pk=job.pk).update(step=ImportJob.Step.VERIFY_QUEUED, step_failures=failures)
            assert [each.task for each in local_pool._queued(now(job))] == tasks
