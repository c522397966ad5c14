"""How long the chunks of an import took, as its page shows it: a chart's data, a summary, and the slowest ones."""

from dataclasses import dataclass
from typing import Any

from importer.history.chunk_timings import LAPS, ChunkTimings, chunk_timings
from importer.history.facts import FACTS
from importer.models import Chunk, ImportJob


@dataclass(frozen=True)
class Slow:
    """One of the slowest chunks, how many times the median it took, and in which phase most of it went."""

    chunk: Chunk
    seconds: float
    times: float
    phase: str
    phase_seconds: float


@dataclass(frozen=True)
class Timings:
    """What there is to show; `chart` is for the page's script: names of the phases, and the points as lists."""

    all: ChunkTimings
    slowest: tuple[Slow, ...]

    @property
    def together(self) -> int:
        """The most chunks that stand behind one bar."""
        return max((each.last - each.first + 1 for each in self.all.points), default=0)

    @property
    def chart(self) -> dict[str, Any]:
        return {"phases": [_title(lap) for lap in LAPS], "points": self.all.as_json()["points"]}


def timings_of(job: ImportJob) -> Timings:
    """Of the chunks that are loaded."""
    measured = chunk_timings(job)
    chunks = {each.number: each for each in job.chunks.filter(number__in=measured.slowest)}
    # A retry of a mode that stages starts over: the record's slowest chunks may no longer exist.
    return Timings(measured, tuple(_slow(chunks[each], measured.median) for each in measured.slowest if each in chunks))


def _slow(chunk: Chunk, median: float) -> Slow:
    seconds = sum(chunk.timings.values())
    longest = max(chunk.timings, key=chunk.timings.__getitem__, default=LAPS[0])
    took = chunk.timings.get(longest, 0.0)
    return Slow(chunk, seconds, seconds / median if median else 1.0, _title(longest), took)


def _title(lap: str) -> str:
    fact = FACTS.get(f"phase_{lap}")
    return fact.title if fact else lap
