"""Who loads what: the runs of chunks that are in flight, each with its process and the rate of the last minute."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Min, Sum

from dashboard.jobs.cards.chunk_details import Process, process_of
from importer.models import Chunk, ImportJob
from importer.models.job import COMMITTED_ROWS

RECENT_SECONDS = 60


@dataclass(frozen=True)
class Loader:
    """A run of chunks in flight: `first` to `last`, `chunks` of them, since when, and the target's connection.

    `rows_per_second`: what its process has committed within the last minute, per second of loading; None for nothing.
    """

    process: Process | None
    first: int
    last: int
    chunks: int
    since: datetime
    connection: int | None
    rows_per_second: float | None


def loaders(job: ImportJob, now: datetime) -> list[Loader]:
    """The runs in flight in the file's order, with two queries; without one of a job that does not load."""
    if job.ended:
        return []
    runs = (
        job.chunks.filter(status=Chunk.Status.LOADING, started_at__isnull=False)
        .order_by()
        .values("run", "worker")
        .annotate(
            first=Min("number"),
            last=Max("number"),
            chunks=Count("pk"),
            since=Min("started_at"),
            connection=Max("connection_id"),
        )
        .order_by("first")
    )
    columns = ("worker", "first", "last", "chunks", "since", "connection")
    found = list(runs.values_list(*columns))
    rates = _rates(job, now) if found else {}
    return [
        Loader(process_of(worker), first, last, chunks, since, connection, rates.get(worker))
        for worker, first, last, chunks, since, connection in found
    ]


def _rates(job: ImportJob, now: datetime) -> dict[str, float]:
    recent = job.chunks.filter(
        status=Chunk.Status.LOADED, finished_at__gt=now - timedelta(seconds=RECENT_SECONDS), started_at__isnull=False
    ).exclude(worker="")
    sums = (
        recent.order_by()
        .values("worker")
        .annotate(rows=Sum(COMMITTED_ROWS), began=Min("started_at"), ended=Max("finished_at"))
    )
    return {
        worker: rows / max((ended - began).total_seconds(), 0.001)
        for worker, rows, began, ended in sums.values_list("worker", "rows", "began", "ended")
    }
