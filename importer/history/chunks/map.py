"""The chunk map of a job's page, summed in the database: jobs may have 10,000 chunks."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, Count, F, IntegerField, Max, Q, Sum, Value, When

from importer.history.chunks.unix_seconds import UnixSeconds
from importer.models import Chunk, ImportJob, JobRecord

MOST_CELLS = 240
# Imports whose groups of chunks a process remembers for a second.
MOST_REMEMBERED = 32
SPEED_STEPS = 4

# The states of cells in a chunk map, best first: a cell for several chunks shows the worst of their states.
STATES = ("loaded", "pending", "queued", "retried", "loading", "failed")
LOADED = STATES.index("loaded")
_WAITS_AGAIN = Q(lease__isnull=False) | Q(deaths__gt=0) | Q(attempt__gt=1)
_RANK = Case(
    When(status=Chunk.Status.FAILED, then=Value(STATES.index("failed"))),
    When(status=Chunk.Status.LOADING, then=Value(STATES.index("loading"))),
    When(status=Chunk.Status.LOADED, attempt__gt=1, then=Value(STATES.index("retried"))),
    When(status=Chunk.Status.LOADED, then=Value(STATES.index("loaded"))),
    When(status=Chunk.Status.QUEUED, attempt__gt=0, then=Value(STATES.index("retried"))),
    When(status=Chunk.Status.QUEUED, then=Value(STATES.index("queued"))),
    # An attempt alone does not mean a retry: a chunk that was cancelled has one too, and did not fail.
    When(_WAITS_AGAIN, then=Value(STATES.index("retried"))),
    default=Value(STATES.index("pending")),
    output_field=IntegerField(),
)


_SECONDS = UnixSeconds("finished_at") - UnixSeconds("started_at")


@dataclass(frozen=True)
class Cell:
    """A cell of the map: chunks `first` to `last`, their worst state, their speed (1 slow to 4 fast, 0 none), and their
    bytes.
    """

    first: int
    last: int
    state: str
    speed: int = 0
    bytes: int = 0

    @property
    def style(self) -> str:
        """The CSS class of the cell."""
        return f"speed-{self.speed}" if self.speed else self.state


@dataclass(frozen=True)
class ChunkMap:
    """All chunks of a job as at most MOST_CELLS cells, and the number of chunks in each state."""

    cells: tuple[Cell, ...]
    # Estimated number of cells for chunks that the scan has not cut yet.
    to_come: int
    chunks_per_cell: int
    counts: dict[str, int]
    loaded: int
    # Attempts after the first, summed over all chunks.
    retries: int

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "ChunkMap":
        return cls(**stored | {"cells": tuple(Cell(*each) for each in stored["cells"])})

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"cells": [tuple(vars(each).values()) for each in self.cells]}

    @property
    def chunks(self) -> int:
        return sum(self.counts.values())

    @property
    def last_number(self) -> int:
        return self.cells[-1].last if self.cells else 0

    @property
    def drawn(self) -> str:
        """The cells as the page's script draws them: the last chunk, bytes and style of each."""
        return " ".join(f"{each.last}:{each.bytes}:{each.style}" for each in self.cells)


class _Group(NamedTuple):
    """The chunks of one cell that are in one state; `seconds` is the sum of their loading times.

    `cell`: the number of the first chunk of the cell.
    """

    cell: int
    rank: int
    chunks: int
    loaded: int
    retries: int | None
    rows: int
    bytes: int
    seconds: float | None


def chunk_map(job: ImportJob) -> ChunkMap:
    """The map of a job's chunks, with two queries for any number of chunks."""
    if job.chunks_removed_at:
        return ChunkMap.from_json(JobRecord.objects.values_list("kept_chunks", flat=True).get(pk=job.pk)["map"])
    return read_map(job)


def read_map(job: ImportJob, most_cells: int = MOST_CELLS) -> ChunkMap:
    """The map, read from the chunks."""
    chunks = count(job)
    expected = chunks if job.scan_finished or job.ended else chunks + _chunks_to_come(job)
    per_cell = max(1, _divide_up(expected, most_cells))
    groups = _groups(job.pk, job.key, job.version, per_cell, int(time.monotonic()))
    cells = _cells(groups)
    return ChunkMap(
        cells=cells,
        to_come=max(0, _divide_up(expected, per_cell) - len(cells)),
        chunks_per_cell=per_cell,
        counts={
            state: sum(group.chunks for group in groups if group.rank == rank) for rank, state in enumerate(STATES)
        },
        loaded=sum(group.loaded for group in groups),
        retries=sum(group.retries or 0 for group in groups),
    )


def _chunks_to_come(job: ImportJob) -> int:
    """Estimated number of chunks yet to be cut, all of full size: only the first chunks of a file are smaller."""
    return _divide_up(max(0, job.read_size - job.scanned_bytes), job.plan_json["chunk_bytes"])


@lru_cache(MOST_REMEMBERED)
def _groups(job: int, _key: UUID, _version: int, per_cell: int, _second: int) -> tuple[_Group, ...]:
    """The chunks by cell and state. Viewers who poll in step share the answer of one second and one version."""
    groups = (
        Chunk.objects.filter(job=job)
        .values(cell=F("number") - F("number") % per_cell, rank=_RANK)
        .annotate(
            chunks=Count("pk"),
            loaded=Count("pk", filter=Q(status=Chunk.Status.LOADED)),
            retries=Sum(F("attempt") - 1, filter=Q(attempt__gt=1)),
            total_rows=Sum("rows"),
            bytes=Sum("length"),
            seconds=Sum(_SECONDS, filter=Q(status=Chunk.Status.LOADED)),
        )
        .order_by("cell", "rank")
    )
    columns = ("cell", "rank", "chunks", "loaded", "retries", "total_rows", "bytes", "seconds")
    return tuple(_Group(*values) for values in groups.values_list(*columns))


def _cells(groups: Sequence[_Group]) -> tuple[Cell, ...]:
    cells = [list(same_cell) for _, same_cell in groupby(groups, key=lambda group: group.cell)]
    top = top_speed([_per_second(worst.rows, worst.seconds) for *_, worst in cells if worst.rank == LOADED])
    return tuple(_cell(each, top) for each in cells)


def _cell(groups: Sequence[_Group], top: float) -> Cell:
    worst = groups[-1]
    speed = speed_step(_per_second(worst.rows, worst.seconds), top) if worst.rank == LOADED else 0
    last = worst.cell + sum(each.chunks for each in groups) - 1
    return Cell(worst.cell, last, STATES[worst.rank], speed, sum(each.bytes for each in groups))


def _per_second(amount: float | None, seconds: float | None) -> float:
    return (amount or 0) / max(seconds or 0, 0.001)


def top_speed(speeds: list[float]) -> float:
    """The speed that counts as full: the 95th percentile, so that one fast outlier does not make the rest look slow."""
    return sorted(speeds)[int(0.95 * (len(speeds) - 1))] if speeds else 0


def speed_step(speed: float, top: float) -> int:
    """The speed as a step from 1 (up to a quarter of full speed) to SPEED_STEPS."""
    return min(SPEED_STEPS, 1 + int(SPEED_STEPS * speed / top)) if top else SPEED_STEPS


def count(job: ImportJob) -> int:
    """The number of chunks cut so far; they are numbered from 0."""
    last = Chunk.objects.filter(job=job).aggregate(last=Max("number"))["last"]
    return 0 if last is None else int(last) + 1


def _divide_up(amount: int, by: int) -> int:
    return -(-amount // by)
