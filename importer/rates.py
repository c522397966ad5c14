"""Throughput over time, from when each chunk was loaded."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

MOST_STEPS = 600


@dataclass(frozen=True)
class Span:
    """Rows and bytes that were loaded between two moments (seconds since the job began)."""

    start: float
    end: float
    rows: int
    bytes: int = 0


@dataclass(frozen=True)
class Step:
    """What was loaded between two moments (seconds since the job began); parts of rows are kept, so that sums hold."""

    start: float
    end: float
    rows: float
    bytes: float

    @property
    def rows_per_second(self) -> float:
        return self.rows / (self.end - self.start)

    @property
    def bytes_per_second(self) -> float:
        return self.bytes / (self.end - self.start)


def throughput(spans: Iterable[Span], seconds: float, most_steps: int = MOST_STEPS) -> list[Step]:
    """The job's first `seconds` as at most `most_steps` steps of equal width (the last one takes the remainder).

    Each span's rows are spread evenly over its time, so a few long chunks give a curve and not a few spikes, and the
    rows of all steps together are the rows of all spans. What lies outside of [0, seconds] counts at the nearer end.
    """
    if seconds <= 0:
        return []
    width = _width(seconds, most_steps)
    edges = [step * width for step in range(max(1, round(seconds / width)))] + [seconds]
    rows, sizes = _Spread(width, edges), _Spread(width, edges)
    for span in spans:
        start, end = (min(max(moment, 0.0), seconds) for moment in (span.start, span.end))
        rows.add(start, end, span.rows)
        sizes.add(start, end, span.bytes)
    return [Step(*values) for values in zip(edges, edges[1:], rows.amounts(), sizes.amounts(), strict=False)]


def _width(seconds: float, most_steps: int) -> float:
    """The smallest of 0.1, 0.2, 0.5, 1, 2, 5... seconds that needs no more than `most_steps` steps."""
    least = max(seconds / most_steps, 0.1)
    power = 10.0 ** math.floor(math.log10(least))
    return min(width for factor in (1, 2, 5, 10) if (width := factor * power) >= least * (1 - 1e-9))


class _Spread:
    """Amounts spread over steps: the two steps at a span's ends by themselves, all between by differences.

    So a span costs the same however many steps it covers.
    """

    def __init__(self, width: float, edges: list[float]) -> None:
        self.width, self.edges = width, edges
        self.ends = [0.0] * (len(edges) - 1)
        self.changes = [0.0] * len(edges)

    def _step(self, moment: float) -> int:
        return min(int(moment / self.width), len(self.ends) - 1)

    def add(self, start: float, end: float, amount: float) -> None:
        first, last = self._step(start), self._step(end)
        if first >= last:
            self.ends[first] += amount
            return
        rate = amount / (end - start)
        self.ends[first] += rate * (self.edges[first + 1] - start)
        self.ends[last] += rate * (end - self.edges[last])
        self.changes[first + 1] += rate * self.width
        self.changes[last] -= rate * self.width

    def amounts(self) -> list[float]:
        between = accumulate(self.changes)
        return [max(0.0, end + covered) for end, covered in zip(self.ends, between, strict=False)]
