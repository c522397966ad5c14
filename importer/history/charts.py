"""Data of the charts: settings against timings, a table's throughput over time, and the seconds of each phase."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from importer.history.facts import CHOSEN, PHASES, SERVER, TIMING, Fact, Value, fact
from importer.history.query import Query
from importer.history.read import FEW, column, columns, rows
from importer.history.search import in_order, matching

# Above this number of different values, they are grouped into ranges with equally many imports.
MOST_GROUPS = 24
MOST_CHANGES = 50
MOST_POINTS = 400
# The timings that add up to the duration of an import; the scan runs in parallel with the load.
STEPS = tuple(
    each for each in TIMING if each.name in ("waiting_seconds", "load_seconds", "index_seconds", "verify_seconds")
)
# What an import that loaded nothing lacks.
LOAD = fact("load_seconds")


class Point(NamedTuple):
    """An import on a chart; `colour` is None if the chart has no colour fact or the fact is unknown."""

    job: int
    x: Value
    y: Value
    colour: Value | None = None


@dataclass(frozen=True)
class Points:
    """The imports with both facts known, and the number of those left out."""

    points: tuple[Point, ...]
    left_out: int


@dataclass(frozen=True)
class TimingSpread:
    """A timing of several imports: the median, the middle half (`low` to `high`), and the extremes."""

    jobs: int
    median: float
    low: float
    high: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "TimingSpread":
        """The spread of the values, which must not be empty; quartiles are interpolated."""
        least, low, median, high, most = (float(each) for each in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
        return cls(len(values), median, low, high, least, most)

    @property
    def share(self) -> float:
        """The middle half as a share of the median; 0 if the median is 0."""
        return (self.high - self.low) / self.median if self.median else 0.0


@dataclass(frozen=True)
class Summary:
    """The imports whose setting lies from `value` to `upto` (usually equal), with the same `colour` if there is one."""

    value: Value
    upto: Value
    colour: Value | None
    spread: TimingSpread


@dataclass(frozen=True)
class Change:
    """The settings and server facts that changed between an import and the one before: each with both values."""

    job: int
    at: float
    facts: dict[str, tuple[Value, Value]]


@dataclass(frozen=True)
class Timeline:
    """A timing over time (x: seconds since 1970), and the latest changes of settings or server."""

    points: tuple[Point, ...]
    changes: tuple[Change, ...]


def points(query: Query, x: str, y: str, colour: str = "") -> Points:
    """The imports of a query by two facts, coloured by a third."""
    jobs = matching(query)
    xs, ys = column(x, jobs), column(y, jobs)
    colours = column(colour, jobs) if colour else {}
    both = [job for job in jobs if job in xs and job in ys]
    return Points(tuple(Point(job, xs[job], ys[job], colours.get(job)) for job in both), len(jobs) - len(both))


def thinned(drawn: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """About `most` points: evenly spaced ones of each group of equal x and colour, with the extremes of the group.

    The result can be a little longer than `most`, because one point of each small group stays.
    """
    every = -(-len(drawn) // most)
    groups: dict[tuple[Any, Any], list[Point]] = defaultdict(list)
    for point in drawn:
        groups[point.x, point.colour].append(point)
    if every < 2 or len(groups) > most // 2:
        return evenly(sorted(drawn, key=lambda point: (point.x, point.y)), most)
    return [point for group in groups.values() for point in _with_both_ends(group, every)]


def _with_both_ends(group: Sequence[Point], every: int) -> list[Point]:
    """The least, the greatest, and every `every`-th point between them."""
    ordered = sorted(group, key=lambda point: point.y)
    return ordered if len(ordered) < 3 else [*ordered[:-1:every], ordered[-1]]


def evenly(drawn: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """At most `most` evenly spaced points, in their order."""
    return list(drawn[:: max(1, -(-len(drawn) // most))])


def outline(drawn: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """About `most` points in the order of time: the least and the greatest of each stretch."""
    every = 2 * -(-len(drawn) // most)
    if every < 3:
        return list(drawn)
    outlined: list[Point] = []
    for start in range(0, len(drawn), every):
        part = sorted(drawn[start : start + every], key=lambda point: point.y)
        outlined += sorted({part[0], part[-1]}, key=lambda point: point.x)
    return outlined


def by_setting(query: Query, setting: str, timing: str, colour: str = "") -> tuple[Summary, ...]:
    """A timing's spread for each value of a setting and each colour. Raises Problem as fact() does."""
    return summaries(points(query, setting, timing, colour).points, numbers=fact(setting).kind.is_number)


def summaries(drawn: Iterable[Point], *, numbers: bool) -> tuple[Summary, ...]:
    """The spread of y for each x and colour of the points; with `numbers`, many x values are grouped into ranges."""
    drawn = list(drawn)
    ranges = _ranges({point.x for point in drawn}, drawn) if numbers else {}
    groups: dict[tuple[Any, Any, Any], list[float]] = defaultdict(list)
    for point in drawn:
        first, last = ranges.get(point.x, (point.x, point.x))
        groups[first, last, point.colour].append(float(point.y))
    ordered = sorted(groups.items(), key=lambda group: (group[0][0], group[0][2] is not None, group[0][2]))
    return tuple(Summary(*group, TimingSpread.of(values)) for group, values in ordered)


def _ranges(values: set[Value], drawn: Sequence[Point]) -> dict[Value, tuple[Value, Value]]:
    """The first and last value of each value's range; empty if there are at most MOST_GROUPS values."""
    if len(values) <= MOST_GROUPS:
        return {}
    ordered = sorted(values)
    borders = np.quantile([float(point.x) for point in drawn], np.linspace(0, 1, MOST_GROUPS + 1)[1:-1])
    members: dict[int, list[Value]] = defaultdict(list)
    for value, place in zip(ordered, np.searchsorted(borders, [float(each) for each in ordered]), strict=True):
        members[int(place)].append(value)
    return {value: (each[0], each[-1]) for each in members.values() for value in each}


def over_time(query: Query, timing: str = "rows_per_second") -> Timeline:
    """A timing in the order of time. Most useful for one table, because tables differ much."""
    jobs = matching(query)
    ended, took = column("ended", jobs), column(timing, jobs)
    drawn = sorted((ended[job], job) for job in jobs if job in ended and job in took)
    in_time = tuple(Point(job, at, took[job]) for at, job in drawn)
    return Timeline(in_time, _changes([(job, float(at)) for at, job in drawn]))


def _changes(drawn: Sequence[tuple[int, float]]) -> tuple[Change, ...]:
    """The latest changes. The digests show where to look, so that most settings need not be read."""
    jobs = [job for job, _ in drawn]
    digests = columns(("settings_digest", "server_digest"), jobs).values()
    differing = [
        (before, job, at)
        for (before, _), (job, at) in pairwise(drawn)
        if any(_differ(each.get(before), each.get(job)) for each in digests)
    ][-MOST_CHANGES:]
    watched = [each.name for each in (*CHOSEN, *SERVER)]
    facts = rows(sorted({job for before, job, _ in differing for job in (before, job)}), watched)
    changes = (Change(job, at, _changed(facts[before], facts[job])) for before, job, at in differing)
    return tuple(change for change in changes if change.facts)


def _changed(before: dict[str, Value], after: dict[str, Value]) -> dict[str, tuple[Value, Value]]:
    """Facts that are known of both and differ. A fact that only a later version stores is no change."""
    return {name: (before[name], after[name]) for name in after if name in before and before[name] != after[name]}


def _differ(one: Value | None, other: Value | None) -> bool:
    return one is not None and other is not None and one != other


def where_time_goes(query: Query, most: int = 60, of: Sequence[Fact] = PHASES) -> list[tuple[int, dict[str, float]]]:
    """The seconds of each phase (all chunks together) or of STEPS, for the first imports in the query's order."""
    jobs = in_order(query)[: min(most, FEW)]
    seconds = rows(jobs, [phase.name for phase in of])
    return [(job, {name: float(value) for name, value in seconds[job].items()}) for job in jobs]
