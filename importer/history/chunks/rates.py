"""The throughput curve of a job's page, summed in the database: jobs may have 10,000 chunks."""

from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField, Case, F, Max, Min, Sum, When
from django.db.models.functions import Cast, Coalesce

from importer.history.chunks.axis import Axis, axis_of
from importer.history.chunks.map import count
from importer.history.chunks.throughput import Span, throughput
from importer.history.chunks.unix_seconds import UnixSeconds
from importer.models import Chunk, ImportJob, JobRecord
from importer.models.job import COMMITTED_ROWS

# Finer than the screen shows, but coarse enough that single chunks do not make the curve jitter.
MOST_POINTS = 240
# With more chunks, the database sums groups of them: a fortieth of a point is not visible.
MOST_SPANS = 10_000


def rates(job: ImportJob, now: datetime) -> dict[str, Any]:
    """Committed rows and bytes per second over a job's time (chunks.axis), for a chart.

    `points`: at most MOST_POINTS of [seconds, rows per second, bytes per second]. `seconds`: the length of the curve.
    After `settled` (seconds) the curve may still rise: chunks in flight count only when they are committed.
    """
    return kept_rates(job) if job.chunks_removed_at else read_rates(job, now)


def kept_rates(job: ImportJob) -> dict[str, Any]:
    """The curve that the record keeps of chunks that are deleted."""
    kept: dict[str, Any] = JobRecord.objects.values_list("kept_chunks", flat=True).get(pk=job.pk)["rates"]
    return kept


def read_rates(job: ImportJob, now: datetime, most_points: int = MOST_POINTS) -> dict[str, Any]:
    """The curve as rates() returns it, read from the chunks."""
    axis = axis_of(job)
    spans = _spans(job, axis) if axis else []
    if not axis or not spans:
        return {"points": [], "seconds": 0, "settled": 0}
    end = max(span.end for span in spans)
    if job.status == ImportJob.Status.LOADING:
        end = max(end, now.timestamp() - axis.last_zero)
    return {
        "points": [
            [round((step.start + step.end) / 2, 2), round(step.rows_per_second), round(step.bytes_per_second)]
            for step in throughput(spans, end, most_points)
        ],
        "seconds": round(end, 2),
        "settled": round(_oldest_in_flight(job, axis.last_zero, end), 2),
    }


def _spans(job: ImportJob, axis: Axis) -> list[Span]:
    """The loading time of each committed chunk, in seconds on the axis.

    With more than MOST_SPANS chunks, neighbours are merged, from the start of the first to the end of the last.
    """
    together = -(-count(job) // MOST_SPANS)
    loaded = Chunk.objects.filter(job=job, status=Chunk.Status.LOADED, finished_at__isnull=False).order_by()
    zero = axis.zero_of_chunk
    end = UnixSeconds("finished_at") - zero
    begin = Coalesce(UnixSeconds("started_at") - zero, end)
    if together <= 1:
        return [Span(*values) for values in loaded.values_list(begin, end, COMMITTED_ROWS, "length")]
    # A retried chunk stays a span of its own: it was loaded at another time than its neighbours. So do attempts.
    # The cast makes the unsigned number signed: MySQL refuses an unsigned difference below 0.
    alone = When(attempt__gt=1, then=-1 - Cast(F("number"), BigIntegerField()))
    groups = loaded.values(group=Case(alone, default=F("number") - F("number") % together), zero=zero).annotate(
        begin=Min(begin), end=Max(end), loaded=Sum(COMMITTED_ROWS), bytes=Sum("length")
    )
    return [Span(*values) for values in groups.values_list("begin", "end", "loaded", "bytes")]


def _oldest_in_flight(job: ImportJob, origin: float, otherwise: float) -> float:
    loading = Chunk.objects.filter(job=job, status=Chunk.Status.LOADING)
    begin = loading.aggregate(begin=Min(UnixSeconds("started_at")))["begin"]
    return otherwise if begin is None else begin - origin
