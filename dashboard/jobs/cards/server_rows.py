"""The rows per second by the server's own counters, for the throughput curve of an import's page."""

from collections.abc import Iterable
from itertools import pairwise

from importer.diagnosis.watch import kept_counters
from importer.engine.mysql.diagnosis.counters import Counters
from importer.history.chunks.axis import Axis, axis_of
from importer.models import ImportJob

Point = tuple[float, int]


def server_rows(job: ImportJob) -> list[Point]:
    """Points of [seconds on the axis of the curve, rows per second], of all connections, while somebody watched.

    Those of the attempts of the import; none once the looks at the server are no longer kept.
    """
    counters = kept_counters(job.target) if job.started_at else []
    axis = axis_of(job) if counters else None
    return list(_points(counters, axis)) if axis else []


def _points(counters: Iterable[Counters], axis: Axis) -> Iterable[Point]:
    """Each at the middle of the time between two looks."""
    for early, late in pairwise(counters):
        at = axis.place((early.at + late.at) / 2)
        rate = late.per_second("rows_written", early)
        if rate is not None and at is not None:
            yield round(at, 2), round(rate)
