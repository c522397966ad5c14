"""Rejected rows: list and download them, correct them one by one, and load those that are corrected."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import content_disposition_header
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.once import PARAMETER, once
from dashboard.api.openapi import CSV_FILE
from dashboard.api.pages import Cursor, Page
from dashboard.api.reports import Report
from dashboard.api.resources.files import FileOut
from dashboard.api.resources.files import show as show_file
from dashboard.api.resources.imports.imports import read
from dashboard.jobs.rejects.grid import Cell, names_of, row_of
from importer.access import audit
from importer.engine.errors import Problem
from importer.engine.mapping.columns import position_of
from importer.jobs import report
from importer.jobs.actions import fixes
from importer.jobs.rejects import downloads, rows
from importer.models import ImportJob

router = Router(tags=["rejects"])

Place = Annotated[int, Field(ge=0, le=2**31 - 1)]
Text = Annotated[str, Field(max_length=fixes.LONGEST_EDITED)]


class WhyIn(Schema):
    """Only the rows of one reason, as the report's `rejects.reasons` has it."""

    reason: Annotated[str, Field(max_length=1000, description="Empty: of all.")] = ""
    column: Annotated[str, Field(max_length=255, description="The column of the reason.")] = ""


class FixIn(Body, json_schema_extra=example(values={"amount": "12.50", "#3": "2026-11-20"})):
    """Corrected values of a row. The others stay."""

    values: Annotated[dict[Annotated[str, Field(max_length=255)], Text], Field(description="By field: a name, or #3.")]


class RejectOut(Schema):
    """A rejected row. `chunk` and `place` name it."""

    chunk: int
    place: int
    line: Annotated[int, Field(description="Where it begins in the file, from 1.")]
    file: Annotated[str, Field(description="Its name, if the import has several files.")]
    column: Annotated[str, Field(description="Empty if the reason is about the whole row.")]
    value: str
    reason: str
    record: Annotated[str | None, Field(description="The row as it is in the file; null if its end is unclear.")]
    corrected: Annotated[bool, Field(description="You have corrected it, and it is not loaded yet.")]
    loaded: Annotated[bool, Field(description="It was corrected, and an import has taken it.")]


class ValueOut(Schema):
    """A value of a rejected row. `was`: its text in the file, if it was corrected; `wrong`: the reason is about it."""

    field: str
    text: str
    was: str | None
    wrong: bool


class RejectedRowOut(RejectOut):
    """A rejected row with its values as you have corrected them."""

    values: list[ValueOut]


@router.get(
    "imports/{int:job}/rejects", response=Page[RejectOut], url_name="api_import_rejects", summary="List rejected rows"
)
def rejects(request: HttpRequest, job: int, page: Query[Cursor], why: Query[WhyIn]) -> Any:
    """The rejected rows in the order of the file, each with line, column, value and reason."""
    shown = read(job)
    wanted = (why.reason, why.column) if why.reason or why.column else None
    if wanted and wanted not in [each for each, _ in rows.reasons(shown)]:
        raise Problem("No row was rejected for that reason.", "query.reason", "The report's rejects.reasons has all.")
    found = rows.rows(shown, wanted, page.first, page.limit + 1)
    known = fixes.fixes_of(shown, _person(request))
    return page.part(found, lambda row: _reject(shown, row, known))


def _reject(job: ImportJob, row: rows.RejectedRecord, known: fixes.Fixes) -> dict[str, Any]:
    names = ("chunk", "place", "line", "file", "column", "value", "reason")
    return {name: getattr(row, name) for name in names} | {
        "record": row.record.decode(job.dialect.encoding, errors="replace") if row.record else None,
        "corrected": row.at in known.own,
        "loaded": row.at in known.taken,
    }


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)


def _row(job: ImportJob, chunk: int, place: int) -> rows.RejectedRecord:
    """The rejected row of this chunk and place. Raises Http404 if it does not exist, or its file is gone."""
    if row := next(iter(rows.rows_at(job, {(chunk, place)})), None):
        return row
    raise Http404


def _shown(request: HttpRequest, job: ImportJob, row: rows.RejectedRecord) -> dict[str, Any]:
    cells = row_of(job, row, None).cells
    whole = _reject(job, row, fixes.fixes_of(job, _person(request)))
    return whole | {"values": [_value(each) for each in cells]}


def _value(cell: Cell) -> dict[str, Any]:
    return {"field": cell.name, "text": cell.text, "was": cell.was, "wrong": cell.wrong}


@router.get(
    "imports/{int:job}/rejects/{int:chunk}/{int:place}",
    response=RejectedRowOut,
    url_name="api_import_reject",
    summary="Show a rejected row",
)
def reject(request: HttpRequest, job: int, chunk: Place, place: Place) -> Any:
    """One rejected row with all its values, as you have corrected them."""
    shown = read(job)
    return _shown(request, shown, _row(shown, chunk, place))


@router.patch(
    "imports/{int:job}/rejects/{int:chunk}/{int:place}",
    response=RejectedRowOut,
    url_name="api_import_reject",
    summary="Correct a rejected row",
)
def fix_reject(request: HttpRequest, job: int, chunk: Place, place: Place, fix: FixIn) -> Any:
    """Correct values of a rejected row. It is your draft until imports/{job}/rejects/load loads it."""
    shown = read(job)
    row = _row(shown, chunk, place)
    fixes.save_fix(shown, _person(request), row, _with(fix.values, shown, fixes.texts_of(shown, _person(request), row)))
    return _shown(request, shown, row)


def _with(values: Mapping[str, str], job: ImportJob, texts: list[str]) -> list[str]:
    """The texts with the given ones in their places. Raises Problem for a field that the row does not have."""
    names = names_of(job)
    header = [*names, *[""] * (len(texts) - len(names))]
    for field, text in values.items():
        texts[position_of(field, header)] = text
    return texts


@router.delete(
    "imports/{int:job}/rejects/{int:chunk}/{int:place}",
    response={204: None},
    url_name="api_import_reject",
    summary="Undo a correction",
)
def undo_fix(request: HttpRequest, job: int, chunk: Place, place: Place) -> Any:
    """Delete your corrections of a row: its values are those of the file again."""
    shown = read(job)
    fixes.undo_fix(shown, _person(request), _row(shown, chunk, place))
    return Status(204, None)


@router.post(
    "imports/{int:job}/rejects/load",
    response={201: Report},
    url_name="api_import_rejects_load",
    summary="Load corrected rows",
    openapi_extra=PARAMETER,
)
@once
def load_fixed(request: HttpRequest, job: int, response: HttpResponse) -> Any:
    """Load the rows that you have corrected, as an import of their own. Each row is loaded once."""
    started, count = fixes.load_fixed(read(job), _person(request))
    audit.note(started=started.pk, rows=count)
    response.headers["Location"] = reverse("api_import", args=[started.pk])
    return Status(201, report.report(read(started.pk)))


@router.post(
    "imports/{int:job}/rejects/file",
    response={201: FileOut},
    url_name="api_import_rejects_file",
    summary="Make a file of rejected rows",
    openapi_extra=PARAMETER,
)
@once
def file_of_rejects(request: HttpRequest, job: int, response: HttpResponse) -> Any:
    """Make a file of the rejected rows, as if you had uploaded it: import it with other options, or into another table.

    While that file is not imported, the answer is the same file again.
    """
    made = downloads.as_source(read(job), _person(request))
    response.headers["Location"] = reverse("api_file", args=[made.key])
    return Status(201, show_file(made))


@router.get(
    "imports/{int:job}/rejects.csv",
    url_name="api_import_reject_file",
    summary="Download rejected rows",
    openapi_extra=CSV_FILE,
)
def reject_file(request: HttpRequest, job: int) -> Any:
    """The rejected rows byte for byte as in the file, with its header: to be corrected, and imported."""
    shown = read(job)
    return _download(shown, "rejects", shown.file_dialect.encoding, downloads.reject_file)


@router.get(
    "imports/{int:job}/reasons.csv",
    url_name="api_import_reasons_file",
    summary="Download reasons",
    openapi_extra=CSV_FILE,
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
