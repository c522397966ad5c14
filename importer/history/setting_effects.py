"""What made the difference: settings whose values are clearly apart, all else being alike; and what is untried.

Runs are compared within groups that are alike in every other setting, in server, mode and size. So one setting's gain
is not another's, and a group in which the setting has only one value says nothing.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import median
from typing import Any

from importer.engine.plan.option_specs import SPEED
from importer.history.charts import TimingSpread
from importer.history.compare import FEWEST, apart
from importer.history.facts import FACTS, Fact, Kind, Value
from importer.history.query import Query
from importer.history.read import FEW, rows
from importer.history.search import in_order

# A gain below that is not worth a change, and two runs of one and the same import may differ by as much.
CLEARLY = 1.1
# From so many runs each way on, a single odd one does not hide what all others say.
MANY = 8
SETTINGS = tuple(FACTS[each.name] for each in SPEED)
SURROUNDINGS = ("target", "table", "mode", "server_digest", "on_duplicate", "verify", "checks", "packing")
# A file of which a smaller share of neighbouring keys ascends is not in the order of the key.
IN_ORDER = 0.9
ABOUT_UNTRIED = ("secondary_keys", "key_ascending", "mode")
# What follows from another setting rather than being chosen beside it.
FOLLOWS = {"method": ("rows_per_statement",)}

Facts = Mapping[str, Value]
Group = dict[Value, list[float]]


@dataclass(frozen=True)
class Gain:
    """A setting's `value` beside another: `times` as fast in the median, by `better.jobs` runs against `other.jobs`.

    Both spreads are shares of the other value's median in the group of runs that each run belongs to.
    """

    fact: Fact
    value: Value
    against: Value
    better: TimingSpread
    other: TimingSpread

    @property
    def times(self) -> float:
        return self.better.median / self.other.median

    @property
    def spread(self) -> float:
        """The wider of the two middle halves, as a share of its median."""
        return max(self.better.share, self.other.share)


@dataclass(frozen=True)
class Untried:
    """What no import into the table has tried, in words, and the lab's grid that does."""

    words: str
    grid: str


@dataclass(frozen=True)
class Differences:
    """`gains`, the greatest first; `unclear` are settings that varied without one; of the newest `jobs` imports."""

    gains: tuple[Gain, ...]
    unclear: tuple[Fact, ...]
    jobs: int


def differences(query: Query, timing: str = "rows_per_second") -> Differences:
    """Of the newest imports that the query asks for, at most FEW; `timing` is one of which more is better."""
    told = [facts for facts in _newest(query, *SURROUNDINGS, timing, "data_bytes") if facts.get(timing)]
    varied = [each for each in SETTINGS if len({_value(each, facts) for facts in told} - {None}) > 1]
    found = {each: _greatest(each, told, timing) for each in varied}
    gains = sorted(filter(None, found.values()), key=lambda gain: -gain.times)
    return Differences(tuple(gains), tuple(each for each, gain in found.items() if gain is None), len(told))


def _newest(query: Query, *names: str) -> list[dict[str, Value]]:
    """These facts, and the settings, of at most FEW imports."""
    newest = in_order(Query(query.conditions))[:FEW]
    return list(rows(newest, {*(each.name for each in SETTINGS), *names}).values())


def _value(about: Fact, facts: Facts) -> Value | None:
    """What the fact is; of sizes the power of two next to it, since a planner cuts files of all sizes into chunks."""
    value = facts.get(about.name)
    if about.kind is Kind.BYTES and value:
        return int(2 ** round(math.log2(float(value))))
    return value


def _greatest(setting: Fact, told: Sequence[Facts], timing: str) -> Gain | None:
    groups = _groups(setting, told, timing)
    values = {value for group in groups for value in group}
    gains = (_gain(setting, groups, value, against) for value, against in permutations(values, 2))
    return max(filter(None, gains), key=lambda gain: gain.times, default=None)


def _groups(setting: Fact, told: Sequence[Facts], timing: str) -> list[Group]:
    """The timings by value, of runs that are alike but for the setting; only where there are two values."""
    left_out = (setting.name, *FOLLOWS.get(setting.name, ()))
    alike = [each for each in SETTINGS if each.name not in left_out]
    groups: dict[tuple[Any, ...], Group] = defaultdict(lambda: defaultdict(list))
    for facts in told:
        value = _value(setting, facts)
        if value is not None:
            key = (*(_value(each, facts) for each in alike), *map(facts.get, SURROUNDINGS), _size(facts))
            groups[key][value].append(float(facts[timing]))
    return [group for group in groups.values() if len(group) > 1]


def _size(facts: Facts) -> int:
    """A small import is over before a second session has begun: alike are those of about as many bytes."""
    return round(math.log(max(1.0, float(facts.get("data_bytes", 1))), 4))


def _gain(setting: Fact, groups: Sequence[Group], value: Value, against: Value) -> Gain | None:
    both = [(group[value], group[against]) for group in groups if value in group and against in group]
    if min(sum(len(one) for one, _ in both), sum(len(other) for _, other in both)) < FEWEST:
        return None
    usual = [median(other) for _, other in both]
    better = [run / of for (runs, _), of in zip(both, usual, strict=True) for run in runs]
    other = [run / of for (_, runs), of in zip(both, usual, strict=True) for run in runs]
    if median(better) < CLEARLY * median(other):
        return None
    gain = Gain(setting, value, against, TimingSpread.of(better), TimingSpread.of(other))
    return gain if _clear(gain.better, gain.other) else None


def _clear(better: TimingSpread, other: TimingSpread) -> bool:
    if min(better.jobs, other.jobs) >= MANY:
        return better.low > other.high
    return apart(better, other)


def untried(query: Query) -> Iterator[Untried]:
    """What the lab could try on the table that the query asks for, of what makes sense there."""
    told = _newest(query, *ABOUT_UNTRIED)
    if not told:
        return
    tried = {each.name: {_value(each, facts) for facts in told} - {None} for each in SETTINGS}
    newest = told[0]
    if newest.get("secondary_keys") and "defer" not in tried["indexes"]:
        yield Untried("secondary indexes put back after the load", "indexes")
    if newest.get("secondary_keys") and "keep" not in tried["indexes"]:
        yield Untried("secondary indexes kept on", "indexes")
    if len(tried["parallelism"]) == 1:
        yield Untried("another number of chunks at once", "chunks")
    if len(tried["chunk_bytes"]) == 1:
        yield Untried("another chunk size", "chunks")
    if "key" not in tried["sort"] and float(newest.get("key_ascending", 1)) < IN_ORDER:
        yield Untried("rows in the order of the primary key", "own")
    if newest.get("mode") == "create" and not tried["partitions"]:
        yield Untried("hash partitions", "partitions")
