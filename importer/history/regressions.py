"""The watch: whether an import was clearly slower than its like, and what has changed since.

Its like are the latest imports before it into the same table of the same target that succeeded at their first try,
were asked for in the same way, mode and all options alike, and had about as many bytes. What the planner made of it may
differ: that is among what can have changed.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from importer.history.collect import ChunkTotals, default_values, facts_of
from importer.history.facts import CHOSEN, FACTS, FILE, REQUESTED, SERVER, TABLE, Fact, Value
from importer.history.formatting import in_words
from importer.history.query import Condition, Op, Query
from importer.history.read import column, rows
from importer.history.search import matching
from importer.history.slowdown_test import FEWEST, MOST, clearly_slower
from importer.models import ImportJob, JobRecord

# What each import costs whatever its size makes a smaller one slower by the row. Within these sizes that loses less
# than a third of this cost, so losses below a second are not looked at.
SIZES = 1.5
LEAST_SECONDS = 1.0
# So many imports into the table are looked through for those that were asked for in the same way.
MOST_CANDIDATES = 200

# Measured or estimated, so that they differ a little each time: a change is what lies so far out of what was usual.
_MEASURED = (
    *("rows_before", "table_bytes_before", "index_bytes_before", "row_bytes", "key_ascending", "key_spread"),
    *("round_trip_ms", "line_bytes_per_second", "rejected_rows", "skipped_rows", "retries", "deaths"),
)
_FAR_OUT = 1.5
# Said by others already, the more exact ones or those that they follow from; or the size of what is alike.
_NOT_SAID = {"server_release", "held_back", "planned_parallelism", "file", "file_bytes", "data_bytes", "rows"}
_SET = tuple(
    each.name
    for each in (*CHOSEN, *SERVER, FACTS["software"], FACTS["native"], *TABLE, *FILE)
    if each.name not in _NOT_SAID and each.name not in _MEASURED
)
MOST_IN_WORDS = 5


@dataclass(frozen=True)
class Changed:
    """A fact that had one value in the imports that were as fast as usual, and has another in this one."""

    fact: Fact
    before: Value
    after: Value

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Changed":
        return cls(FACTS[told["fact"]], told["before"], told["after"])

    def as_json(self) -> dict[str, Any]:
        return {"fact": self.fact.name, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        name = self.fact.name
        return f"{self.fact.title} {in_words(name, self.before)} → {in_words(name, self.after)}"


@dataclass(frozen=True)
class PeerSpeed:
    """An import's rows a second beside the `median` of the imports that are like it; `changed` where it is slower."""

    rows_per_second: float
    median: float
    imports: int
    slower: bool
    changed: tuple[Changed, ...] = ()

    @property
    def facts(self) -> dict[str, Value]:
        """What the record keeps of it."""
        return {
            "slower_than_like": self.slower,
            "like_imports": self.imports,
            "like_rows_per_second": round(self.median, 1),
        }

    @property
    def words(self) -> str:
        """One sentence."""
        rate, median = in_words("rows_per_second", self.rows_per_second), in_words("rows_per_second", self.median)
        if not self.slower:
            return f"{rate}; the median of {self.imports} imports like it is {median}."
        said = f"Slower than its like: {rate} against a median of {median} of {self.imports} imports; "
        if not self.changed:
            return f"{said}nothing that is kept has changed since then."
        more = len(self.changed) - MOST_IN_WORDS
        shown = "; ".join(map(str, self.changed[:MOST_IN_WORDS]))
        return f"{said}since then changed: {shown}{f'; and {more} more' if more > 0 else ''}."

    def as_json(self) -> dict[str, Any]:
        """For reports; a contract (docs/history.md)."""
        return {
            "rows_per_second": self.rows_per_second,
            "median": round(self.median, 1),
            "imports": self.imports,
            "changed": [each.as_json() for each in self.changed],
            "words": self.words,
        }


def regression(job: ImportJob) -> PeerSpeed | None:
    """What to tell of an ended job that was clearly slower than its like, in `words` too; None for any other."""
    told = recorded_peer_speed(job)
    return told if told and told.slower else None


def recorded_peer_speed(job: ImportJob) -> PeerSpeed | None:
    """How fast an ended job was beside its like; None where that cannot be said.

    As its record has it; where that is not written yet, as it would be but for what its chunks tell. Trials of labs
    have nothing to be held against.
    """
    if not job.ended or job.trial_id:
        return None
    changed = JobRecord.objects.filter(pk=job.pk).values_list("changed", flat=True).first()
    if changed is None:
        return compare_with_peers(facts_of(job, ChunkTotals()))
    facts = rows([job.pk], ("rows_per_second", "slower_than_like", "like_imports", "like_rows_per_second"))[job.pk]
    if "slower_than_like" not in facts:
        return None
    return PeerSpeed(
        float(facts["rows_per_second"]),
        float(facts["like_rows_per_second"]),
        int(facts["like_imports"]),
        bool(facts["slower_than_like"]),
        tuple(Changed.from_json(each) for each in changed if each["fact"] in FACTS),
    )


def compare_with_peers(facts: dict[str, Value]) -> PeerSpeed | None:
    """The import of these facts beside its like.

    None if it did not succeed, or its time is not that of the load alone (it was paused, or had to be retried), or if
    too few are like it.
    """
    if "rows_per_second" not in facts or facts.get("tries") != 1 or facts.get("pauses"):
        return None
    alike = peers(facts)
    rates = [float(rate) for rate in column("rows_per_second", alike).values()]
    if len(rates) < FEWEST:
        return None
    rate, median = float(facts["rows_per_second"]), statistics.median(rates)
    lost = float(facts["rows"]) / rate - float(facts["rows"]) / median
    slower = lost >= LEAST_SECONDS and clearly_slower(rate, rates)
    return PeerSpeed(rate, median, len(rates), slower, _changed(facts, alike) if slower else ())


def peers(facts: dict[str, Value]) -> list[int]:
    """The imports that are like the one of these facts, the latest before it, at most MOST."""
    size = float(facts.get("data_bytes", 0))
    conditions = (
        Condition("table", Op.IS, facts.get("table")),
        Condition("target", Op.IS, facts.get("target")),
        Condition("status", Op.IS, ImportJob.Status.SUCCEEDED.value),
        Condition("ended", Op.LESS, facts.get("ended", 0)),
        Condition("tries", Op.IS, 1),
        Condition("data_bytes", Op.AT_LEAST, size / SIZES),
        Condition("data_bytes", Op.AT_MOST, size * SIZES),
    )
    found = matching(Query(conditions))
    ended = column("ended", found)
    latest = sorted(found, key=lambda job: ended[job], reverse=True)[:MOST_CANDIDATES]
    told = rows(latest, [*(each.name for each in REQUESTED), "pauses", "rows_per_second"])
    wanted = _asked(facts)
    alike = (job for job in latest if _asked(told[job]) == wanted and not told[job].get("pauses"))
    return [job for job in alike if "rows_per_second" in told[job]][:MOST]


def _asked(facts: dict[str, Value]) -> dict[str, Value]:
    """An option that is younger than the record was as it is where nobody asks for it."""
    return default_values() | {each.name: facts[each.name] for each in REQUESTED if each.name in facts}


def _changed(facts: dict[str, Value], alike: Sequence[int]) -> tuple[Changed, ...]:
    """What none of the imports like it had that were as fast as usual, of what is known of both."""
    told = rows(alike, [*_SET, *_MEASURED, "slower_than_like"])
    usual = [told[job] for job in alike if not told[job].get("slower_than_like")]
    found = []
    for name in (*_SET, *_MEASURED):
        before = [each[name] for each in usual if name in each]
        if before and name in facts and _is_new(name, facts[name], before):
            was = _median(before) if name in _MEASURED else before[0]
            found.append(Changed(FACTS[name], was, facts[name]))
    return tuple(found)


def _median(values: Sequence[Value]) -> Value:
    median = statistics.median(map(float, values))
    return int(median) if median.is_integer() else median


def _is_new(name: str, value: Value, before: Sequence[Value]) -> bool:
    if name not in _MEASURED:
        return value not in before
    numbers = [float(each) for each in before]
    return not min(numbers) / _FAR_OUT <= float(value) <= max(numbers) * _FAR_OUT
