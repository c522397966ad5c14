"""Labs that are disturbed at random moments. Not collected by itself: tests/faults/lab.py runs it."""

import os
import random
import signal
import time
from collections.abc import Callable

import pytest
import redis

from importer import lab
from importer.engine.errors import Problem
from tests.faults.trying import Trying
from tests.stack import Stack
from tests.targets import TestServer


def _kill_workers(stack: Stack, _server: TestServer, _trying: Trying) -> None:
    for worker in (stack.load_worker, stack.control_worker):
        worker.kill()
    for worker in (stack.load_worker, stack.control_worker):
        worker.start()


def _kill_control(stack: Stack, _server: TestServer, _trying: Trying) -> None:
    stack.control_worker.kill()
    stack.control_worker.start()


def _kill_control_children(stack: Stack, _server: TestServer, _trying: Trying) -> None:
    for child in stack.control_worker.children():
        os.kill(child, signal.SIGKILL)


def _kill_load(stack: Stack, _server: TestServer, _trying: Trying) -> None:
    stack.load_worker.kill()
    stack.load_worker.start()


def _kill_server(_stack: Stack, server: TestServer, _trying: Trying) -> None:
    server.kill()
    server.start()


def _cancel(_stack: Stack, _server: TestServer, trying: Trying) -> None:
    try:
        lab.cancel(trying.lab.pk)
    except Problem:
        assert trying.now().status in ("ending", "done")


def _flush_redis(stack: Stack, _server: TestServer, _trying: Trying) -> None:
    redis.Redis.from_url(stack.redis.url).flushall()


DISTURBANCES: list[Callable[[Stack, TestServer, Trying], None]] = [
    _kill_workers,
    _kill_control,
    _kill_control_children,
    _kill_load,
    _kill_server,
    _cancel,
    _flush_redis,
]


@pytest.mark.parametrize("number", range(int(os.environ.get("RANDOM_FAULTS", "10"))))
def test_at_a_random_moment(trying: Trying, stack: Stack, server: TestServer, number: int):
    """Each disturbance in turn, at a moment from the start of a lab to its usual end."""
    seconds = random.uniform(0, float(os.environ.get("RANDOM_FAULTS_WITHIN", "5")))
    disturb = DISTURBANCES[number % len(DISTURBANCES)]
    trying.start()
    time.sleep(seconds)
    during = trying.now()
    disturb(stack, server, trying)
    ended = trying.ends("done", "cancelled")
    over = ended.trials.filter(status="done").count()
    print(f"{number + 1}: {disturb.__name__} after {seconds:.2f} s ({during.status}): {ended.status}, {over} trials")
