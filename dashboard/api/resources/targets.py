"""Targets: list, add, change, check and delete them; their tables and columns."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from django.forms import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.forms import checked, entered
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import Cursor, Page
from dashboard.targets.form import TargetForm
from importer import targets
from importer.access import audit
from importer.access.policy import seen
from importer.engine.mysql.connection import connect
from importer.lab import release_unmarked
from importer.models import Target
from importer.preparation.loadable_tables import offered_tables, read_loadable

router = Router(tags=["targets"])


class TargetChange(Body, json_schema_extra=example(ceiling=8, needs_approval=True)):
    """What is to be changed of a target. What is left out stays."""

    host: Annotated[str | None, Field(max_length=255, examples=["db.example.org"])] = None
    port: Annotated[int | None, Field(ge=1, le=65535)] = None
    user: Annotated[str | None, Field(max_length=128, examples=["loader"])] = None
    database: Annotated[str | None, Field(max_length=64, examples=["sales"])] = None
    password: Annotated[str, Field(max_length=256, description="Left out, the stored one stays.")] = ""
    tls: Target.Tls | None = None
    tls_ca: Annotated[str | None, Field(max_length=255, description="A CA file on Millrace's machine.")] = None
    server_key: Annotated[str | None, Field(max_length=4096)] = None
    clear_password: bool | None = None
    ceiling: Annotated[int | None, Field(ge=1, le=64, description="The most parallel chunks.")] = None
    label: Annotated[str | None, Field(max_length=32, description="Only workers with this label load into it.")] = None
    needs_approval: bool | None = None


class NewTarget(
    TargetChange,
    json_schema_extra=example(name="warehouse", host="db.example.org", user="loader", database="sales", tls="verify"),
):
    """A target to add. Without `port` 3306, without `tls` off on this machine and otherwise verify."""

    name: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_.-]+$", examples=["warehouse"])]
    host: Annotated[str, Field(min_length=1, max_length=255, examples=["db.example.org"])]
    user: Annotated[str, Field(min_length=1, max_length=128, examples=["loader"])]
    database: Annotated[str, Field(min_length=1, max_length=64, examples=["sales"])]


class TargetOut(Schema):
    """A target. Its password is never shown."""

    id: int
    name: str
    host: str
    port: int
    user: str
    database: str
    tls: Target.Tls
    tls_ca: str
    server_key: str
    clear_password: bool
    ceiling: int
    label: str
    needs_approval: bool
    checked_at: datetime | None
    passed: Annotated[bool | None, Field(description="Whether the last check has passed; null before the first.")]
    findings: list[dict[str, Any]]


class TableOut(Schema):
    """A table as an import sees it."""

    table: str
    engine: str
    primary_key: list[str]
    columns: list[dict[str, Any]]


@router.get("targets", response=Page[TargetOut], url_name="api_targets", summary="List targets")
def list_targets(request: HttpRequest, page: Query[Cursor], name: str = "") -> Any:
    """The targets that the person may see, the newest first; with `name`, the one of this name."""
    found = seen(Target.objects.registered())
    return page.newest(found.filter(name=name) if name else found, targets.document)


@router.post(
    "targets", response={201: TargetOut}, url_name="api_targets", summary="Add a target", openapi_extra=PARAMETER
)
@once
def add_target(request: HttpRequest, new: NewTarget, response: HttpResponse) -> Any:
    """Add a target, and check it. The answer has the findings: what is missing, and the SQL that adds it."""
    empty = {"port": targets.DEFAULT_PORT, "tls": targets.default_tls(new.host), "ceiling": Target().ceiling}
    saved = _save(Target(), empty | new.dict(exclude_none=True))
    response.headers["Location"] = reverse("api_target", args=[saved.pk])
    return Status(201, targets.document(saved))


def _save(target: Target, values: Mapping[str, Any]) -> Target:
    """Save and check a target as its page does. Raises InvalidValues for what the page's form refuses."""
    before = {name: getattr(target, name) for name in audit.RECORDED} if target.pk else {}
    saved = checked(TargetForm(entered(values), instance=target)).save()
    audit.target_saved(saved, before, bool(values.get("password")))
    release_unmarked(saved)
    targets.check(saved)
    return saved


@router.get("targets/{int:id}", response=TargetOut, url_name="api_target", summary="Show a target")
def show_target(request: HttpRequest, id: int) -> Any:
    """One target, with the findings of its last check."""
    return targets.document(get_object_or_404(Target, pk=id))


@router.patch("targets/{int:id}", response=TargetOut, url_name="api_target", summary="Change a target")
def change_target(request: HttpRequest, id: int, change: TargetChange) -> Any:
    """Change a target, and check it. For another server, account or way there the password is needed again."""
    target = get_object_or_404(Target, pk=id)
    stored = model_to_dict(target, fields=TargetForm.Meta.fields)
    return targets.document(_save(target, stored | change.dict(exclude_none=True)))


@router.delete("targets/{int:id}", response={204: None}, url_name="api_target", summary="Delete a target")
def delete_target(request: HttpRequest, id: int) -> Any:
    """Delete a target without imports and schedules. Nothing is changed on the server."""
    targets.remove(get_object_or_404(Target, pk=id))
    return Status(204, None)


@router.post("targets/{int:id}/check", response=TargetOut, url_name="api_target_check", summary="Check a target")
def check_target(request: HttpRequest, id: int) -> Any:
    """Connect, look at the settings and the account's rights, and load a few rows into a table of its own."""
    target = get_object_or_404(Target, pk=id)
    targets.check(target)
    return targets.document(target)


@router.get("targets/{int:id}/tables", response=list[str], url_name="api_target_tables", summary="List tables")
def tables(request: HttpRequest, id: int, search: Annotated[str, Field(max_length=64)] = "") -> Any:
    """Names of tables in the target's database that the person may load into, at most 50; those that contain a text."""
    target = get_object_or_404(Target, pk=id)
    with connect(target.address) as connection:
        return offered_tables(connection, target, search)


@router.get("targets/{int:id}/columns", response=TableOut, url_name="api_target_columns", summary="Show a table")
def columns(request: HttpRequest, id: int, table: Annotated[str, Field(min_length=1, max_length=130)]) -> Any:
    """The columns of a table, TABLE or SCHEMA.TABLE, with their types."""
    target = get_object_or_404(Target, pk=id)
    schema, _, name = table.rpartition(".")
    with connect(target.address) as connection:
        read = read_loadable(connection, target, schema or target.database, name)
    names = ("name", "type", "nullable", "default", "auto_increment", "generated")
    shown = [{name: getattr(each, name) for name in names} for each in read.columns]
    place = f"{read.schema}.{read.name}"
    return {"table": place, "engine": read.engine, "primary_key": read.primary_key, "columns": shown}
