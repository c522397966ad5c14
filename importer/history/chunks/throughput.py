"""Throughput over time, computed from the loading times of the chunks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

MOST_STEPS = 600


class Span(NamedTuple):
    """Rows and bytes that were loaded between two moments, in seconds since the job's start."""

    start: float
    end: float
    rows: int
    bytes: int = 0


@dataclass(frozen=True)
class Step:
    """The load between two moments, in seconds since the job's start; fractions of rows keep the sum exact."""

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
    """Divide the job's first `seconds` into at most `most_steps` steps of equal width; the last takes the remainder.

    Each span's rows are spread evenly over its time, so that a few long chunks give a curve and not a few spikes. The
    sum over all steps equals the sum over all spans. Spans outside [0, seconds] count at the nearer end.
    """
    if seconds <= 0:
        return []
    width = _width(seconds, most_steps)
    edges = [step * width for step in range(max(1, round(seconds / width)))] + [seconds]
    spread = _Spread(width, edges)
    for span in spans:
        spread.add(min(max(span.start, 0.0), seconds), min(max(span.end, 0.0), seconds), span.rows, span.bytes)
    amounts = zip(spread.rows.amounts(), spread.bytes.amounts(), strict=True)
    return [Step(start, end, *amount) for (start, end), amount in zip(pairwise(edges), amounts, strict=True)]


def _width(seconds: float, most_steps: int) -> float:
    """The smallest of 0.1, 0.2, 0.5, 1, 2, 5... seconds that needs at most `most_steps` steps."""
    least = max(seconds / most_steps, 0.1)
    power = 10.0 ** math.floor(math.log10(least))
    return min(width for factor in (1, 2, 5, 10) if (width := factor * power) >= least * (1 - 1e-9))


class _Sums:
    """An amount per step: amounts put into single steps, and differences of a flow that covers several steps."""

    def __init__(self, steps: int) -> None:
        self.put = [0.0] * steps
        self.changes = [0.0] * (steps + 1)

    def amounts(self) -> list[float]:
        flows = accumulate(self.changes[:-1])
        return [max(0.0, put + flow) for put, flow in zip(self.put, flows, strict=True)]


class _Spread:
    """Spreads rows and bytes over steps: the two steps at a span's ends directly, all between them by differences.

    The cost of a span is therefore constant for any number of steps.
    """

    def __init__(self, width: float, edges: list[float]) -> None:
        self.width, self.edges, self.last = width, edges, len(edges) - 2
        self.rows, self.bytes = _Sums(len(edges) - 1), _Sums(len(edges) - 1)

    def add(self, start: float, end: float, rows: float, size: float) -> None:
        first, last = min(int(start / self.width), self.last), min(int(end / self.width), self.last)
        if first >= last:
            self.rows.put[first] += rows
            self.bytes.put[first] += size
            return
        before, after = self.edges[first + 1] - start, end - self.edges[last]
        for sums, rate in ((self.rows, rows / (end - start)), (self.bytes, size / (end - start))):
            sums.put[first] += rate * before
            sums.put[last] += rate * after
            sums.changes[first + 1] += rate * self.width
            sums.changes[last] -= rate * self.width
