"""The state of the history page in its URL: reads a query string into a View, and writes a View as a query string."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from importer.engine.errors import Problem
from importer.history.facts import FACTS, fact
from importer.history.query import Condition, Op, Query

# The default columns: the most informative facts in the least space, so that a table is not cut off at 1280 pixels.
USUAL = (
    "job",
    "ended",
    "table",
    "flavour",
    "method",
    "parallelism",
    "chunk_bytes",
    "indexes",
    "rows",
    "rows_per_second",
    "total_seconds",
)
ALL = "all"
CHARTS = {"settings": "By setting", "time": "Over time", "phases": "Where the time goes"}
PARTS = {"steps": "Steps of the import", "sessions": "Sessions while loading"}
MOST_CONDITIONS = 20
MOST_PAGES = 999_999


@dataclass(frozen=True)
class View:
    """Everything that is chosen on the history page. `problems`: the parts of the URL that were invalid and ignored.

    `table` limits the imports to one table, "" for all; `x`, `y` and `colour` are facts, `colour` "" for none.
    """

    table: str = ""
    conditions: tuple[Condition, ...] = ()
    columns: tuple[str, ...] = USUAL
    sort: str = "-ended"
    page: int = 1
    chart: str = "settings"
    x: str = "chunk_bytes"
    y: str = "rows_per_second"
    colour: str = "parallelism"
    parts: str = "steps"
    problems: tuple[Problem, ...] = ()

    @property
    def query(self) -> Query:
        table = (Condition("table", Op.IS, self.table),) if self.table else ()
        return Query((*table, *self.conditions), self.columns, self.sort, self.page)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The parameters of the view's URL, without those that have their default."""
        usual = View()
        chosen = [
            (name, str(getattr(self, name)))
            for name in ("table", "sort", "page", "chart", "x", "y", "colour", "parts")
            if getattr(self, name) != getattr(usual, name)
        ]
        if self.columns != USUAL:
            chosen.append(("columns", ALL if self.columns == tuple(FACTS) else ",".join(self.columns)))
        return chosen + [("where", written(each)) for each in self.conditions]

    @property
    def address(self) -> str:
        """The query string with its "?"."""
        return f"?{urlencode(self.pairs, safe=',')}"

    def pairs_without(self, *fields: str) -> list[tuple[str, str]]:
        """The hidden fields of a form with inputs for `fields`; without the page number, so the first page shows."""
        return [(name, value) for name, value in self.pairs if name not in ("page", *fields)]

    def but(self, **changes: Any) -> str:
        """The address of the view with these changes, at the first page unless `page` is given."""
        return replace(self, **{"page": 1, **changes}).address


def written(condition: Condition) -> str:
    """A condition as written in a URL: "chunk_bytes >= 8M"."""
    return f"{condition.name} {condition.op.value} {condition.text}"


def view_of(query: QueryDict) -> View:
    """The view that a link or the page's own form requests; invalid parts become `problems` and take their default."""
    problems: list[Problem] = []
    view = View(
        table=query.get("table", "").strip(),
        conditions=tuple(_conditions(query, problems)),
        columns=_columns(query, problems),
        sort=_known(query, "sort", problems),
        page=_page(query.get("page", "")),
        chart=_one_of(query, "chart", CHARTS, problems),
        x=_known(query, "x", problems),
        y=_measured(query, problems),
        colour=_known(query, "colour", problems, or_none=True),
        parts=_one_of(query, "parts", PARTS, problems),
    )
    return replace(view, problems=tuple(problems))


def sent_by_form(query: QueryDict) -> bool:
    """Whether the page's form sent the query, with all its fields, and not a link."""
    return "fact" in query


def _conditions(query: QueryDict, problems: list[Problem]) -> Iterator[Condition]:
    """The conditions of the URL, and the one that the form adds, without duplicates; at most MOST_CONDITIONS."""
    distinct: set[Condition] = set()
    texts = [each.split(maxsplit=2) for each in query.getlist("where")]
    if added := query.get("value", "").strip():
        texts.append([query.get("fact", ""), query.get("op", "="), added])
    if len(texts) > MOST_CONDITIONS:
        problems.append(Problem(f"Only {MOST_CONDITIONS} conditions are possible.", advice="Remove some."))
    for parts in texts[:MOST_CONDITIONS]:
        try:
            condition = _condition(parts)
        except Problem as problem:
            problems.append(problem)
            continue
        if condition not in distinct:
            distinct.add(condition)
            yield condition


def _condition(parts: list[str]) -> Condition:
    if len(parts) != 3:
        raise Problem(
            f"No condition is {' '.join(parts)!r}.",
            advice="Give a fact, a comparison and a value: chunk_bytes >= 8M.",
        )
    return Condition.read(*parts)


def _columns(query: QueryDict, problems: list[Problem]) -> tuple[str, ...]:
    """The columns, as repeated parameters or separated by commas; always with the import itself as the first."""
    named = [name for text in query.getlist("columns") for name in text.split(",") if name]
    if named == [ALL]:
        return tuple(FACTS)
    known = [name for name in dict.fromkeys(named) if _is_fact(name, problems)]
    return tuple(dict.fromkeys(("job", *known))) if known else USUAL


def _is_fact(name: str, problems: list[Problem]) -> bool:
    try:
        fact(name)
    except Problem as problem:
        problems.append(problem)
        return False
    return True


def _known(query: QueryDict, field: str, problems: list[Problem], *, or_none: bool = False) -> str:
    """The name of a fact, the default if it is unknown; `sort` may have a "-" in front for descending order."""
    name = query.get(field)
    if name == "" and or_none:
        return name
    if not name or not _is_fact(name.removeprefix("-") if field == "sort" else name, problems):
        return str(getattr(View, field))
    return name


def _measured(query: QueryDict, problems: list[Problem]) -> str:
    name = _known(query, "y", problems)
    if FACTS[name].kind.is_number:
        return name
    problems.append(Problem(f"{name} is no number, and cannot be drawn upwards.", advice="Choose a timing."))
    return View.y


def _one_of(query: QueryDict, field: str, choices: dict[str, str], problems: list[Problem]) -> str:
    name = query.get(field) or str(getattr(View, field))
    if name in choices:
        return name
    problems.append(Problem(f"There is no {field} {name!r}.", advice=f"Choose one of {', '.join(choices)}."))
    return str(getattr(View, field))


def _page(text: str) -> int:
    """A page number of at least 1; 1 for invalid text. Too large a number becomes the last page later."""
    return min(int(text), MOST_PAGES) if text.isascii() and text.isdigit() and len(text) < 10 else 1
