"""Whether the installation is well: its workers, its queues, and the disk with the least free space."""

from dataclasses import dataclass

import redis
from django.conf import settings

from importer.sources.room import Disk, fullest_disk
from importer.worker import presence


@dataclass(frozen=True)
class System:
    """The state of the installation. `workers`: None if Redis does not answer; `idle_queues`: that no worker serves."""

    disk: Disk
    workers: int | None
    parallel_chunks: int
    idle_queues: tuple[str, ...]

    @property
    def is_well(self) -> bool:
        """Whether nothing keeps imports from running."""
        return bool(self.workers) and not self.idle_queues and not self.disk.is_low


def system() -> System:
    """The present state."""
    disk = fullest_disk()
    try:
        workers, served = len(presence.live_workers()), presence.served_queues()
    except redis.RedisError:
        return System(disk, None, 0, ())
    queues = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()} | {settings.CELERY_TASK_DEFAULT_QUEUE}
    return System(disk, workers, presence.parallel_loads(), tuple(sorted(queues - served)))
