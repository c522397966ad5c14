"""The time axis of an import's throughput curve: its attempts one after another, without the time between them."""

from datetime import UTC, datetime
from itertools import accumulate
from typing import NamedTuple

from django.db.models import Case, FloatField, Min, Value, When

from importer.models import Chunk, ImportJob
from importer.models.outcomes.attempts import past_attempts, started_at


class Stretch(NamedTuple):
    """An attempt on the axis: when it began and ended, and the moment of its 0; each in seconds since 1970."""

    began: float
    ended: float
    zero: float


class Axis(NamedTuple):
    """The attempts on the axis, the first one first; at least one."""

    stretches: tuple[Stretch, ...]

    @property
    def zero_of_chunk(self) -> Case:
        """The 0 for a chunk that is loaded, in seconds since 1970, as the database finds it."""
        later = [
            When(finished_at__gte=datetime.fromtimestamp(each.began, UTC), then=Value(each.zero))
            for each in reversed(self.stretches[1:])
        ]
        return Case(*later, default=Value(self.stretches[0].zero), output_field=FloatField())

    @property
    def last_zero(self) -> float:
        """The 0 for what happens now."""
        return self.stretches[-1].zero

    def place(self, moment: float) -> float | None:
        """Where a moment is on the axis, both in seconds; None for one outside all attempts."""
        return next((moment - each.zero for each in self.stretches if each.began <= moment <= each.ended), None)


def axis_of(job: ImportJob) -> Axis | None:
    """The attempts from the one that committed the first chunk on, or else the last one; None before the first one.

    A mode that stages loads all chunks again with a retry, so its earlier attempts have none.
    """
    times = _times(job)
    loaded = Chunk.objects.filter(job=job, status=Chunk.Status.LOADED)
    first = loaded.aggregate(first=Min("finished_at"))["first"]
    before = [each for each in times if first is None or each[0] <= first.timestamp()]
    times = times[max(0, len(before) - 1) :]
    lengths = accumulate((ended - began for began, ended in times), initial=0.0)
    stretches = tuple(Stretch(*each, each[0] - past) for each, past in zip(times, lengths, strict=False))
    return Axis(stretches) if stretches else None


def _times(job: ImportJob) -> list[tuple[float, float]]:
    """When each attempt that got the table began and ended."""
    times = [
        (each.started_at.timestamp(), each.ended_at.timestamp())
        for each in past_attempts(job)
        if each.started_at and each.ended_at
    ]
    # Older versions kept no attempts.
    began = started_at(job) or (None if times else job.started_at)
    ended = job.finished_at.timestamp() if job.finished_at else float("inf")
    return [*times, (began.timestamp(), ended)] if began else times
