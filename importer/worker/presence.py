"""Which workers are alive, and how many tasks each runs at once: every worker writes a Redis key that expires."""

import os
import socket
import sys
from typing import Any

import redis

from importer.worker import shutdown
from importer.worker.live_progress import connection

PREFIX = "millrace:worker:"
# A worker writes every 5 s (`--heartbeat-interval`, scripts/processes.py).
SILENCE_SECONDS = 20


def announce(name: str, processes: int) -> None:
    """Record that the worker `name` (load@host, control@host) is alive and runs `processes` tasks at once."""
    connection().set(PREFIX + name, processes, ex=SILENCE_SECONDS)


def withdraw(name: str) -> None:
    """Record that the worker `name` has ended."""
    connection().delete(PREFIX + name)


def live_workers() -> list[str]:
    """Names of the workers that were announced within SILENCE_SECONDS.

    Raises redis.RedisError if Redis does not answer.
    """
    return sorted(key.decode().removeprefix(PREFIX) for key in connection().scan_iter(match=f"{PREFIX}*"))


def parallel_loads() -> int:
    """How many chunks all live workers can load at the same time; 0 if Redis does not answer."""
    try:
        names = [PREFIX + name for name in live_workers() if name.startswith("load@")]
        # A key may have expired between the two calls.
        return sum(int(processes or 0) for processes in connection().mget(names)) if names else 0
    except redis.RedisError:
        return 0


def connect_signals() -> None:
    """Connect the handlers of a worker's start, heartbeat and end. Called once, where a worker loads its tasks."""
    from celery.signals import celeryd_after_setup, worker_shutdown, worker_shutting_down

    celeryd_after_setup.connect(_worker_started)
    worker_shutting_down.connect(_worker_shutting_down)
    worker_shutdown.connect(_worker_ended)


def _worker_started(instance: Any, **_: object) -> None:
    from celery.signals import heartbeat_sent

    def renew(**_: object) -> None:
        announce(instance.hostname, instance.concurrency)

    heartbeat_sent.connect(renew, weak=False)


def _worker_shutting_down(**_: object) -> None:
    shutdown.request()


def _worker_ended(sender: Any, **_: object) -> None:
    withdraw(sender.hostname)


if __name__ == "__main__":
    # Health check of a container: `python -m importer.worker.presence load` succeeds while this host's worker is alive.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(f"{sys.argv[1]}@{socket.gethostname()}" not in live_workers())
