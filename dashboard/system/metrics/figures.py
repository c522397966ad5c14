"""The figures of one scrape, from the application's tables, Redis and the disks: all web processes report the same."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

import redis
from django.conf import settings
from django.db.models import Count, F, Min, Q, Sum
from django.utils import timezone

from importer import queue
from importer.models import Chunk, ImportJob, Notification, SourceFile, Total
from importer.sources import room
from importer.sources.store.file_store import FileStore, file_store
from importer.worker.hosts import presence
from importer.worker.hosts.installation import queue_names

# The targets that have labels of their own: the first that were loaded into. Further ones are together under OTHER, so
# that the number of series has a bound, and no series ever falls.
MOST_TARGETS = 50
OTHER = "other"


class Figures:
    """What metrics are read from, each part once in a scrape, when the first metric asks for it."""

    @cached_property
    def now(self) -> datetime:
        """The time of the scrape."""
        return timezone.now()

    @cached_property
    def _totals(self) -> list[tuple[str, str, str, float]]:
        rows = list(Total.objects.order_by("pk").values_list("name", "target", "kind", "amount"))
        named = set(list(dict.fromkeys(target for _, target, _, _ in rows if target))[:MOST_TARGETS])
        return [
            (name, target if target in named or not target else OTHER, kind, amount)
            for name, target, kind, amount in rows
        ]

    def totals(self, name: Total.Name, *by: str) -> Iterator[tuple[tuple[str, ...], float]]:
        """The totals of a name, added up by `target`, `kind` or both."""
        sums: dict[tuple[str, ...], float] = {}
        for counted, target, kind, amount in self._totals:
            if counted == name:
                labels = tuple({"target": target, "kind": kind}[each] for each in by)
                sums[labels] = sums.get(labels, 0) + amount
        yield from sums.items()

    def imports_by_state(self) -> dict[str, int]:
        """The imports that are kept, for each state."""
        counts = ImportJob.objects.order_by().values_list("status").annotate(Count("pk"))
        return dict.fromkeys(ImportJob.Status.values, 0) | dict(counts)

    def chunks_in_flight(self) -> dict[str, int]:
        """The chunks that wait for a worker, or that one loads."""
        states = [str(each) for each in Chunk.IN_FLIGHT]
        counts = Chunk.objects.filter(status__in=states).order_by().values_list("status").annotate(Count("pk"))
        return dict.fromkeys(states, 0) | dict(counts)

    def queue_age(self) -> float:
        """Seconds since the oldest import that has its table, and that no worker has taken yet, could begin.

        One whose file has still to arrive waits for its sender, not for a worker.
        """
        untaken = Q(status=ImportJob.Status.LOADING, taken_at=None)
        without_bytes = Q(source__status=SourceFile.Status.UPLOADING, source__received__lt=F("awaits_bytes"))
        could_begin = ImportJob.objects.filter(untaken).exclude(without_bytes)
        oldest = could_begin.aggregate(oldest=Min("attempt_started_at"))["oldest"]
        return self._seconds_since(oldest)

    def outbox(self) -> dict[str, int]:
        """The messages of channels that wait, and those that were given up."""
        states = [str(each) for each in (Notification.Status.WAITING, Notification.Status.GIVEN_UP)]
        counts = Notification.objects.filter(status__in=states).order_by().values_list("status").annotate(Count("pk"))
        return dict.fromkeys(states, 0) | dict(counts)

    def outbox_lag(self) -> float:
        """Seconds since the event of the oldest message that waits."""
        waiting = Notification.objects.filter(status=Notification.Status.WAITING)
        return self._seconds_since(waiting.aggregate(oldest=Min("created_at"))["oldest"])

    @cached_property
    def workers(self) -> Sequence[presence.Worker] | None:
        """The live workers; None if Redis does not answer."""
        try:
            return presence.live_workers()
        except redis.RedisError:
            return None

    def of_workers(self, by: Callable[[presence.Worker], str], count: Callable[[presence.Worker], int]) -> Counter[str]:
        """The counts of the live workers, added up by a property of them."""
        sums: Counter[str] = Counter()
        for worker in self.workers or ():
            sums[by(worker)] += count(worker)
        return sums

    @cached_property
    def messages(self) -> Mapping[str, int]:
        """The messages in each queue that no worker has taken; none if Redis does not answer."""
        names = sorted(queue_names())
        pipeline = queue.connection().pipeline(transaction=False)
        for name in names:
            pipeline.llen(name)  # The list of a queue has its name (kombu, transport/redis.py).
        try:
            return dict(zip(names, pipeline.execute(), strict=True))
        except redis.RedisError:
            return {}

    @cached_property
    def store(self) -> FileStore | None:
        """The store of this installation; None without one."""
        return file_store()

    def stored_bytes(self) -> int:
        """The bytes of the files that are kept in the store."""
        kept = SourceFile.objects.exclude(store_etag="").aggregate(bytes=Sum("size", default=0))
        return int(kept["bytes"])

    def disks(self) -> Iterable[tuple[str, room.Disk]]:
        """The disk of each folder that Millrace writes to, by the folder's setting."""
        return [(name, room.disk_of(Path(getattr(settings, name)))) for name in room.WRITTEN]

    def _seconds_since(self, moment: datetime | None) -> float:
        return max(0.0, (self.now - moment).total_seconds()) if moment else 0.0
