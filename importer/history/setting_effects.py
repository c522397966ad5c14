"""Finds settings whose values clearly differ in speed, all else being equal, and settings that were not tried yet.

Runs at their own pace are compared within groups that are equal in every other setting, and in CONDITIONS and SIZES. So
a gain belongs to one setting only, and a group in which the setting has a single value is ignored.
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
from importer.history.compare import doubts
from importer.history.facts import FACTS, Fact, Kind, Value
from importer.history.query import Query
from importer.history.read import FEW, rows
from importer.history.search import in_order
from importer.models.outcomes.own_pace import PACE_FACTS, at_own_pace

# Runs of each value in a group: each run counts relative to the median of one value there, and the median of a single
# run is that run, as if its speed were exact.
LEAST_IN_GROUP = 2
SETTINGS = tuple(FACTS[each.name] for each in SPEED)
CONDITIONS = (
    *("target", "table", "mode", "server_digest", "on_error", "on_duplicate", "verify", "packing"),
    *("unique_keys", "secondary_keys", "fulltext_keys", "spatial_keys", "table_foreign_keys", "insert_triggers"),
)
# Facts that are equal if they have the same size class. Small imports end before a second session begins; keys come off
# an empty table only, and cost more in a full one.
SIZES = ("data_bytes", "rows_before")
# A file is in key order if at least this share of neighbouring keys ascends.
IN_ORDER = 0.9
ABOUT_UNTRIED = ("secondary_keys", "key_ascending", "mode")
# Settings that follow from another setting instead of being chosen independently.
FOLLOWS = {"method": ("rows_per_statement",)}

Facts = Mapping[str, Value]
Group = dict[Value, list[float]]


@dataclass(frozen=True)
class Gain:
    """A setting's `value` that is `times` as fast (medians) as the value `against`.

    `better` and `other` are the spreads of the runs with either value. Each run counts relative to the median of the
    value `against` in its group.
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
    """A setting that no import into the table has tried, in words, and the lab's grid that tries it."""

    words: str
    grid: str


@dataclass(frozen=True)
class Differences:
    """`gains`, the greatest first; `unclear`: settings that varied without a gain; `jobs`: the imports compared."""

    gains: tuple[Gain, ...]
    unclear: tuple[Fact, ...]
    jobs: int


def differences(query: Query, timing: str = "overall_rows_per_second") -> Differences:
    """Compare the settings of the newest imports of the query, at most FEW, that ran at their own pace.

    Of `timing`, more is better.
    """
    newest = _newest(query, *CONDITIONS, *SIZES, *PACE_FACTS, timing)
    runs = [facts for facts in newest if facts.get(timing) and at_own_pace(facts)]
    varied = [each for each in SETTINGS if len({_value(each, facts) for facts in runs} - {None}) > 1]
    greatest = {each: _greatest(each, runs, timing) for each in varied}
    gains = sorted(filter(None, greatest.values()), key=lambda gain: -gain.times)
    return Differences(tuple(gains), tuple(each for each, gain in greatest.items() if gain is None), len(runs))


def _newest(query: Query, *names: str) -> list[dict[str, Value]]:
    """The named facts and all settings of the newest imports, at most FEW."""
    newest = in_order(Query(query.conditions))[:FEW]
    return list(rows(newest, {*(each.name for each in SETTINGS), *names}).values())


def _value(about: Fact, facts: Facts) -> Value | None:
    """The fact's value; sizes are rounded to a power of two, because the planner adapts chunk sizes to the file."""
    value = facts.get(about.name)
    if about.kind is Kind.BYTES and value:
        return int(2 ** round(math.log2(float(value))))
    return value


def _greatest(setting: Fact, runs: Sequence[Facts], timing: str) -> Gain | None:
    groups = _groups(setting, runs, timing)
    values = {value for group in groups for value in group}
    gains = (_gain(setting, groups, value, against) for value, against in permutations(values, 2))
    return max(filter(None, gains), key=lambda gain: gain.times, default=None)


def _groups(setting: Fact, runs: Sequence[Facts], timing: str) -> list[Group]:
    """Groups of runs that differ only in the setting: timings by value, for groups with at least two values."""
    left_out = (setting.name, *FOLLOWS.get(setting.name, ()))
    alike = [each for each in SETTINGS if each.name not in left_out]
    groups: dict[tuple[Any, ...], Group] = defaultdict(lambda: defaultdict(list))
    for facts in runs:
        value = _value(setting, facts)
        if value is not None:
            sizes = (_size(facts.get(name)) for name in SIZES)
            key = (*(_value(each, facts) for each in alike), *map(facts.get, CONDITIONS), *sizes)
            groups[key][value].append(float(facts[timing]))
    return [group for group in groups.values() if len(group) > 1]


def _size(amount: Value | None) -> int | None:
    """The size class: 0 for nothing, then powers of four; None for an unknown amount."""
    if not amount:
        return None if amount is None else 0
    return 1 + round(math.log(max(1.0, float(amount)), 4))


def _gain(setting: Fact, groups: Sequence[Group], value: Value, against: Value) -> Gain | None:
    pairs = [(group.get(value, []), group.get(against, [])) for group in groups]
    both = [pair for pair in pairs if min(map(len, pair)) >= LEAST_IN_GROUP]
    if not both:
        return None
    usual = [median(other) for _, other in both]
    better = [run / of for (runs, _), of in zip(both, usual, strict=True) for run in runs]
    other = [run / of for (_, runs), of in zip(both, usual, strict=True) for run in runs]
    gain = Gain(setting, value, against, TimingSpread.of(better), TimingSpread.of(other))
    return gain if gain.times > 1 and not doubts(gain.better, gain.other) else None


def untried(query: Query) -> Iterator[Untried]:
    """The settings that the lab could still try on the query's table, if they make sense for it."""
    imports = _newest(query, *ABOUT_UNTRIED)
    if not imports:
        return
    tried = {each.name: {_value(each, facts) for facts in imports} - {None} for each in SETTINGS}
    newest = imports[0]
    if newest.get("secondary_keys") and "defer" not in tried["indexes"]:
        yield Untried("secondary indexes put back after the load", "indexes")
    if newest.get("secondary_keys") and "keep" not in tried["indexes"]:
        yield Untried("secondary indexes kept on", "indexes")
    if len(tried["parallelism"]) == 1:
        yield Untried("another number of parallel chunks", "chunks")
    if len(tried["chunk_bytes"]) == 1:
        yield Untried("another chunk size", "chunks")
    if "key" not in tried["sort"] and float(newest.get("key_ascending", 1)) < IN_ORDER:
        yield Untried("rows in the order of the primary key", "own")
    if newest.get("mode") == "create" and not tried["partitions"]:
        yield Untried("hash partitions", "partitions")
