"""Connections: the places that files are fetched from, and the files that lie there."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.api import pages
from dashboard.api.pages import Cursor, Page
from importer import connections
from importer.access.policy import may_now, seen
from importer.connections.by_hand.connection_files import browse, first_lines
from importer.connections.connection_address import format_base
from importer.models import Level, SourceConnection

router = Router(tags=["connections"])

Folder = Annotated[str, Field(max_length=512, description="Empty: the connection's own.")]
Pattern = Annotated[str, Field(min_length=1, max_length=512, description="For the names of files.")]


class ConnectionOut(Schema):
    """A connection. Who may not administer it sees its name and kind alone."""

    id: int
    name: str
    kind: str
    place: str | None
    checked_at: datetime | None
    findings: list[dict[str, Any]]


class ListedOut(Schema):
    """A file at a connection. `size` in bytes; null for what the server does not tell."""

    name: str
    size: int | None
    modified_at: datetime | None


class ListingOut(Page[ListedOut]):
    """What lies in a folder of a connection."""

    folders: list[str]


class LinesOut(Schema):
    """The first lines of a file, or why there is none to show. `more`: the file has further ones."""

    lines: list[str]
    more: bool
    why_none: str


def show(connection: SourceConnection) -> dict[str, Any]:
    """A connection as the API shows it to the acting person; never its secrets."""
    whole = may_now(Level.ADMINISTER, connection)
    return {
        "id": connection.pk,
        "name": connection.name,
        "kind": connection.kind,
        "place": format_base(connection) if whole else None,
        "checked_at": connection.checked_at if whole else None,
        "findings": connections.told_findings(connection) if whole else [],
    }


@router.get("connections", response=Page[ConnectionOut], url_name="api_connections", summary="List connections")
def list_connections(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The connections that the person may see, the newest first."""
    return page.newest(seen(SourceConnection.objects.all()), show)


@router.get("connections/{int:id}", response=ConnectionOut, url_name="api_connection", summary="Show a connection")
def show_connection(request: HttpRequest, id: int) -> Any:
    """One connection, with the findings of its last check."""
    return show(get_object_or_404(SourceConnection, pk=id))


@router.post(
    "connections/{int:id}/check", response=ConnectionOut, url_name="api_connection_check", summary="Check a connection"
)
def check_connection(request: HttpRequest, id: int) -> Any:
    """Connect, sign in, and look whether files can be listed there."""
    checked = get_object_or_404(SourceConnection, pk=id)
    connections.check(checked)
    return show(checked)


@router.get("connections/{int:id}/files", response=ListingOut, url_name="api_connection_files", summary="Browse files")
def files(request: HttpRequest, id: int, page: Query[Cursor], folder: Folder = "", pattern: Pattern = "*") -> Any:
    """What lies in a folder: its folders, and the files that a pattern matches, by pages."""
    found = browse(get_object_or_404(SourceConnection, pk=id), folder, pattern)
    first = pages.read(page.cursor) if page.cursor else 0
    further = pages.write(first + page.limit) if len(found.files) > first + page.limit else None
    return {"folders": found.folders, "items": found.files[first : first + page.limit], "next": further}


@router.get(
    "connections/{int:id}/lines", response=LinesOut, url_name="api_connection_lines", summary="Look into a file"
)
def lines(request: HttpRequest, id: int, name: Annotated[str, Field(min_length=1, max_length=1024)]) -> Any:
    """The first lines of a file as text. Nothing is copied."""
    return first_lines(get_object_or_404(SourceConnection, pk=id), name)
