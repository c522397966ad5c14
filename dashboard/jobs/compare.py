"""The page that compares imports side by side: differences in settings and timings, and their significance."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.jobs.peer_comparison import address
from importer.access.policy import seen
from importer.engine.plan.option_specs import named
from importer.engine.units import count_of
from importer.history.compare import CLEARLY, Comparison, Difference, Verdict, compare
from importer.history.facts import CHOSEN, PHASES, Fact, Kind, Value, is_shadow
from importer.history.formatting import in_words
from importer.jobs.rejects.rows import reasons
from importer.models import ImportJob
from importer.models.outcomes.attempts import speed_of

MOST = 6
# Imports that are offered to choose from, of one table and of all.
MOST_OFFERED = 30
# Seconds that nobody notices: a smaller difference is no difference.
NOTICED_SECONDS = 0.02
_RATE = ("faster", "slower")
_MORE_AND_LESS = {
    Kind.ROWS_PER_SECOND: _RATE,
    Kind.BYTES_PER_SECOND: _RATE,
    Kind.SECONDS: ("longer", "shorter"),
}
# Settings whose reasons are causes; those of the others say what a request leads to.
_DECIDED = ("method", "parallelism", "chunk_bytes", "commit_rows", "sort", "indexes", "foreign_keys")
# More digits than any import's number has.
MOST_DIGITS = 12


@dataclass(frozen=True)
class Column:
    """An import: its overall rate (None: unknown), also against that of the first in words, and other comparisons.

    `without`: the comparison without this import, "" with only two; `as_first`: with this import as the first.
    """

    job: ImportJob
    rate: float | None
    against: str
    verdict: Verdict | None
    without: str
    as_first: str


@dataclass(frozen=True)
class Cell:
    """A value in words, the planner's reason if the planner chose it, and the value against the first import's."""

    words: str
    why: str = ""
    against: str = ""


@dataclass(frozen=True)
class Line:
    """A fact with its value in each import."""

    title: str
    cells: tuple[Cell, ...]


@require_safe
def compare_imports(request: HttpRequest) -> HttpResponse:
    """Compare `?jobs=41&jobs=42` with the first of them; `&all=1` also shows what all of them have in common."""
    jobs, problems = requested(request.GET.getlist("jobs"))
    context: dict[str, Any] = {
        "problems": problems,
        "job_numbers": [job.pk for job in jobs],
        "most": MOST,
        "choices": _choices(jobs),
    }
    if len(jobs) > 1:
        context |= _side_by_side(jobs, with_alike="all" in request.GET)
    return render(request, "jobs/compare.html", context, status=200 if len(jobs) > 1 or not problems else 400)


def _choices(jobs: Sequence[ImportJob]) -> list[tuple[str, list[ImportJob]]]:
    """The latest imports that can be added, by table; those into the first import's table come first."""
    comparable = seen(ImportJob.objects.filter(trial=None, status__in=ImportJob.ENDED, record__isnull=False))
    latest = comparable.exclude(pk__in=[job.pk for job in jobs]).select_related("source", "target").order_by("-pk")
    groups: dict[str, list[ImportJob]] = {}
    if jobs:
        first = {"target": jobs[0].target, "schema_name": jobs[0].schema_name, "table_name": jobs[0].table_name}
        groups[_place(jobs[0])] = list(latest.filter(**first)[:MOST_OFFERED])
    for job in latest[:MOST_OFFERED]:
        group = groups.setdefault(_place(job), [])
        if job not in group:
            group.append(job)
    return [(place, group) for place, group in groups.items() if group]


def _place(job: ImportJob) -> str:
    return f"{job.table} on {job.target.name}"


def requested(texts: Sequence[str]) -> tuple[list[ImportJob], list[str]]:
    """The requested imports that can be compared, each once, and the problems of the others."""
    problems = []
    numbers: list[int] = []
    for text in dict.fromkeys(each.strip() for each in texts if each.strip()):
        if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
            numbers.append(int(text))
        else:
            problems.append(f"“{text[:40]}” is not the number of an import. It stands on its page and in its address.")
    if surplus := numbers[MOST:]:
        problems.append(f"At most {MOST} imports can be compared; left out: {', '.join(map(str, surplus))}.")
    known = seen(ImportJob.objects.filter(trial=None)).select_related("source", "target", "record")
    by_number = known.defer("record__chunk_timings").in_bulk(numbers[:MOST])
    problems += [obstacle for number in numbers[:MOST] if (obstacle := _obstacle(number, by_number.get(number)))]
    return [by_number[each] for each in numbers[:MOST] if not _obstacle(each, by_number.get(each))], problems


def _obstacle(number: int, job: ImportJob | None) -> str:
    """Why an import cannot be compared; "" if it can."""
    if job is None:
        return f"There is no import {number}."
    if not job.ended:
        return f"Import {number} has not ended. Its timings can be compared as soon as it has."
    if not hasattr(job, "record"):
        return f"What is kept of import {number} is not written down yet. Try again in a minute."
    return ""


def _side_by_side(jobs: list[ImportJob], with_alike: bool) -> dict[str, Any]:
    comparison = compare([job.pk for job in jobs])
    more = {"all": "1"} if with_alike else {}
    names = _counted_reasons(jobs, comparison)
    return {
        "columns": _columns(jobs, comparison, more),
        "settings": _groups(_without_repeats(comparison.settings), comparison, names),
        "alike": _groups(comparison.alike, comparison, names) if with_alike else [],
        "alike_count": len(comparison.alike),
        "other_view": address(comparison.jobs, **({} if with_alike else {"all": "1"})),
        "results": _groups(comparison.results, comparison, names),
        "timings": _groups(comparison.timings, comparison, names),
        "phases": _phases(comparison),
        "with_alike": with_alike,
    }


def _without_repeats(settings: Sequence[Difference]) -> list[Difference]:
    """The differences without those that follow from another one.

    What was chosen says what was asked for, too: by its reasons.
    """
    differing = [each.fact for each in settings]
    chosen = {each.option for each in differing if each in CHOSEN} - {""}
    return [
        each
        for each in settings
        if not is_shadow(each.fact, differing) and (each.fact in CHOSEN or each.fact.option not in chosen)
    ]


def _columns(jobs: list[ImportJob], comparison: Comparison, more: dict[str, str]) -> list[Column]:
    rates = [_overall_rate(job) for job in jobs]
    verdicts = (None, *comparison.verdicts)
    first = rates[0]
    return [
        Column(
            job,
            rate,
            against_first(Kind.ROWS_PER_SECOND, rate, first) if verdict else "",
            verdict,
            address((each.pk for each in jobs if each is not job), **more) if len(jobs) > 2 else "",
            address((job.pk, *(each.pk for each in jobs if each is not job)), **more) if verdict else "",
        )
        for job, rate, verdict in zip(jobs, rates, verdicts, strict=True)
    ]


def _overall_rate(job: ImportJob) -> float | None:
    """Rows per second with keys and verification, of an import that succeeded."""
    speed = speed_of(job) if job.rows_per_second else None
    return speed.overall_rows_per_second if speed else None


def _counted_reasons(jobs: Sequence[ImportJob], comparison: Comparison) -> dict[str, list[str]]:
    """For each fact that counts reasons, those of each import in words."""
    rejects = [[reason.removesuffix(".") for (reason, _), _ in reasons(job)] for job in jobs]
    held = [[each["choice"] for each in known if each.get("holds_back")] for known in comparison.reasons]
    return {
        name: ["; ".join(dict.fromkeys(each)) or "none" for each in known]
        for name, known in (("reject_reasons", rejects), ("held_back", held))
    }


def _groups(
    differences: Sequence[Difference], comparison: Comparison, names: dict[str, list[str]]
) -> list[tuple[str, list[Line]]]:
    """The differences as lines under the heading of their group, in their order."""
    by_group = groupby(differences, key=lambda each: each.fact.group.value)
    return [(title, [_line(each, comparison, names) for each in group]) for title, group in by_group]


def _line(difference: Difference, comparison: Comparison, names: dict[str, list[str]]) -> Line:
    fact, values = difference.fact, difference.values
    words = names.get(fact.name) or [_words(fact, value) for value in values]
    why = [_why(fact.option, reasons) if fact in CHOSEN else "" for reasons in comparison.reasons]
    against = ("", *(against_first(fact.kind, each, values[0]) for each in values[1:]))
    return Line(fact.title, tuple(map(Cell, words, why, against)))


def against_first(kind: Kind, value: Value | None, first: Value | None) -> str:
    """A timing against the first import's in words: "1.7 times slower".

    "" for what is no timing, unknown or zero, and for a difference that runs of one import have by chance.
    """
    if kind not in _MORE_AND_LESS or not value or not first:
        return ""
    times = float(value) / float(first)
    apart = abs(float(value) - float(first))
    if 1 / CLEARLY <= times <= CLEARLY or (kind is Kind.SECONDS and apart < NOTICED_SECONDS):
        return ""
    more, less = _MORE_AND_LESS[kind]
    return f"{max(times, 1 / times):,.1f} times {more if times > 1 else less}"


def _words(fact: Fact, value: Value | None) -> str:
    """A value in words: of an option as the form of a new import has it."""
    if value is None or not fact.option or fact.kind not in (Kind.WORD, Kind.SWITCH):
        return in_words(fact.name, value)
    return named(fact.option).shown(bool(value) if fact.kind is Kind.SWITCH else value)


def _why(option: str, reasons: list[dict[str, Any]]) -> str:
    """The planner's reason for an option as a clause; "" if it has none."""
    why = next((each["why"] for each in reasons if option and each.get("option") == option), "")
    is_cause = option in _DECIDED and not why.startswith(("as ", "requested"))
    return f"because {why}" if why and is_cause else why


def _phases(comparison: Comparison) -> dict[str, Any]:
    """Data for the chart: for each phase, the seconds of all chunks of each import."""
    phases = [each for each in comparison.timings if each.fact in PHASES]
    known = {each.fact.name: each.values for each in (*comparison.settings, *comparison.alike)}
    sessions = known.get("parallelism", (None,) * len(comparison.jobs))
    return {
        "imports": [
            [f"Import {job}", count_of(int(many), "session")] if many else [f"Import {job}"]
            for job, many in zip(comparison.jobs, sessions, strict=True)
        ],
        "phases": [{"name": each.fact.title, "seconds": list(each.values)} for each in phases],
    }
