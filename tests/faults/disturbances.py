"""What can befall a stack while it works. Each takes the server that is loaded into as well, and leaves all running."""

import os
import random
import signal

import redis

from tests.stack import Stack
from tests.targets import TestServer


def kill_workers(stack: Stack, _server: TestServer) -> None:
    for worker in (stack.load_worker, stack.control_worker):
        worker.kill()
    for worker in (stack.load_worker, stack.control_worker):
        worker.start()


def kill_control(stack: Stack, _server: TestServer) -> None:
    stack.control_worker.kill()
    stack.control_worker.start()


def kill_control_children(stack: Stack, _server: TestServer) -> None:
    for child in stack.control_worker.children():
        os.kill(child, signal.SIGKILL)


def kill_load(stack: Stack, _server: TestServer) -> None:
    stack.load_worker.kill()
    stack.load_worker.start()


def kill_load_children(stack: Stack, _server: TestServer) -> None:
    for child in stack.load_worker.children():
        os.kill(child, signal.SIGKILL)


def kill_server(_stack: Stack, server: TestServer) -> None:
    server.kill()
    server.start()


def flush_redis(stack: Stack, _server: TestServer) -> None:
    redis.Redis.from_url(stack.redis.url).flushall()


def how_many() -> int:
    """How many random moments to try: RANDOM_FAULTS."""
    return int(os.environ.get("RANDOM_FAULTS", "10"))


def random_moment(usual_seconds: float) -> float:
    """Seconds from a beginning to a moment before its usual end, which RANDOM_FAULTS_WITHIN may give otherwise."""
    return random.uniform(0, float(os.environ.get("RANDOM_FAULTS_WITHIN", usual_seconds)))
