"""What an import is doing, as events; and the rows that it has rejected."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from ninja import Query, Router, Schema
from pydantic import Field

from config.serving.events import FEED, TYPE, Feed
from dashboard.access.middleware import token_of
from dashboard.api import pages
from dashboard.api.events import JobEvents
from dashboard.api.pages import Cursor, Page
from dashboard.api.resources.imports import read
from importer.jobs.rejects import downloads, rows
from importer.models import ImportJob

router = Router(tags=["imports"])

EVENT = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "event": {"enum": ["progress", "end"]}, "data": {"type": "string"}},
}
EVENTS = {
    "parameters": [
        {
            "in": "header",
            "name": "Last-Event-ID",
            "required": False,
            "description": "The id of the last event that was received.",
            "schema": {"type": "string", "maxLength": 20},
        }
    ],
    "responses": {
        200: {
            "description": "Events `progress`, each with the figures of the moment, and in the end one event `end` with"
            " the report.",
            "content": {TYPE: {"schema": EVENT}},
        },
        204: {"description": "The import has ended, and the listener has got its report."},
    },
}
FILE = {"responses": {200: {"description": "The file.", "content": {"text/csv": {"schema": {"type": "string"}}}}}}


class RejectOut(Schema):
    """A row that did not go in."""

    line: Annotated[int, Field(description="Where it begins in the file, from 1.")]
    column: Annotated[str, Field(description="Empty: it is about the whole row.")]
    value: str
    reason: str
    record: Annotated[str | None, Field(description="The row as it is in the file; null if it cannot be told apart.")]


@router.get("imports/{int:job}/events", url_name="api_import_events", summary="Follow an import", openapi_extra=EVENTS)
def events(request: HttpRequest, job: int) -> Any:
    """Server-sent events: the figures whenever they change, and the report when the import has ended."""
    shown, token = read(job), token_of(request)
    assert token
    last = request.headers.get("Last-Event-ID", "")
    seen = int(last) if last.isascii() and last.isdigit() and len(last) < 19 else None
    if shown.ended and not shown.leftover and seen == shown.version:
        return HttpResponse(status=204)
    source = JobEvents(job, token, seen)
    feed: Feed | None = request.META.get(FEED)
    if feed:
        feed.events = source
    answer = HttpResponse(b"" if feed else source.news(), content_type=TYPE)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Accel-Buffering"] = "no"  # nginx would hold events back
    return answer


@router.get(
    "imports/{int:job}/rejects", response=Page[RejectOut], url_name="api_import_rejects", summary="List rejected rows"
)
def rejects(request: HttpRequest, job: int, page: Query[Cursor]) -> Any:
    """The rows that did not go in, in the order of the file, each with line, column, value and reason."""
    shown = read(job)
    first = pages.read(page.cursor) if page.cursor else 0
    found = rows.rows(shown, None, first, page.limit + 1)
    further = pages.write(first + page.limit) if len(found) > page.limit else None
    return {"items": [_reject(shown, each) for each in found[: page.limit]], "next": further}


def _reject(job: ImportJob, row: rows.RejectedRecord) -> dict[str, Any]:
    record = row.record.decode(job.dialect.encoding, errors="replace") if row.record else None
    return {"line": row.line, "column": row.column, "value": row.value, "reason": row.reason, "record": record}


@router.get(
    "imports/{int:job}/rejects.csv",
    url_name="api_import_reject_file",
    summary="Download rejected rows",
    openapi_extra=FILE,
)
def reject_file(request: HttpRequest, job: int) -> Any:
    """The rejected rows byte for byte as in the file, with its header: to be corrected, and imported."""
    shown = read(job)
    return _download(shown, "rejects", shown.file_dialect.encoding, downloads.reject_file)


@router.get(
    "imports/{int:job}/reasons.csv", url_name="api_import_reasons_file", summary="Download reasons", openapi_extra=FILE
)
def reasons_file(request: HttpRequest, job: int) -> Any:
    """Line, byte, column, value, code and reason of each rejected or skipped row."""
    return _download(read(job), "reasons", "utf-8", downloads.reasons_file)


def _download(
    job: ImportJob, kind: str, charset: str, pieces: Callable[[ImportJob], Iterator[bytes]]
) -> HttpResponseBase:
    content = pieces(job)  # Raises before the first piece if there is none.
    disposition = content_disposition_header(True, downloads.file_name(job, kind)) or "attachment"
    return StreamingHttpResponse(
        content, content_type=f"text/csv; charset={charset}", headers={"Content-Disposition": disposition}
    )
