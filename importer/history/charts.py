"""What the charts draw: settings against timings, a table's throughput over time, where the time goes."""

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

# More different values than that are put together in ranges of equally many imports.
MOST_GROUPS = 24
MOST_CHANGES = 50
MOST_POINTS = 400
# What adds up to the time of an import; the scan runs beside the load.
STEPS = tuple(
    each for each in TIMING if each.name in ("waiting_seconds", "load_seconds", "index_seconds", "verify_seconds")
)


class Point(NamedTuple):
    """An import on a chart; `colour` is None where nothing colours it, or it is unknown."""

    job: int
    x: Value
    y: Value
    colour: Value | None = None


@dataclass(frozen=True)
class Points:
    """The imports of which both is known, and how many are left out because it is not."""

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
        """Quartiles between the values where no value lies on them; `values` must not be empty."""
        least, low, median, high, most = (float(each) for each in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
        return cls(len(values), median, low, high, least, most)

    @property
    def share(self) -> float:
        """The middle half as a share of the median; 0 where that is 0."""
        return (self.high - self.low) / self.median if self.median else 0.0


@dataclass(frozen=True)
class Summary:
    """The imports whose setting lies between `value` and `upto` (mostly the same), of one colour where it counts."""

    value: Value
    upto: Value
    colour: Value | None
    spread: TimingSpread


@dataclass(frozen=True)
class Change:
    """What an import was set to, or met, differently from the one before it: each fact with both values."""

    job: int
    at: float
    facts: dict[str, tuple[Value, Value]]


@dataclass(frozen=True)
class Timeline:
    """A timing over time, x being seconds since 1970, and where settings or server changed in between: the latest."""

    points: tuple[Point, ...]
    changes: tuple[Change, ...]


def points(query: Query, x: str, y: str, colour: str = "") -> Points:
    """Each import by two facts, coloured by a third."""
    found = matching(query)
    along, up = column(x, found), column(y, found)
    told = column(colour, found) if colour else {}
    both = [job for job in found if job in along and job in up]
    return Points(tuple(Point(job, along[job], up[job], told.get(job)) for job in both), len(found) - len(both))


def thinned(drawn: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """Evenly taken ones of each x and colour, the extremes among them, where there are more than `most`.

    About so many: of groups with a point or two, one stays.
    """
    every = -(-len(drawn) // most)
    groups: dict[tuple[Any, Any], list[Point]] = defaultdict(list)
    for point in drawn:
        groups[point.x, point.colour].append(point)
    if every < 2 or len(groups) > most // 2:
        return evenly(sorted(drawn, key=lambda point: (point.x, point.y)), most)
    return [point for group in groups.values() for point in _with_both_ends(group, every)]


def _with_both_ends(group: Sequence[Point], every: int) -> list[Point]:
    """The least, the greatest, and every so many-th between them."""
    ordered = sorted(group, key=lambda point: point.y)
    return ordered if len(ordered) < 3 else [*ordered[:-1:every], ordered[-1]]


def evenly(drawn: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """At most so many, as they follow each other."""
    return list(drawn[:: max(1, -(-len(drawn) // most))])


def outline(drawn: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """Points in the order of time, as few as can be drawn: of so many in a row, the least and the most."""
    every = 2 * -(-len(drawn) // most)
    if every < 3:
        return list(drawn)
    kept: list[Point] = []
    for start in range(0, len(drawn), every):
        part = sorted(drawn[start : start + every], key=lambda point: point.y)
        kept += sorted({part[0], part[-1]}, key=lambda point: point.x)
    return kept


def by_setting(query: Query, setting: str, timing: str, colour: str = "") -> tuple[Summary, ...]:
    """A timing's median and spread for each value of a setting, and each colour. Raises Problem for no number."""
    return summaries(points(query, setting, timing, colour).points, numbers=fact(setting).kind.is_number)


def summaries(drawn: Iterable[Point], *, numbers: bool) -> tuple[Summary, ...]:
    """The same of points that are there already; `numbers` may be put together in ranges."""
    drawn = list(drawn)
    ranges = _ranges({point.x for point in drawn}, drawn) if numbers else {}
    groups: dict[tuple[Any, Any, Any], list[float]] = defaultdict(list)
    for point in drawn:
        first, last = ranges.get(point.x, (point.x, point.x))
        groups[first, last, point.colour].append(float(point.y))
    ordered = sorted(groups.items(), key=lambda group: (group[0][0], group[0][2] is not None, group[0][2]))
    return tuple(Summary(*group, TimingSpread.of(values)) for group, values in ordered)


def _ranges(values: set[Value], drawn: Sequence[Point]) -> dict[Value, tuple[Value, Value]]:
    """The first and last value of the range that each value lies in; nothing where there are few values."""
    if len(values) <= MOST_GROUPS:
        return {}
    ordered = sorted(values)
    borders = np.quantile([float(point.x) for point in drawn], np.linspace(0, 1, MOST_GROUPS + 1)[1:-1])
    members: dict[int, list[Value]] = defaultdict(list)
    for value, place in zip(ordered, np.searchsorted(borders, [float(each) for each in ordered]), strict=True):
        members[int(place)].append(value)
    return {value: (each[0], each[-1]) for each in members.values() for value in each}


def over_time(query: Query, timing: str = "rows_per_second") -> Timeline:
    """A timing in the order of time; best asked of one table, since between tables much differs."""
    found = matching(query)
    ended, took = column("ended", found), column(timing, found)
    drawn = sorted((ended[job], job) for job in found if job in ended and job in took)
    told = tuple(Point(job, at, took[job]) for at, job in drawn)
    return Timeline(told, _changes([(job, float(at)) for at, job in drawn]))


def _changes(drawn: Sequence[tuple[int, float]]) -> tuple[Change, ...]:
    """The latest of them: where the digests differ, which tell without reading all settings of all imports."""
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
    """What is known of both and not the same: a fact that another version has begun to keep is no change."""
    return {name: (before[name], after[name]) for name in after if name in before and before[name] != after[name]}


def _differ(one: Value | None, other: Value | None) -> bool:
    return one is not None and other is not None and one != other


def where_time_goes(query: Query, most: int = 60, of: Sequence[Fact] = PHASES) -> list[tuple[int, dict[str, float]]]:
    """The seconds of each phase, of all chunks together, or of STEPS, of the first imports in the query's order."""
    found = in_order(query)[: min(most, FEW)]
    told = rows(found, [phase.name for phase in of])
    return [(job, {name: float(value) for name, value in told[job].items()}) for job in found]
