"""Imports whose keys are off, and labs, disturbed at random moments: RANDOM_FAULTS of each, on every server there is.

Not collected by itself: `RANDOM_FAULTS=50 pytest -rP --every-case --timeout=300 tests/faults/random_moments.py`. The
table must have exactly the keys that it had, and of the lab nothing may be left. RANDOM_FAULTS_WITHIN says how many
seconds they take here, undisturbed.
"""

import os
import random
import signal
import time
from collections.abc import Callable

import pytest
import redis

from importer import lab
from importer.engine.errors import Problem
from importer.jobs.actions import commands
from tests.faults.keyless import Keyless, Status
from tests.faults.trying import Trying
from tests.stack import Process, Stack
from tests.targets import TestServer

TIMES = int(os.environ.get("RANDOM_FAULTS", "10"))
WITHIN = float(os.environ.get("RANDOM_FAULTS_WITHIN", "5"))


def restart(*processes: Process | TestServer) -> None:
    for each in processes:
        each.kill()
    for each in processes:
        each.start()


def kill_children(worker: Process) -> None:
    for child in worker.children():
        os.kill(child, signal.SIGKILL)


# Each leaves all running. None: the import or the lab is cancelled.
FAULTS: dict[str, Callable[[Stack, TestServer], None] | None] = {
    "both workers killed": lambda stack, _: restart(stack.load_worker, stack.control_worker),
    "control worker killed": lambda stack, _: restart(stack.control_worker),
    "children of the control worker killed": lambda stack, _: kill_children(stack.control_worker),
    "load worker killed": lambda stack, _: restart(stack.load_worker),
    "children of the load worker killed": lambda stack, _: kill_children(stack.load_worker),
    "server killed": lambda _, server: restart(server),
    "cancelled": None,
    "Redis emptied": lambda stack, _: redis.Redis.from_url(stack.redis.url).flushall(),
}


def disturb(number: int, stack: Stack, server: TestServer, cancel: Callable[[], None]) -> str:
    """Each fault in turn, at a moment from a beginning to its usual end; what it was, and when."""
    name, seconds = list(FAULTS)[number % len(FAULTS)], random.uniform(0, WITHIN)
    time.sleep(seconds)
    fault = FAULTS[name]
    fault(stack, server) if fault else cancel()
    return f"{number + 1}: {name} after {seconds:.2f} s"


@pytest.mark.parametrize("number", range(TIMES))
def test_an_import(keyless: Keyless, stack: Stack, server: TestServer, number: int):
    def cancel() -> None:
        try:
            commands.cancel(keyless.job.pk)
        except Problem:
            assert keyless.now().status in (Status.INDEXING, Status.VERIFYING, Status.SUCCEEDED)

    keyless.start()
    said = disturb(number, stack, server, cancel)
    print(f"{said}: {keyless.ends(Status.SUCCEEDED, Status.CANCELLED).status}")


@pytest.mark.parametrize("number", range(TIMES))
def test_a_lab(trying: Trying, stack: Stack, server: TestServer, number: int):
    def cancel() -> None:
        try:
            lab.cancel(trying.lab.pk)
        except Problem:
            assert trying.now().status in ("ending", "done")

    trying.start()
    said = disturb(number, stack, server, cancel)
    print(f"{said}: {trying.ends('done', 'cancelled').status}")
