"""Detects regressions: imports that were clearly slower than their peers, and what has changed since those.

The rates are overall ones: putting keys back can be what has become slower.

Peers are the latest earlier imports into the same table of the same target that succeeded at their own pace
(models/outcomes/own_pace.py), with the same requested mode and options and about as many bytes. The planner's
decisions may differ: they are among the possible changes.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from importer.engine.units import count_of
from importer.history.collect import ChunkTotals, default_values, facts_of
from importer.history.facts import CHOSEN, FACTS, FILE, REQUESTED, SERVER, TABLE, Fact, Value
from importer.history.formatting import in_words
from importer.history.query import Condition, Op, Query, of_similar_size
from importer.history.read import column, rows
from importer.history.search import matching
from importer.history.slowdown_test import FEWEST, MOST, clearly_slower
from importer.models import ImportJob, JobRecord
from importer.models.outcomes.attempts import rounded
from importer.models.outcomes.own_pace import PACE_FACTS, at_own_pace

# The fact that is compared.
RATE = "overall_rows_per_second"
# Smaller losses are ignored.
LEAST_SECONDS = 1.0
# Most imports into the table that are searched for peers.
MOST_CANDIDATES = 200

# Facts that are measured or estimated and vary a little each time. A value counts as changed if it is more than a
# factor of _FAR_OUT outside the peers' range.
_MEASURED = (
    *("rows_before", "table_bytes_before", "index_bytes_before", "row_bytes", "key_ascending", "key_spread"),
    *("round_trip_ms", "line_bytes_per_second", "rejected_rows", "unchanged_rows", "skipped_rows", "retries", "deaths"),
)
_FAR_OUT = 1.5
# Facts that follow from others or repeat them less exactly, and the size, which is similar among peers.
_NOT_SAID = {"server_release", "held_back", "planned_parallelism", "file", "file_bytes", "data_bytes", "rows"}
_SET = tuple(
    each.name
    for each in (*CHOSEN, *SERVER, FACTS["software"], FACTS["native"], *TABLE, *FILE)
    if each.name not in _NOT_SAID and each.name not in _MEASURED
)
MOST_IN_WORDS = 5


@dataclass(frozen=True)
class Changed:
    """A fact with its value in peers of normal speed and its other value in this import."""

    fact: Fact
    before: Value
    after: Value

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Changed":
        return cls(FACTS[stored["fact"]], stored["before"], stored["after"])

    def as_json(self) -> dict[str, Any]:
        return {"fact": self.fact.name, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        name = self.fact.name
        return f"{self.fact.title} {in_words(name, self.before)} → {in_words(name, self.after)}"


@dataclass(frozen=True)
class PeerSpeed:
    """An import's rows per second and the `median` of its peers; `changed`: the changes since then if it is slower."""

    rows_per_second: float
    median: float
    imports: int
    slower: bool
    changed: tuple[Changed, ...] = ()

    @property
    def facts(self) -> dict[str, Value]:
        """The facts that the record stores."""
        return {
            "slower_than_like": self.slower,
            "like_imports": self.imports,
            "like_rows_per_second": rounded(self.median),
        }

    @property
    def words(self) -> str:
        """The comparison in one sentence."""
        rate, median = in_words(RATE, self.rows_per_second), in_words(RATE, self.median)
        against = f"{rate} against {median}, the median of {count_of(self.imports, 'import')} like it before"
        if not self.slower:
            return f"{against}."
        start = f"Slower than similar imports: {against}; "
        if not self.changed:
            return f"{start}no stored fact has changed since then."
        more = len(self.changed) - MOST_IN_WORDS
        shown = "; ".join(map(str, self.changed[:MOST_IN_WORDS]))
        return f"{start}since then changed: {shown}{f'; and {more} more' if more > 0 else ''}."

    def as_json(self) -> dict[str, Any]:
        """For reports; a contract (docs/history.md)."""
        return {
            "rows_per_second": self.rows_per_second,
            "median": rounded(self.median),
            "imports": self.imports,
            "changed": [each.as_json() for each in self.changed],
            "words": self.words,
        }


def regression(job: ImportJob) -> PeerSpeed | None:
    """The comparison with peers of an ended job that was clearly slower; None for any other job."""
    speed = recorded_peer_speed(job)
    return speed if speed and speed.slower else None


def recorded_peer_speed(job: ImportJob) -> PeerSpeed | None:
    """The speed of an ended job compared with its peers; None if it cannot be compared.

    Read from its record; before that is written, computed without the facts of its chunks. Trials of labs have no
    peers.
    """
    if not job.ended or job.trial_id:
        return None
    changed = JobRecord.objects.filter(pk=job.pk).values_list("changed", flat=True).first()
    if changed is None:
        return compare_with_peers(facts_of(job, ChunkTotals()))
    facts = rows([job.pk], (RATE, "slower_than_like", "like_imports", "like_rows_per_second"))[job.pk]
    if "slower_than_like" not in facts:
        return None
    return PeerSpeed(
        float(facts[RATE]),
        float(facts["like_rows_per_second"]),
        int(facts["like_imports"]),
        bool(facts["slower_than_like"]),
        tuple(Changed.from_json(each) for each in changed if each["fact"] in FACTS),
    )


def compare_with_peers(facts: dict[str, Value]) -> PeerSpeed | None:
    """Compare the import with these facts with its peers.

    None if it did not succeed at its own pace, or if it has fewer than FEWEST peers.
    """
    if not facts.get(RATE) or not at_own_pace(facts):
        return None
    alike = peers(facts)
    rates = [float(rate) for rate in column(RATE, alike).values()]
    if len(rates) < FEWEST:
        return None
    rate, median = float(facts[RATE]), statistics.median(rates)
    lost = float(facts["rows"]) / rate - float(facts["rows"]) / median
    slower = lost >= LEAST_SECONDS and clearly_slower(rate, rates)
    return PeerSpeed(rate, median, len(rates), slower, _changed(facts, alike) if slower else ())


def peers(facts: dict[str, Value]) -> list[int]:
    """The peers of the import with these facts: the latest before it, at most MOST."""
    conditions = (
        Condition("table", Op.IS, facts.get("table")),
        Condition("target", Op.IS, facts.get("target")),
        Condition("status", Op.IS, ImportJob.Status.SUCCEEDED.value),
        Condition("ended", Op.LESS, facts.get("ended", 0)),
        *of_similar_size(facts),
    )
    candidates = matching(Query(conditions))
    ended = column("ended", candidates)
    latest = sorted(candidates, key=lambda job: ended[job], reverse=True)[:MOST_CANDIDATES]
    alike: list[int] = []
    # Most often the latest MOST are all alike; their facts are some thousand rows less.
    while latest and len(alike) < MOST:
        looked_at, latest = latest[:MOST], latest[MOST:]
        alike += _alike(facts, looked_at)
    return alike[:MOST]


def _alike(facts: dict[str, Value], jobs: Sequence[int]) -> list[int]:
    """Those of the jobs that were requested with the same options, ran at their own pace, and have a rate."""
    known = rows(jobs, {*(each.name for each in REQUESTED), *PACE_FACTS, RATE})
    wanted = _requested(facts)
    alike = (job for job in jobs if _requested(known[job]) == wanted and at_own_pace(known[job]))
    return [job for job in alike if known[job].get(RATE)]


def _requested(facts: dict[str, Value]) -> dict[str, Value]:
    """The requested options; an option that the record does not know yet had its default value."""
    return default_values() | {each.name: facts[each.name] for each in REQUESTED if each.name in facts}


def _changed(facts: dict[str, Value], alike: Sequence[int]) -> tuple[Changed, ...]:
    """The facts with a value that no peer of normal speed had; only facts known of both."""
    known = rows(alike, [*_SET, *_MEASURED, "slower_than_like"])
    usual = [known[job] for job in alike if not known[job].get("slower_than_like")]
    changed = []
    for name in (*_SET, *_MEASURED):
        before = [each[name] for each in usual if name in each]
        if before and name in facts and _is_new(name, facts[name], before):
            was = _median(before) if name in _MEASURED else before[0]
            changed.append(Changed(FACTS[name], was, facts[name]))
    return tuple(changed)


def _median(values: Sequence[Value]) -> Value:
    median = statistics.median(map(float, values))
    return int(median) if median.is_integer() else median


def _is_new(name: str, value: Value, before: Sequence[Value]) -> bool:
    if name not in _MEASURED:
        return value not in before
    numbers = [float(each) for each in before]
    return not min(numbers) / _FAR_OUT <= float(value) <= max(numbers) * _FAR_OUT
