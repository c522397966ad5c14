"""Imports whose keys are off, disturbed at random moments. Not collected by itself: tests/faults/indexes.py runs it."""

import os
import random
import signal
import time
from collections.abc import Callable

import pytest
import redis

from importer import jobs
from importer.engine.errors import Problem
from tests.faults.keyless import Keyless, Status
from tests.stack import Stack
from tests.targets import TestServer


def _kill_worker(stack: Stack, _server: TestServer, _keyless: Keyless) -> None:
    stack.load_worker.kill()
    stack.load_worker.start()


def _kill_control(stack: Stack, _server: TestServer, _keyless: Keyless) -> None:
    stack.control_worker.kill()
    stack.control_worker.start()


def _kill_child(stack: Stack, _server: TestServer, _keyless: Keyless) -> None:
    for child in stack.load_worker.children():
        os.kill(child, signal.SIGKILL)


def _kill_server(_stack: Stack, server: TestServer, _keyless: Keyless) -> None:
    server.kill()
    server.start()


def _cancel(_stack: Stack, _server: TestServer, keyless: Keyless) -> None:
    try:
        jobs.cancel(keyless.job.pk)
    except Problem:
        assert keyless.now().status in (Status.INDEXING, Status.VERIFYING, Status.SUCCEEDED)


def _flush_redis(stack: Stack, _server: TestServer, _keyless: Keyless) -> None:
    redis.Redis.from_url(stack.redis.url).flushall()


DISTURBANCES: list[Callable[[Stack, TestServer, Keyless], None]] = [
    _kill_worker,
    _kill_control,
    _kill_child,
    _kill_server,
    _cancel,
    _flush_redis,
]


@pytest.mark.parametrize("number", range(int(os.environ.get("RANDOM_FAULTS", "10"))))
def test_at_a_random_moment(keyless: Keyless, stack: Stack, server: TestServer, number: int):
    """Each disturbance in turn, at a moment from the start of a job to its usual end."""
    seconds = random.uniform(0, float(os.environ.get("RANDOM_FAULTS_WITHIN", "4")))
    disturb = DISTURBANCES[number % len(DISTURBANCES)]
    keyless.start()
    time.sleep(seconds)
    during = keyless.now()
    disturb(stack, server, keyless)
    job = keyless.ends(Status.SUCCEEDED, Status.CANCELLED)
    print(f"{number + 1}: {disturb.__name__} after {seconds:.2f} s ({during.status} {during.step}): {job.status}")
