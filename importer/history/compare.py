"""Imports side by side: what differed in settings, what in timings, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from importer.history.charts import TimingSpread
from importer.history.facts import CHOSEN, FILE, REQUESTED, SERVER, TABLE, TIMINGS, Fact, Value
from importer.history.query import Condition, Op, Query
from importer.history.read import column, rows
from importer.history.search import matching
from importer.models import JobRecord

# As many runs each way as the planner asks for before it goes by them (importer.engine.plan.previous_imports).
FEWEST = 2
# What makes two imports runs of the same: the rest of what differs between them is chance, or what is looked for.
ALIKE = ("settings_digest", "table", "target", "mode")


@dataclass(frozen=True)
class Difference:
    """A fact with its value in each import, None where it is unknown, in the order of the imports."""

    fact: Fact
    values: tuple[Value | None, ...]

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """Of a timing: how many times the first import's value each one's is; None where that cannot be told."""
        first = self.values[0]
        return tuple(float(value) / float(first) if first and value is not None else None for value in self.values)


@dataclass(frozen=True)
class Verdict:
    """Whether an import's runs and those of the first one are clearly apart, and how that is known: half a sentence."""

    clear: bool
    words: str


@dataclass(frozen=True)
class Comparison:
    """`settings` that differ, of what was asked for and chosen, of file, table and server; all `timings` that any has.

    `alike` are the settings that are the same in all of them. `runs` are the rows a second of all imports that are like
    each one (ALIKE), None where it did not succeed. `reasons` are the planner's for each (importer.engine.plan.Reason
    as JSON). `slower`: whether the watch has found it slower than its like.
    """

    jobs: tuple[int, ...]
    settings: tuple[Difference, ...]
    alike: tuple[Difference, ...]
    timings: tuple[Difference, ...]
    runs: tuple[TimingSpread | None, ...]
    reasons: tuple[list[dict[str, Any]], ...]
    slower: tuple[bool, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Each import beside the first, but for that itself."""
        first, *others = zip(self.runs, self.slower, strict=True)
        return tuple(_watched(first[1], slower) or _verdict(first[0], runs) for runs, slower in others)

    @property
    def sure(self) -> bool:
        """Whether the runs of the first import and those of each other one are clearly apart."""
        return bool(self.verdicts) and all(each.clear for each in self.verdicts)


def compare(jobs: Sequence[int]) -> Comparison:
    """Two or more imports; one without a record knows nothing."""
    told = rows(jobs)
    kept = dict(JobRecord.objects.filter(pk__in=jobs).values_list("pk", "reasons"))
    settings = _side_by_side(told, (*CHOSEN, *REQUESTED, *FILE, *TABLE, *SERVER))
    return Comparison(
        tuple(jobs),
        tuple(each for each in settings if len(set(each.values)) > 1),
        tuple(each for each in settings if len(set(each.values)) == 1 and each.values[0] is not None),
        tuple(each for each in _side_by_side(told, TIMINGS) if set(each.values) != {None}),
        tuple(runs_like(told[job]) for job in jobs),
        tuple(kept.get(job, []) for job in jobs),
        tuple(bool(told[job].get("slower_than_like")) for job in jobs),
    )


def _side_by_side(told: dict[int, dict[str, Value]], facts: Sequence[Fact]) -> list[Difference]:
    return [Difference(each, tuple(facts.get(each.name) for facts in told.values())) for each in facts]


def runs_like(facts: dict[str, Value], timing: str = "rows_per_second") -> TimingSpread | None:
    """A timing of all imports that are like the one of these facts, itself included; None if it has none itself."""
    if timing not in facts:
        return None
    alike = matching(Query(tuple(Condition(name, Op.IS, facts.get(name)) for name in ALIKE)))
    took = column(timing, alike)
    return TimingSpread.of([float(took[job]) for job in alike if job in took])


def _watched(first: bool, other: bool) -> Verdict | None:
    """Where one of the two is slower than its like, and the other is not."""
    if first is other:
        return None
    return Verdict(True, f"{'the first' if first else 'this one'} is clearly slower than the imports like it before")


def _verdict(first: TimingSpread | None, other: TimingSpread | None) -> Verdict:
    if not (first and other):
        return Verdict(False, "only imports that succeeded have a rate to compare")
    if first == other:
        return Verdict(False, f"both are among {first.jobs} runs of the same{_spread(first)}: it may be chance")
    if first.jobs == other.jobs == 1:
        return Verdict(False, "one run each: it may be chance")
    known = f"{first.jobs} like the first{_spread(first)}, {other.jobs} like this one{_spread(other)}"
    if min(first.jobs, other.jobs) < FEWEST:
        return Verdict(False, f"{known}: it may be chance")
    clear = apart(first, other)
    return Verdict(clear, f"{known}: {'the difference is clear' if clear else 'they overlap, so it may be chance'}")


def _spread(runs: TimingSpread) -> str:
    """The middle half of them as a share of their median."""
    return f" (spread {100 * runs.share:.0f} %)" if runs.jobs > 1 else ""


def apart(one: TimingSpread, other: TimingSpread) -> bool:
    """Whether two timings differ by more than chance: runs enough, and not one of either among those of the other."""
    return min(one.jobs, other.jobs) >= FEWEST and (one.least > other.most or other.least > one.most)
