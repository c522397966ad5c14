"""What made the difference, in words: the gains of settings, with runs and spread, and what nobody has tried yet."""

from dataclasses import dataclass

from dashboard.history.address import View
from dashboard.history.values import short, title
from importer.history.difference import Differences, Gain, differences, untried
from importer.history.facts import FACTS, Kind
from importer.history.query import Condition, Op, Query

RATES = (Kind.ROWS_PER_SECOND, Kind.BYTES_PER_SECOND)
MOST_TABLES = 8


@dataclass(frozen=True)
class Said:
    """A gain: what was set, how much faster it was, and what that rests on."""

    setting: str
    times: str
    evidence: str


@dataclass(frozen=True)
class Told:
    """Of one table; where none is chosen, only `tables` to choose from: name, imports, and address."""

    tables: list[tuple[str, int, str]]
    timing: str = ""
    gains: tuple[Said, ...] = ()
    unclear: str = ""
    untried: str = ""
    grid: str = ""
    found: Differences | None = None


def told_of(view: View, tables: list[tuple[str, int]]) -> Told:
    """What the imports of the view tell, once they are of one table."""
    if not view.table:
        return Told([(name, count, view.but(table=name)) for name, count in tables[:MOST_TABLES]])
    timing = view.y if FACTS[view.y].kind in RATES else "rows_per_second"
    found = differences(view.query, timing)
    missing = list(untried(Query((Condition("table", Op.IS, view.table),))))
    return Told(
        [],
        FACTS[timing].title.lower(),
        tuple(map(_said, found.gains)),
        ", ".join(title(each.name) for each in found.unclear),
        "; ".join(each.words for each in missing),
        missing[0].grid if missing else "",
        found,
    )


def _said(gain: Gain) -> Said:
    name = gain.fact.name
    about = "about " if gain.fact.kind is Kind.BYTES else ""
    setting = f"{title(name)}: {about}{short(name, gain.value)} instead of {about}{short(name, gain.against)}"
    evidence = f"{gain.better.jobs:,} against {gain.other.jobs:,} imports, spread {gain.spread:.0%}"
    return Said(setting, f"{gain.times:.2g} times", evidence)
