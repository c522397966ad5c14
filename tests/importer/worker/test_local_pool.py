"""The process pool of an import without workers."""

import multiprocessing
import os
import sys
from uuid import uuid4

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
