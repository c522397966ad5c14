"""The history: facts of all ended imports, as JSON by pages and as one CSV file; and imports compared."""

from typing import Annotated, Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.api.openapi import CSV_FILE
from dashboard.api.pages import LARGEST, Cursor, Page
from dashboard.history.choices import comparison_choice
from dashboard.jobs.compare import MOST, requested
from importer.engine.errors import Problem
from importer.history.compare import Difference, compare
from importer.history.export import as_csv, documents
from importer.history.facts import FACTS
from importer.history.query import NEWEST_FIRST, Condition, columns_of
from importer.history.query import Query as HistoryQuery
from importer.history.search import every_row, in_order, rows_of

router = Router(tags=["history"])

Text = Annotated[str, Field(max_length=255)]


class HistoryIn(Schema):
    """Which imports, with which facts. `columns`, `sort` and `where` have names of facts (docs/history.md)."""

    columns: Annotated[
        list[Text], Field(max_length=len(FACTS), description="By default the usual ones; or `all`.")
    ] = []
    sort: Annotated[Text, Field(description="A fact, with - in front for descending order.")] = NEWEST_FIRST
    where: Annotated[list[Text], Field(max_length=20, examples=[["rows >= 1000"]])] = []

    def query(self) -> HistoryQuery:
        """The query. Raises Problem for an unknown fact, and for a condition that is none."""
        return HistoryQuery(tuple(map(_condition, self.where)), columns_of(self.columns), self.sort)


class ExportIn(HistoryIn):
    """The same, and how many rows at most."""

    limit: Annotated[int | None, Field(ge=1, le=LARGEST, description="By default all.")] = None


def _condition(text: str) -> Condition:
    parts = text.split(maxsplit=2)
    if len(parts) != 3:
        raise Problem(f"“{text[:80]}” is no condition.", "query.where", "Write it as FACT OPERATOR VALUE.")
    return Condition.read(*parts)


class PageOfRecords(Page[dict[str, Any]]):
    """Some imports with their recorded facts, and the cursor of those after them."""


@router.get(
    "history",
    response=PageOfRecords,
    url_name="api_history",
    summary="Look at the history",
)
def history(request: HttpRequest, page: Query[Cursor], asked: Query[HistoryIn]) -> Any:
    """The facts of ended imports that the person may see."""
    query = asked.query()
    jobs = in_order(query)
    last = page.after(2)
    first = _place_after(last, jobs) if last else 0
    shown = list(documents(query.columns, rows_of(query.columns, jobs[first : first + page.limit + 1])))
    ends_with = jobs[first + page.limit - 1] if len(shown) > page.limit else 0
    return page.of(shown, lambda row: row, lambda _: (first + page.limit, ends_with))


def _place_after(last: tuple[int, ...], jobs: list[int]) -> int:
    """The place of the row after the last one that was shown; if that is gone, the number of rows shown before."""
    shown, job = last
    return jobs.index(job) + 1 if job in jobs else shown


@router.get("history.csv", url_name="api_history_csv", summary="Export the history", openapi_extra=CSV_FILE)
def export(request: HttpRequest, asked: Query[ExportIn]) -> Any:
    """The same, all of it or the first `limit` rows, as CSV."""
    query = asked.query()
    return StreamingHttpResponse(
        as_csv(query.columns, every_row(query, asked.limit)), content_type="text/csv; charset=utf-8"
    )


class JobsIn(Schema):
    """Which imports are compared with the first of them."""

    jobs: Annotated[list[Annotated[int, Field(ge=1, le=LARGEST)]], Field(min_length=2, max_length=MOST)]


class DifferenceOut(Schema):
    """A fact with its value in each import, null for unknown; `ratios`: of a timing, each value by the first one."""

    fact: str
    title: str
    values: list[Any]
    ratios: list[float | None]


class VerdictOut(Schema):
    """Whether the runs of an import clearly differ from those of the first one, and why."""

    job: int
    clear: bool
    words: str


class ComparisonOut(Schema):
    """Compared imports, in the order of `jobs`: settings that differ, timings, and whether these clearly differ."""

    jobs: list[int]
    settings: list[DifferenceOut]
    timings: list[DifferenceOut]
    verdicts: list[VerdictOut]
    slower: Annotated[list[bool], Field(description="Whether each was found slower than others of its kind.")]


class ValuesOut(Schema):
    """What a condition on a fact can be made of."""

    fact: str
    title: str
    operators: list[str]
    values: list[str]


@router.get("history/compare", response=ComparisonOut, url_name="api_history_compare", summary="Compare imports")
def compare_imports(request: HttpRequest, asked: Query[JobsIn]) -> Any:
    """Ended imports compared with the first of them."""
    found, problems = requested([str(each) for each in asked.jobs])
    if problems or len(found) < 2:
        raise Problem(
            next(iter(problems), "These are not two imports."), "query.jobs", "Name two or more that have ended."
        )
    compared = compare([each.pk for each in found])
    verdicts = zip(compared.jobs[1:], compared.verdicts, strict=True)
    return {
        "jobs": compared.jobs,
        "settings": [_difference(each) for each in compared.settings],
        "timings": [_difference(each) | {"ratios": each.ratios} for each in compared.timings],
        "verdicts": [{"job": job, **vars(each)} for job, each in verdicts],
        "slower": compared.slower,
    }


def _difference(each: Difference) -> dict[str, Any]:
    return {"fact": each.fact.name, "title": each.fact.title, "values": each.values, "ratios": []}


@router.get("history/values", response=ValuesOut, url_name="api_history_values", summary="List values of a fact")
def fact_values(request: HttpRequest, fact: Text) -> Any:
    """The operators and the values, as conditions spell them, for a condition on a fact."""
    choice = comparison_choice(fact)
    operators = [name for name, _ in choice.ops]
    return {"fact": choice.fact.name, "title": choice.fact.title, "operators": operators, "values": choice.values}
