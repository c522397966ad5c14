"""The rows per second by the server's own counters, for the throughput curve of an import's page."""

from collections.abc import Iterable
from itertools import pairwise

from importer.diagnosis.watch import kept_counters
from importer.models import ImportJob

Point = tuple[float, int]


def server_rows(job: ImportJob) -> list[Point]:
    """Points of [seconds since the import began, rows per second], of all connections, while somebody watched.

    Of an import that has ended, those until its end; none once the looks at the server are no longer kept.
    """
    if job.started_at is None:
        return []
    end = job.finished_at.timestamp() if job.finished_at else float("inf")
    return list(_points(job, job.started_at.timestamp(), end))


def _points(job: ImportJob, origin: float, end: float) -> Iterable[Point]:
    """Each at the middle of the time between two looks."""
    for early, late in pairwise(kept_counters(job.target)):
        at = (early.at + late.at) / 2
        rate = late.per_second("rows_written", early)
        if rate is not None and origin <= at <= end:
            yield round(at - origin, 2), round(rate)
