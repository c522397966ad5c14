"""Connections: make, change, check and delete the places that files are fetched from; the files that lie there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.forms import checked, entered
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import Cursor, Page
from dashboard.connections.form import ConnectionForm
from importer.access import audit
from importer.access.policy import may_now, seen
from importer.connections import operations
from importer.connections.by_hand.connection_files import browse, first_lines
from importer.connections.connection_address import format_base, parse_base
from importer.connections.connection_kinds import kind_of
from importer.connections.connection_settings import remove, require_known
from importer.connections.protocols import host_key
from importer.engine.errors import Problem
from importer.models import Level, SourceConnection

router = Router(tags=["connections"])

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_.-]+$")]
FieldName = Annotated[str, Field(min_length=1, max_length=32)]
Folder = Annotated[str, Field(max_length=512, description="Empty: the connection's own.")]
Pattern = Annotated[str, Field(min_length=1, max_length=512, description="For the names of files.")]


class ConnectionChange(
    Body,
    json_schema_extra=example(place="sftp://loader@files.example.org/out", secrets={"password": "…"}),
):
    """What is to be changed of a connection. What is left out stays, also its secrets, unless place or account change.

    docs/connections.md has the settings and secrets of each kind.
    """

    name: Name | None = None
    place: Annotated[str | None, Field(min_length=1, max_length=700, description="Its address or folder.")] = None
    settings: dict[FieldName, Annotated[str, Field(max_length=300)]] = {}
    secrets: Annotated[
        dict[FieldName, Annotated[str | None, Field(max_length=20_000)]],
        Field(description="Never shown. Null: the stored one is forgotten."),
    ] = {}
    private_allowed: Annotated[bool | None, Field(description="Hosts inside your network. Cloud metadata never.")] = (
        None
    )


class NewConnection(
    ConnectionChange,
    json_schema_extra=example(name="incoming", place="https://files.example.org/daily/", settings={"user": "loader"}),
):
    """A connection to make. Its kind is that of the place."""

    name: Name
    place: Annotated[str, Field(min_length=1, max_length=700, description="Its address or folder.")]


class KeyIn(Body, json_schema_extra=example(key="SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU")):
    """The fingerprint of a host key that a person has compared."""

    key: Annotated[str, Field(min_length=1, max_length=100)]


class ConnectionOut(Schema):
    """A connection. A person who may not administer it sees only its name and kind.

    `stored`: the names of its secrets. `key_to_confirm`: the host key that the last check found; empty for none.
    """

    id: int
    name: str
    kind: str
    place: str | None
    settings: dict[str, str]
    stored: list[str]
    private_allowed: bool | None
    key_to_confirm: str
    checked_at: datetime | None
    findings: list[dict[str, Any]]


class ListedOut(Schema):
    """A file at a connection. `size` in bytes; null if the server does not report it."""

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
        "settings": connection.settings if whole else {},
        "stored": sorted(connection.secrets) if whole else [],
        "private_allowed": connection.private_allowed if whole else None,
        "key_to_confirm": host_key.key_to_confirm(connection) if whole else "",
        "checked_at": connection.checked_at if whole else None,
        "findings": operations.told_findings(connection) if whole else [],
    }


@router.get("connections", response=Page[ConnectionOut], url_name="api_connections", summary="List connections")
def list_connections(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The connections that the person may see, the newest first."""
    return page.newest(seen(SourceConnection.objects.all()), show)


@router.post(
    "connections",
    response={201: ConnectionOut},
    url_name="api_connections",
    summary="Make a connection",
    openapi_extra=PARAMETER,
)
@once
def add_connection(request: HttpRequest, new: NewConnection, response: HttpResponse) -> Any:
    """Make a connection, and check it. The answer has the findings."""
    saved = _save(SourceConnection(kind=parse_base(new.place).kind), new, {"name": new.name, "place": new.place})
    response.headers["Location"] = reverse("api_connection", args=[saved.pk])
    return Status(201, show(saved))


def _save(connection: SourceConnection, change: ConnectionChange, stored: Mapping[str, Any]) -> SourceConnection:
    """Save and check a connection as its page does. Raises InvalidValues for what the page's form refuses."""
    require_known(connection.kind, change.settings, {name: text or "" for name, text in change.secrets.items()})
    in_place = [name for name in change.settings if kind_of(connection).settings[name].in_place]
    if in_place:
        raise Problem(f"{in_place[0]} is a part of the place.", f"body.settings.{in_place[0]}", "Write it there.")
    given = change.dict(exclude_none=True, include={"name", "place", "private_allowed"})
    forgotten = {"forgotten": [name for name, text in change.secrets.items() if text is None]}
    values = {**stored, **given, **change.settings, **change.secrets, **forgotten}
    form = checked(ConnectionForm(entered(values), instance=connection))
    saved = form.save()
    audit.saved(saved, form.changed_data)
    operations.check(saved)
    return saved


@router.patch("connections/{int:id}", response=ConnectionOut, url_name="api_connection", summary="Change a connection")
def change_connection(request: HttpRequest, id: int, change: ConnectionChange) -> Any:
    """Change a connection, and check it. For another place or account the secrets are needed again."""
    connection = get_object_or_404(SourceConnection, pk=id)
    stored = {"name": connection.name, "place": format_base(connection), **connection.settings}
    return show(_save(connection, change, stored | {"private_allowed": connection.private_allowed}))


@router.delete("connections/{int:id}", response={204: None}, url_name="api_connection", summary="Delete a connection")
def delete_connection(request: HttpRequest, id: int) -> Any:
    """Delete a connection to which no schedule and no imported file refers. Its files stay where they are."""
    remove(get_object_or_404(SourceConnection, pk=id))
    return Status(204, None)


@router.post(
    "connections/{int:id}/confirm",
    response=ConnectionOut,
    url_name="api_connection_confirm",
    summary="Trust a host key",
)
def confirm_key(request: HttpRequest, id: int, what: KeyIn) -> Any:
    """Trust the host key that the last check found, after a person has compared it; and check again."""
    confirmed = get_object_or_404(SourceConnection, pk=id)
    operations.confirm_host_key(confirmed, what.key)
    return show(confirmed)


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
    operations.check(checked)
    return show(checked)


@router.get("connections/{int:id}/files", response=ListingOut, url_name="api_connection_files", summary="Browse files")
def files(request: HttpRequest, id: int, page: Query[Cursor], folder: Folder = "", pattern: Pattern = "*") -> Any:
    """What lies in a folder: its folders, and the files that a pattern matches, by pages."""
    found = browse(get_object_or_404(SourceConnection, pk=id), folder, pattern)
    return {"folders": found.folders, **page.part(found.files[page.first :])}


@router.get(
    "connections/{int:id}/lines", response=LinesOut, url_name="api_connection_lines", summary="Look into a file"
)
def lines(request: HttpRequest, id: int, name: Annotated[str, Field(min_length=1, max_length=1024)]) -> Any:
    """The first lines of a file as text. Nothing is copied."""
    return first_lines(get_object_or_404(SourceConnection, pk=id), name)
