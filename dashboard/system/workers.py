"""The page Workers: which are alive, on which hosts, with their versions, slots and load."""

from collections.abc import Sequence
from dataclasses import dataclass

import redis
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.version import VERSION
from importer.access.policy import seen
from importer.models import Chunk, ImportJob, Target
from importer.worker.hosts import presence
from importer.worker.hosts.installation import idle_queues

LARGEST_DIFFERENCE = 10  # seconds between two clocks: a lease lasts for 60


@dataclass(frozen=True)
class Overview:
    """The live workers by name; None if Redis does not answer. `idle_queues`: those that no worker serves."""

    workers: Sequence[presence.Worker] | None
    idle_queues: tuple[str, ...] = ()

    @property
    def idle_labels(self) -> dict[str, list[str]]:
        """The labels that no loading or no control worker has, of targets that the person may see, with their names."""
        served = self._labels_of("load") & self._labels_of("control")
        idle: dict[str, list[str]] = {}
        labelled = seen(Target.objects.registered()).exclude(label="").order_by("name")
        for label, name in labelled.values_list("label", "name"):
            if label not in served:
                idle.setdefault(label, []).append(name)
        return idle

    @property
    def loading(self) -> dict[str, list[int]]:
        """By host: the imports of which its workers load chunks now, of those that the person may see."""
        chunks = Chunk.objects.filter(status=Chunk.Status.LOADING, job__in=seen(ImportJob.objects.all()))
        found: dict[str, list[int]] = {}
        for worker, job in chunks.order_by("job").values_list("worker", "job").distinct():
            found.setdefault(worker.partition("@")[2], []).append(job)
        return found

    def _labels_of(self, role: str) -> set[str]:
        return {label for worker in self.workers or () if worker.role == role for label in worker.labels}

    @property
    def versions(self) -> list[str]:
        """The versions that run: those of the workers and that of this web process; more than one during an update."""
        return sorted({VERSION, *(worker.version for worker in self.workers or ())})

    @property
    def wrong_clocks(self) -> dict[str, int]:
        """By host: the seconds by which its clock is ahead of this host's, if they are many."""
        ahead = {worker.host: round(worker.ahead) for worker in self.workers or ()}
        return {host: seconds for host, seconds in ahead.items() if abs(seconds) > LARGEST_DIFFERENCE}


def overview() -> Overview:
    """The present state of the workers."""
    try:
        workers = presence.live_workers()
    except redis.RedisError:
        return Overview(None)
    return Overview(workers, idle_queues(workers))


@require_safe
@never_cache
def workers(request: HttpRequest) -> HttpResponse:
    """The whole page."""
    return render(request, "system/workers.html", {"seen": overview(), "own_version": VERSION})
