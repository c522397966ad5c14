"""The history: facts of all ended imports, as JSON by pages and as one CSV file."""

import json
from itertools import islice
from typing import Annotated, Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.api import pages
from dashboard.api.pages import Cursor, Page
from importer.engine.errors import Problem
from importer.history.export import as_csv, as_json
from importer.history.facts import FACTS
from importer.history.query import NEWEST_FIRST, USUAL, Condition
from importer.history.query import Query as HistoryQuery
from importer.history.search import every_row

router = Router(tags=["history"])

FILE = {"responses": {200: {"description": "The file.", "content": {"text/csv": {"schema": {"type": "string"}}}}}}
Text = Annotated[str, Field(max_length=255)]


class HistoryIn(Schema):
    """Which imports, with which facts. `columns`, `sort` and `where` have names of facts (docs/history.md)."""

    columns: Annotated[list[Text], Field(max_length=len(FACTS), description="By default the usual ones.")] = []
    sort: Annotated[Text, Field(description="A fact, with - in front for descending order.")] = NEWEST_FIRST
    where: Annotated[list[Text], Field(max_length=20, examples=[["rows >= 1000"]])] = []

    def query(self) -> HistoryQuery:
        """The query. Raises Problem for an unknown fact, and for a condition that is none."""
        return HistoryQuery(tuple(map(_condition, self.where)), tuple(self.columns) or USUAL, self.sort)


def _condition(text: str) -> Condition:
    parts = text.split(maxsplit=2)
    if len(parts) != 3:
        raise Problem(f"“{text[:80]}” is no condition.", "query.where", "Write it as FACT OPERATOR VALUE.")
    return Condition.read(*parts)


@router.get("history", response=Page[dict[str, Any]], url_name="api_history", summary="Look at the history")
def history(request: HttpRequest, page: Query[Cursor], asked: Query[HistoryIn]) -> Any:
    """The facts of ended imports that the person may see."""
    query = asked.query()
    first = pages.read(page.cursor) if page.cursor else 0
    found = list(islice(every_row(query), first, first + page.limit + 1))
    further = pages.write(first + page.limit) if len(found) > page.limit else None
    return {"items": json.loads("".join(as_json(query.columns, found[: page.limit])))["jobs"], "next": further}


@router.get("history.csv", url_name="api_history_csv", summary="Export the history", openapi_extra=FILE)
def export(request: HttpRequest, asked: Query[HistoryIn]) -> Any:
    """The same, all of it, as CSV."""
    query = asked.query()
    return StreamingHttpResponse(as_csv(query.columns, every_row(query)), content_type="text/csv; charset=utf-8")
