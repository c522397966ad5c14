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
from importer.connections.by_hand.connection_files import find_files
from importer.connections.connection_address import format_base
from importer.models import Level, SourceConnection

router = Router(tags=["connections"])

Pattern = Annotated[str, Field(min_length=1, max_length=512)]


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


@router.get(
    "connections/{int:id}/files", response=Page[ListedOut], url_name="api_connection_files", summary="Browse files"
)
def files(
    request: HttpRequest,
    id: int,
    page: Query[Cursor],
    pattern: Annotated[str, Field(min_length=1, max_length=512)] = "*",
) -> Any:
    """The files that match a pattern, by name. `*` and `?` stand for characters of one name."""
    found = find_files(get_object_or_404(SourceConnection, pk=id), pattern)
    first = pages.read(page.cursor) if page.cursor else 0
    shown = found[first : first + page.limit]
    further = pages.write(first + page.limit) if len(found) > first + page.limit else None
    return {"items": shown, "next": further}
