"""Compares imports: differing settings, differing timings, and whether the timings clearly differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from importer.engine.plan.previous_imports import FEWEST
from importer.history.charts import TimingSpread
from importer.history.facts import CHOSEN, FILE, REQUESTED, RESULT, SERVER, TABLE, TIMINGS, Fact, Value
from importer.history.query import SIMILAR_SIZE, Condition, Op, Query, of_similar_size
from importer.history.read import column, columns, rows
from importer.history.search import matching
from importer.models import JobRecord
from importer.models.outcomes.own_pace import PACE_FACTS, at_own_pace, what_set_the_pace

# A smaller difference is not worth a change; runs of the same import can differ by as much.
CLEARLY = 1.1
# From this number of runs of each on, quartiles are compared instead of ranges, so that an outlier does not count.
MANY = 8
# Facts that are equal for runs of the same import. Other differences are chance, or the subject of the comparison.
ALIKE = ("settings_digest", "table", "target", "mode")


@dataclass(frozen=True)
class Difference:
    """A fact with its value in each import (None: unknown), in the order of the imports."""

    fact: Fact
    values: tuple[Value | None, ...]

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """For a timing: each value divided by the first import's; None where either is unknown or the first is 0."""
        first = self.values[0]
        return tuple(float(value) / float(first) if first and value is not None else None for value in self.values)


@dataclass(frozen=True)
class Verdict:
    """Whether an import's runs clearly differ from those of the first import, with the reason in words."""

    clear: bool
    words: str


@dataclass(frozen=True)
class Comparison:
    """Compared imports: the `settings` that differ (requested, chosen, file, table, server) and all known `timings`.

    `results`: what became of the rows, without what happened in none of the imports. `alike`: the settings that are
    equal in all imports. `runs`: for each import the rows per second of all runs of the same import (runs_like()),
    None if it did not succeed at its own pace. `sizes`: the bytes of the rows of each, 0 if they are unknown.
    `reasons`: the planner's reasons for each (importer.engine.plan.plan.Reason as JSON). `slower`: whether each was
    found slower than its peers (regressions.py).
    """

    jobs: tuple[int, ...]
    settings: tuple[Difference, ...]
    alike: tuple[Difference, ...]
    results: tuple[Difference, ...]
    timings: tuple[Difference, ...]
    runs: tuple[TimingSpread | None, ...]
    sizes: tuple[float, ...]
    reasons: tuple[list[dict[str, Any]], ...]
    slower: tuple[bool, ...]
    # For each import why its rate is not compared; "" if it is.
    apart: tuple[str, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each import after the first, compared with the first."""
        first, *others = zip(self.runs, self.sizes, self.slower, self.apart, strict=True)
        return tuple(
            _watched(first[2], slower)
            or _not_compared(first[3], apart)
            or _of_other_size(first[1], size)
            or _verdict(first[0], runs)
            for runs, size, slower, apart in others
        )

    @property
    def sure(self) -> bool:
        """Whether the runs of every other import clearly differ from those of the first."""
        return bool(self.verdicts) and all(each.clear for each in self.verdicts)


def compare(jobs: Sequence[int]) -> Comparison:
    """Compare two or more imports. All facts of an import without a record are unknown."""
    facts = rows(jobs)
    recorded = dict(JobRecord.objects.filter(pk__in=jobs).values_list("pk", "reasons"))
    settings = _side_by_side(facts, (*CHOSEN, *REQUESTED, *FILE, *TABLE, *SERVER))
    return Comparison(
        tuple(jobs),
        tuple(each for each in settings if len(set(each.values)) > 1),
        tuple(each for each in settings if len(set(each.values)) == 1 and each.values[0] is not None),
        tuple(each for each in _side_by_side(facts, RESULT) if set(each.values) - {None, 0}),
        tuple(each for each in _side_by_side(facts, TIMINGS) if set(each.values) != {None}),
        tuple(runs_like(facts[job]) for job in jobs),
        tuple(float(facts[job].get("data_bytes", 0)) for job in jobs),
        tuple(recorded.get(job, []) for job in jobs),
        tuple(bool(facts[job].get("slower_than_like")) for job in jobs),
        tuple(_why_apart(facts[job]) for job in jobs),
    )


def _side_by_side(imports: dict[int, dict[str, Value]], facts: Sequence[Fact]) -> list[Difference]:
    return [Difference(each, tuple(known.get(each.name) for known in imports.values())) for each in facts]


def runs_like(facts: dict[str, Value], timing: str = "overall_rows_per_second") -> TimingSpread | None:
    """A timing's spread over all runs of the import with these facts (ALIKE), of those of its size at their own pace.

    None if the import has no such timing itself, or did not run at its own pace.
    """
    if timing not in facts or not at_own_pace(facts):
        return None
    equal = (Condition(name, Op.IS, facts.get(name)) for name in ALIKE)
    alike = _at_own_pace(matching(Query((*equal, *of_similar_size(facts)))))
    took = column(timing, alike)
    return TimingSpread.of([float(took[job]) for job in alike if job in took])


def _at_own_pace(jobs: Sequence[int]) -> list[int]:
    known = columns(PACE_FACTS, jobs)
    return [job for job in jobs if at_own_pace({name: values.get(job) for name, values in known.items()})]


def _watched(first: bool, other: bool) -> Verdict | None:
    """The verdict if exactly one of the two imports is slower than its peers, else None."""
    if first is other:
        return None
    return Verdict(True, f"{'the first' if first else 'this one'} is clearly slower than the imports like it before")


def _why_apart(facts: dict[str, Value], timing: str = "overall_rows_per_second") -> str:
    """Why runs_like() has no runs of the import with these facts, in words; "" if it has."""
    return what_set_the_pace(facts) or ("" if timing in facts else "did not succeed, or has no record")


def _not_compared(first: str, other: str) -> Verdict | None:
    """The verdict if the pace of one of the imports tells nothing about its settings; or None."""
    whose = [f"{name} {why}" for name, why in (("the first", first), ("this one", other)) if why]
    return Verdict(False, f"{' and '.join(whose)}: its pace tells nothing about its settings") if whose else None


def _of_other_size(first: float, other: float) -> Verdict | None:
    """The verdict if the rates of the two imports say nothing about their settings, because of their sizes; or None."""
    if not (first and other) or max(first, other) <= SIMILAR_SIZE * min(first, other):
        return None
    words = f"the sizes differ by more than a factor of {SIMILAR_SIZE}, and a smaller import is slower by itself"
    return Verdict(False, words)


def _verdict(first: TimingSpread | None, other: TimingSpread | None) -> Verdict:
    if not (first and other):
        return Verdict(False, "no run of one of them is known")
    if first == other:
        return Verdict(False, f"both are among {first.jobs} runs of the same{_spread(first)}: it may be chance")
    if first.jobs == other.jobs == 1:
        return Verdict(False, "one run each: it may be chance")
    like_first = f"{first.jobs} of similar size like the first{_spread(first)}"
    known = f"{like_first}, {other.jobs} like this one{_spread(other)}"
    if doubt := doubts(first, other):
        return Verdict(False, f"{known}: {doubt}")
    return Verdict(True, f"{known}: the difference is clear")


def _spread(runs: TimingSpread) -> str:
    """The middle half of the runs as a share of their median, in words."""
    return f" (spread {100 * runs.share:.0f} %)" if runs.jobs > 1 else ""


def doubts(one: TimingSpread, other: TimingSpread) -> str:
    """Why two timings do not clearly differ, in words; "" if they do.

    They do with FEWEST runs of each, ranges that do not overlap (of MANY runs each: middle halves), and medians that
    differ by CLEARLY.
    """
    if min(one.jobs, other.jobs) < FEWEST:
        return f"with fewer than {FEWEST} runs of either, it may be chance"
    if _overlap(one, other):
        return "they overlap, so it may be chance"
    if max(one.median, other.median) < CLEARLY * min(one.median, other.median):
        return f"the medians differ by less than {100 * (CLEARLY - 1):.0f} %"
    return ""


def _overlap(one: TimingSpread, other: TimingSpread) -> bool:
    if min(one.jobs, other.jobs) >= MANY:
        return one.low <= other.high and other.low <= one.high
    return one.least <= other.most and other.least <= one.most
