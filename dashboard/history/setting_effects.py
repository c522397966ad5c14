"""The effects of settings in words: gains, with runs and spread, and settings that no import has tried yet."""

from dataclasses import dataclass
from urllib.parse import urlencode

from dashboard.formatting import factor
from dashboard.history.labels import short, title
from dashboard.history.url_state import View
from importer.engine.plan.previous_imports import FEWEST
from importer.engine.units import count_of
from importer.history.facts import FACTS, Kind
from importer.history.query import Condition, Op, Query
from importer.history.regressions import regression
from importer.history.search import in_order
from importer.history.setting_effects import Differences, Gain, differences, untried
from importer.models import ImportJob
from importer.models.outcomes.own_pace import IN_WORDS

RATES = (Kind.ROWS_PER_SECOND, Kind.BYTES_PER_SECOND)
MOST_TABLES = 8
MOST_SLOWER = 2
# Further fields of the lab's form, by grid.
LAB_DEFAULTS = {"own": {"set_sort": "keep, key"}}


@dataclass(frozen=True)
class Effect:
    """A gain in words: the setting, how much faster it was, and the evidence."""

    setting: str
    times: str
    evidence: str


@dataclass(frozen=True)
class EffectReport:
    """The effects of settings on imports into one table; without a chosen table, only `tables` to choose from.
    Each of `tables` is a name, its number of imports, and the address of the view of it.

    `lab` is the query string of a new lab that tries the untried settings; "" without an import to base it on.
    `fewest`: the runs of each value that a gain needs; `pace`: which imports count. `slower`: the newest imports that
    were slower than their peers, each with what has changed since then.
    """

    tables: list[tuple[str, int, str]]
    table: str = ""
    timing: str = ""
    gains: tuple[Effect, ...] = ()
    unclear: str = ""
    untried: str = ""
    lab: str = ""
    differences: Differences | None = None
    fewest: int = FEWEST
    pace: str = IN_WORDS
    slower: tuple[tuple[int, str], ...] = ()


def effect_report(view: View, tables: list[tuple[str, int]]) -> EffectReport:
    """The effects among the view's imports into the chosen table, or into the only one."""
    table = tables[0][0] if len(tables) == 1 else view.table
    if not table:
        return EffectReport([(name, count, view.but(table=name)) for name, count in tables[:MOST_TABLES]])
    # A setting can save loading time and cost more when keys are built.
    timing = view.y if FACTS[view.y].kind in RATES and view.y != "rows_per_second" else "overall_rows_per_second"
    effects = differences(view.query, timing)
    into = Condition("table", Op.IS, table)
    missing = list(untried(Query((into,))))
    return EffectReport(
        [],
        table,
        FACTS[timing].title.lower(),
        tuple(map(_effect, effects.gains)),
        ", ".join(title(each.name) for each in effects.unclear),
        "; ".join(each.words for each in missing),
        _lab(into, missing[0].grid if missing else ""),
        effects,
        slower=_slower(view.query),
    )


def _slower(query: Query) -> tuple[tuple[int, str], ...]:
    flagged = in_order(Query((*query.conditions, Condition("slower_than_like", Op.IS, True))))[:MOST_SLOWER]
    judged = [(job.pk, regression(job)) for job in ImportJob.objects.filter(pk__in=flagged).order_by("-pk")]
    return tuple((pk, speed.words) for pk, speed in judged if speed)


def _lab(into: Condition, grid: str) -> str:
    newest = in_order(Query((into, Condition("status", Op.IS, "succeeded"))))[:1]
    return urlencode({"job": newest[0], "grid": grid, **LAB_DEFAULTS.get(grid, {})}) if newest else ""


def _effect(gain: Gain) -> Effect:
    name = gain.fact.name
    about = "about " if gain.fact.kind is Kind.BYTES else ""
    setting = f"{title(name)}: {about}{short(name, gain.value)} instead of {about}{short(name, gain.against)}"
    evidence = f"{gain.better.jobs:,} against {count_of(gain.other.jobs, 'import')}, spread {gain.spread:.0%}"
    return Effect(setting, f"{factor(gain.times)} times", evidence)
