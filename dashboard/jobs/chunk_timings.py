"""The loading times of an import's chunks for its page: data for a chart, a summary, and the slowest chunks."""

from dataclasses import dataclass
from typing import Any

from importer.engine.units import shown_seconds
from importer.history.chunks.timings import LAPS, ChunkTimings, chunk_timings
from importer.history.facts import FACTS
from importer.models import Chunk, ImportJob


@dataclass(frozen=True)
class SlowChunk:
    """One of the slowest chunks: its time, its ratio to the median, both as shown, and the phase that took longest."""

    chunk: Chunk
    seconds: float
    times: float
    phase: str
    phase_seconds: float


@dataclass(frozen=True)
class Timings:
    """The timings of all chunks and the slowest ones; `chart` is for the page's script: phase names and points."""

    all: ChunkTimings
    slowest: tuple[SlowChunk, ...]

    @property
    def together(self) -> int:
        """The greatest number of chunks that share a bar."""
        return max((each.last - each.first + 1 for each in self.all.points), default=0)

    @property
    def chart(self) -> dict[str, Any]:
        return {"phases": [lap_title(lap) for lap in LAPS], "points": self.all.as_json()["points"]}


def timings_of(job: ImportJob) -> Timings:
    """The timings of the chunks that are loaded."""
    measured = chunk_timings(job)
    chunks = {each.number: each for each in job.chunks.filter(number__in=measured.slowest)}
    # A retry with a staging table starts over: the slowest chunks of the record may no longer exist.
    return Timings(measured, tuple(_slow(chunks[each], measured.median) for each in measured.slowest if each in chunks))


def _slow(chunk: Chunk, median: float) -> SlowChunk:
    seconds = seconds_of(chunk)
    longest = max(chunk.timings, key=chunk.timings.__getitem__, default=LAPS[0])
    took = chunk.timings.get(longest, 0.0)
    shown = shown_seconds(median)
    return SlowChunk(chunk, seconds, shown_seconds(seconds) / shown if shown else 1.0, lap_title(longest), took)


def seconds_of(chunk: Chunk) -> float:
    """The seconds that the chunk took, everywhere on the pages: all parts of its load."""
    return float(sum(chunk.timings.values()))


def lap_title(lap: str) -> str:
    """The title of a part of a chunk's load, as the history names it."""
    fact = FACTS.get(f"phase_{lap}")
    return fact.title if fact else lap
