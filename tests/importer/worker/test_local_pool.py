"""The process pool of an import without workers."""

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from importer.models import ImportJob
from importer.queue import Message
from importer.security import held_passwords
from importer.worker import local_pool


def state(_: int) -> tuple[int, bool]:
    """The id of the process that runs the call, and whether it has imported the steps of an import."""
    return os.getpid(), "importer.worker.steps" in sys.modules


def test_processes_are_started_before_the_import_begins():
    before = {each.pid for each in multiprocessing.active_children()}
    with local_pool._started_processes(2) as pool:
        ours = {each.pid for each in multiprocessing.active_children()} - before
        assert len(ours) == 2
        states = dict(pool.map(state, range(20)))
    assert states == dict.fromkeys(states, True)
    assert set(states) <= ours


def test_spawned_processes_hold_the_passwords_of_their_parent(monkeypatch):
    target = uuid4()
    monkeypatch.setitem(held_passwords._held, target, "secret")
    with local_pool._spawned_processes(1) as pool:
        assert pool.submit(held_passwords.held, target).result() == "secret"


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
