"""One import in detail: why it waits or is slow, its chunks, and rows of its table."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.api.pages import Cursor, Page
from dashboard.api.resources.imports.imports import read
from dashboard.jobs.cards.table_rows import rows_of
from dashboard.jobs.detail import with_problems
from importer.diagnosis.why import causes_document, why
from importer.engine.mysql.sign_in.reasons import shown as shown_problem
from importer.models import Chunk

router = Router(tags=["imports"])


class CauseOut(Schema):
    """Why an import waits or is slow; docs/schemas/causes.json explains each key."""

    cause: str
    what: str
    evidence: str
    advice: str
    holder: int
    account: str
    statement: Annotated[str, Field(description="Empty if you may not administer the target.")]
    sql: str
    waits: bool


class CausesOut(Schema):
    """Why an import waits or is slow, the most certain cause first."""

    job: int
    causes: list[CauseOut]
    unseen: Annotated[
        list[str],
        Field(description="Statements that would let the target's account see more of what others do on its server."),
    ]


class ChunkOut(Schema):
    """A part of the file that is loaded completely or not at all."""

    number: int
    first_line: int
    rows: int
    size: Annotated[int, Field(description="Bytes.")]
    status: Annotated[str, Field(json_schema_extra={"enum": Chunk.Status.values})]
    attempt: int
    rejected_rows: int
    started_at: datetime | None
    finished_at: datetime | None
    seconds: Annotated[dict[str, float], Field(description="Of its load, by phase.")]
    problem: dict[str, Any] | None


class RowsOut(Schema):
    """Some rows of a table as they stand now: texts, cut if they are long, and null for NULL."""

    columns: list[str]
    rows: list[list[str | None]]
    more_columns: Annotated[int, Field(description="Columns that are left out.")]
    of_file: Annotated[bool, Field(description="The rows of the file's first records, found by key.")]
    rows_before: Annotated[int | None, Field(description="Approximate rows before the import.")]


@router.get(
    "imports/{int:job}/causes", response=CausesOut, url_name="api_import_causes", summary="Show why it waits or is slow"
)
def causes(request: HttpRequest, job: int) -> Any:
    """Why an import waits or is slow now. The first request starts a look at the server: ask again a second later."""
    shown = read(job)
    return causes_document(shown, why(shown))


@router.get("imports/{int:job}/chunks", response=Page[ChunkOut], url_name="api_import_chunks", summary="List chunks")
def chunks(request: HttpRequest, job: int, page: Query[Cursor], problems: bool = False) -> Any:
    """The chunks in the order of the file; with `problems` those that failed or were retried.

    Chunks of old imports are deleted; their report stays.
    """
    shown = read(job)
    found = with_problems(shown) if problems else shown.chunks.all()
    if last := page.after():
        found = found.filter(number__gt=last[0])
    return page.of(list(found.order_by("number")[: page.limit + 1]), _chunk, lambda each: (each.number,))


def _chunk(chunk: Chunk) -> dict[str, Any]:
    names = ("number", "first_line", "rows", "status", "attempt", "rejected_rows", "started_at", "finished_at")
    return {name: getattr(chunk, name) for name in names} | {
        "size": chunk.length,
        "seconds": chunk.timings,
        "problem": shown_problem(chunk.problem) if chunk.problem else None,
    }


@router.get("imports/{int:job}/rows", response=RowsOut, url_name="api_import_rows", summary="Show rows of the table")
def table_rows(request: HttpRequest, job: int) -> Any:
    """The rows of the file's first records as they stand in the table, or the first rows of the table."""
    shown = rows_of(read(job))
    if shown.problem:
        raise shown.problem
    assert shown.table
    return {
        "columns": shown.table.columns,
        "rows": shown.table.rows,
        "more_columns": shown.table.more_columns,
        "of_file": shown.table.found,
        "rows_before": shown.before,
    }
