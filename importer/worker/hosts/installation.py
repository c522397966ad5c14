"""Whether the installation is well: its workers, its queues, its store, and the disk with the least free space."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import redis
from django.conf import settings

from importer.sources.room import Disk, fullest_disk
from importer.sources.store.file_store import file_store
from importer.worker.hosts import presence

ASKED_EVERY = 10.0  # seconds


@dataclass(frozen=True)
class State:
    """The state of the installation. `workers`: None if Redis does not answer; `idle_queues`: that no worker serves.

    `several_versions`: the live workers do not all have one version.
    `store_answers`: also without a store.
    """

    disk: Disk
    workers: int | None
    parallel_chunks: int
    idle_queues: tuple[str, ...]
    several_versions: bool = False
    store_answers: bool = True

    @property
    def halts(self) -> str:
        """Why imports wait for a part of the installation, in sentences; "" if they do not."""
        workers = f"{self.cause}: imports wait." if self.cause else ""
        store = "" if self.store_answers else "The store does not answer: uploads and imports wait."
        return " ".join(filter(None, (workers, store)))

    @property
    def cause(self) -> str:
        """Why work waits for workers, as the start of a sentence; "" if each queue has one."""
        if self.workers is None:
            return "Redis does not answer"
        if not self.workers:
            return "No worker is running"
        return f"No worker serves {', '.join(self.idle_queues)}" if self.idle_queues else ""

    @property
    def stopped(self) -> str:
        """Why what is overdue has not begun, as the start of a sentence; known only if something is."""
        return self.cause or "The scheduler is not running"

    def serves(self, queue: str) -> bool:
        """Whether a worker takes messages of this queue."""
        return bool(self.workers) and queue not in self.idle_queues

    @property
    def free(self) -> int:
        """The free bytes of the disk, down to two digits: a page need not change with each file."""
        unit: int = 10 ** max(0, len(str(self.disk.free)) - 2)
        return self.disk.free // unit * unit


def state() -> State:
    """The present state."""
    disk, answers = fullest_disk(), _store_answers(int(time.monotonic() // ASKED_EVERY))
    try:
        workers = presence.live_workers()
    except redis.RedisError:
        return State(disk, None, 0, (), store_answers=answers)
    several = len({worker.version for worker in workers}) > 1
    return State(disk, len(workers), presence.parallel_loads(), idle_queues(workers), several, answers)


def idle_queues(workers: Iterable[presence.Worker]) -> tuple[str, ...]:
    """The queues that imports need, and that none of the workers serves."""
    return tuple(sorted(queue_names() - {queue for worker in workers for queue in worker.queues}))


@lru_cache(maxsize=1)
def _store_answers(_period: int) -> bool:
    """Whether the store answers. Each process asks once in a period: pages ask every few seconds."""
    store = file_store()
    return store is None or store.answers()


def queue_names() -> set[str]:
    """The queues that imports need, each of which a live worker must serve."""
    routed: set[str] = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()}
    return routed | {settings.CELERY_TASK_DEFAULT_QUEUE}
