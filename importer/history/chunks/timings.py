"""The timings of an import's chunks, reduced to at most MOST_POINTS points for a chart."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest
from statistics import median
from typing import Any

from importer.history.chunks.map import count
from importer.history.facts import PHASES
from importer.models import Chunk, ImportJob, JobRecord

MOST_POINTS = 600
SLOWEST = 10
# Reading 10,000 chunks takes 0.4 s. Timings of more than MOST_READ chunks are stored in the record
# (importer.jobs.record).
MOST_READ = 2_000
# As Chunk.timings names them, in the order of their facts.
LAPS = tuple(each.name.removeprefix("phase_") for each in PHASES if each.name != "phase_wait")

# Number, attempt, rejected rows and Chunk.timings of a chunk that is loaded.
Timed = tuple[int, int, int, dict[str, float]]


@dataclass(frozen=True)
class ChunkPoint:
    """Neighbouring chunks, `first` to `last`: the mean seconds of each of LAPS, and the total seconds of the longest.

    `retried` chunks were tried again, and `rejected` rows left out.
    """

    first: int
    last: int
    laps: tuple[float, ...]
    longest: float
    retried: int
    rejected: int


@dataclass(frozen=True)
class ChunkTimings:
    """All loaded chunks: the median of their seconds, the points, and the numbers of the slowest, slowest first.

    `retried` and `rejected` count chunks that were tried again, and chunks with rejected rows.
    """

    chunks: int = 0
    median: float = 0.0
    points: tuple[ChunkPoint, ...] = ()
    slowest: tuple[int, ...] = ()
    retried: int = 0
    rejected: int = 0

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "ChunkTimings":
        points = tuple(ChunkPoint(first, last, tuple(laps), *rest) for first, last, laps, *rest in stored["points"])
        return cls(**stored | {"points": points, "slowest": tuple(stored["slowest"])})

    def as_json(self) -> dict[str, Any]:
        points = [tuple(vars(each).values()) for each in self.points]
        return vars(self) | {"points": points}


def chunk_timings(job: ImportJob) -> ChunkTimings:
    """The timings of the job's chunks: from the record if it has them, else read from the chunks."""
    recorded = JobRecord.objects.filter(pk=job.pk).values_list("chunk_timings", flat=True).first()
    return ChunkTimings.from_json(recorded) if recorded else read(job)


def to_keep(job: ImportJob) -> dict[str, Any]:
    """The timings to store in the record; empty for at most MOST_READ chunks, which are read each time."""
    return read(job).as_json() if count(job) > MOST_READ else {}


def read(job: ImportJob, most_points: int | None = None) -> ChunkTimings:
    """Read the timings from the chunks, as MOST_POINTS or fewer points."""
    loaded = Chunk.objects.filter(job=job, status=Chunk.Status.LOADED).order_by("number")
    rows = loaded.values_list("number", "attempt", "rejected_rows", "timings")
    return add_up(rows.iterator(chunk_size=5000), -(-count(job) // (most_points or MOST_POINTS)))


def add_up(chunks: Iterable[Timed], together: int) -> ChunkTimings:
    """Add up chunks in the order of their numbers; each point covers `together` consecutive numbers."""
    points: list[ChunkPoint] = []
    numbers: list[int] = []
    seconds: list[float] = []
    retried = rejected = 0
    group: list[Timed] = []
    for each in chunks:
        if group and each[0] // together != group[0][0] // together:
            points.append(_point(group))
            group = []
        group.append(each)
        number, attempt, left_out, timings = each
        numbers.append(number)
        seconds.append(sum(timings.values()))
        retried, rejected = retried + (attempt > 1), rejected + (left_out > 0)
    if not group:
        return ChunkTimings()
    points.append(_point(group))
    slowest = nlargest(SLOWEST, range(len(seconds)), key=seconds.__getitem__)
    middle = round(median(seconds), 6)
    return ChunkTimings(
        len(seconds), middle, tuple(points), tuple(numbers[each] for each in slowest), retried, rejected
    )


def _point(chunks: list[Timed]) -> ChunkPoint:
    spent: Counter[str] = Counter()
    for *_, timings in chunks:
        spent.update(timings)
    return ChunkPoint(
        chunks[0][0],
        chunks[-1][0],
        tuple(round(spent[lap] / len(chunks), 6) for lap in LAPS),
        round(max(sum(timings.values()) for *_, timings in chunks), 6),
        sum(attempt > 1 for _, attempt, *_ in chunks),
        sum(left_out for _, _, left_out, _ in chunks),
    )
