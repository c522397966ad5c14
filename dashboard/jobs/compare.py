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
from importer.history.compare import CLEARLY, Comparison, Difference, Verdict, compare
from importer.history.facts import CHOSEN, PHASES, Fact, Kind, Value
from importer.history.formatting import in_words
from importer.models import ImportJob
from importer.models.outcomes.attempts import speed_of

MOST = 6
# Imports that are offered to choose from, of one table and of all.
MOST_OFFERED = 30
# More digits than any import's number has.
MOST_DIGITS = 12


@dataclass(frozen=True)
class Column:
    """An import: its overall rate, also relative to that of the first (None: unknown), and other comparisons.

    `without`: the comparison without this import, "" with only two; `as_first`: with this import as the first.
    """

    job: ImportJob
    rate: float | None
    times: float | None
    verdict: Verdict | None
    without: str
    as_first: str


@dataclass(frozen=True)
class Cell:
    """A value in words, the planner's reason if the planner chose it, and its ratio to the first import's value."""

    words: str
    why: str = ""
    times: float | None = None

    @property
    def is_apart(self) -> bool:
        """Whether the ratio is of another size than what runs of one import differ by."""
        return self.times is not None and not 1 / CLEARLY <= self.times <= CLEARLY


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
    return {
        "columns": _columns(jobs, comparison, more),
        "settings": _groups(_without_repeats(comparison.settings), comparison),
        "alike": _groups(comparison.alike, comparison) if with_alike else [],
        "alike_count": len(comparison.alike),
        "other_view": address(comparison.jobs, **({} if with_alike else {"all": "1"})),
        "results": _groups(comparison.results, comparison),
        "timings": _groups(comparison.timings, comparison, with_times=True),
        "phases": _phases(comparison),
        "with_alike": with_alike,
    }


def _without_repeats(settings: Sequence[Difference]) -> list[Difference]:
    """The differences without what was asked for where what was chosen differs too: its reasons say what was asked."""
    chosen = {each.fact.option for each in settings if each.fact in CHOSEN} - {""}
    return [each for each in settings if each.fact in CHOSEN or each.fact.option not in chosen]


def _columns(jobs: list[ImportJob], comparison: Comparison, more: dict[str, str]) -> list[Column]:
    rates = [_overall_rate(job) for job in jobs]
    verdicts = (None, *comparison.verdicts)
    first = rates[0]
    return [
        Column(
            job,
            rate,
            rate / first if verdict and rate and first else None,
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


def _groups(
    differences: Sequence[Difference], comparison: Comparison, *, with_times: bool = False
) -> list[tuple[str, list[Line]]]:
    """The differences as lines under the heading of their group, in their order."""
    by_group = groupby(differences, key=lambda each: each.fact.group.value)
    return [(title, [_line(each, comparison, with_times) for each in group]) for title, group in by_group]


def _line(difference: Difference, comparison: Comparison, with_times: bool) -> Line:
    fact = difference.fact
    words = [_words(fact, value) for value in difference.values]
    times = (None, *difference.ratios[1:]) if with_times else (None,) * len(words)
    why = [_why(fact.option, reasons) if fact in CHOSEN else "" for reasons in comparison.reasons]
    return Line(fact.title, tuple(map(Cell, words, why, times)))


def _words(fact: Fact, value: Value | None) -> str:
    """A value in words: of an option as the form of a new import has it."""
    if value is None or not fact.option or fact.kind not in (Kind.WORD, Kind.SWITCH):
        return in_words(fact.name, value)
    return named(fact.option).shown(bool(value) if fact.kind is Kind.SWITCH else value)


def _why(option: str, reasons: list[dict[str, Any]]) -> str:
    return next((each["why"] for each in reasons if option and each.get("option") == option), "")


def _phases(comparison: Comparison) -> dict[str, Any]:
    """Data for the chart: for each phase, the seconds of all chunks of each import."""
    phases = [each for each in comparison.timings if each.fact in PHASES]
    return {
        "imports": [f"Import {job}" for job in comparison.jobs],
        "phases": [{"name": each.fact.title, "seconds": list(each.values)} for each in phases],
    }
