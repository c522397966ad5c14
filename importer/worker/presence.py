"""Which workers are alive, how many tasks each runs at once, and from which queues: as Redis keys that expire."""

import os
import socket
import sys
from collections.abc import Iterable
from typing import Any

from importer.worker import shutdown
from importer.worker.live_progress import connection, unreadable

PREFIX = "millrace:worker:"
QUEUE_PREFIX = "millrace:queue:"
# A worker writes every 5 s (`--heartbeat-interval`, scripts/processes.py).
SILENCE_SECONDS = 20


def announce(name: str, processes: int, queues: Iterable[str] = ()) -> None:
    """Record that the worker `name` (load@host, control@host) runs `processes` tasks at once from the queues."""
    pipeline = connection().pipeline(transaction=False)
    pipeline.set(PREFIX + name, processes, ex=SILENCE_SECONDS)
    for queue in queues:
        pipeline.set(f"{QUEUE_PREFIX}{queue}:{name}", processes, ex=SILENCE_SECONDS)
    pipeline.execute()


def withdraw(name: str, queues: Iterable[str] = ()) -> None:
    """Record that the worker `name` has ended."""
    connection().delete(PREFIX + name, *(f"{QUEUE_PREFIX}{queue}:{name}" for queue in queues))


def served_queues() -> set[str]:
    """The queues that a worker announced within SILENCE_SECONDS takes tasks from.

    Raises redis.RedisError if Redis does not answer.
    """
    keys = connection().scan_iter(match=f"{QUEUE_PREFIX}*")
    return {key.decode().removeprefix(QUEUE_PREFIX).partition(":")[0] for key in keys}


def live_workers() -> list[str]:
    """Names of the workers that were announced within SILENCE_SECONDS.

    Raises redis.RedisError if Redis does not answer.
    """
    return sorted(key.decode().removeprefix(PREFIX) for key in connection().scan_iter(match=f"{PREFIX}*"))


def parallel_loads() -> int:
    """How many chunks all live workers can load at the same time; 0 if Redis is away or holds something else."""
    try:
        names = [PREFIX + name for name in live_workers() if name.startswith("load@")]
        # A key may have expired between the two calls.
        return sum(int(processes or 0) for processes in connection().mget(names)) if names else 0
    except unreadable():
        return 0


def slots_by_role() -> dict[str, list[int]]:
    """How many tasks each live worker runs at once, by role (load, scan, control).

    Raises redis.RedisError if Redis does not answer.
    """
    names = live_workers()
    slots: dict[str, list[int]] = {}
    for name, processes in zip(
        names, connection().mget([PREFIX + name for name in names]) if names else [], strict=True
    ):
        slots.setdefault(name.partition("@")[0], []).append(int(processes or 0))
    return slots


def connect_signals() -> None:
    """Connect the handlers of a worker's start, heartbeat and end. Called once, where a worker loads its tasks."""
    from celery.signals import celeryd_after_setup, worker_shutdown, worker_shutting_down

    celeryd_after_setup.connect(_worker_started)
    worker_shutting_down.connect(_worker_shutting_down)
    worker_shutdown.connect(_worker_ended)


def _worker_started(instance: Any, **_: object) -> None:
    from celery.signals import heartbeat_sent

    def renew(**_: object) -> None:
        announce(instance.hostname, instance.concurrency, _queues(instance.app))

    heartbeat_sent.connect(renew, weak=False)


def _worker_shutting_down(**_: object) -> None:
    shutdown.request()


def _worker_ended(sender: Any, **_: object) -> None:
    withdraw(sender.hostname, _queues(sender.app))


def _queues(app: Any) -> list[str]:
    """The names of the queues that this worker takes tasks from (its option --queues)."""
    return list(app.amqp.queues.consume_from)


if __name__ == "__main__":
    # Health check of a container: `python -m importer.worker.presence load` succeeds while this host's worker is alive.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(f"{sys.argv[1]}@{socket.gethostname()}" not in live_workers())
