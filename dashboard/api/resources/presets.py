"""Presets: list, show, make, change, rename and delete them, and save an import as one."""

from datetime import datetime
from typing import Annotated, Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import Cursor, Page
from dashboard.api.planning import only_looking, prepared
from dashboard.api.resources.imports.imports import read
from dashboard.api.wanted import ImportIn
from importer.access import audit
from importer.access.policy import seen
from importer.engine.stored import to_json
from importer.models import MappingPreset
from importer.preparation import presets

router = Router(tags=["presets"])


class NameIn(Body, json_schema_extra=example(name="nightly orders")):
    """The name of a preset."""

    name: Annotated[str, Field(min_length=1, max_length=64)]


class PresetIn(
    ImportIn,
    json_schema_extra=example(
        name="nightly orders", file="5097bcd8-b699-4dfc-8229-2ebba0f07047", target="warehouse", table="orders"
    ),
):
    """A preset to make: its name, and an import as it would be started, of a file with the header of those to come."""

    name: Annotated[str, Field(min_length=1, max_length=64)]


class PresetOut(Schema):
    """A preset: what an import of a file with this header is made with."""

    id: int
    name: str
    target: str
    table: Annotated[str, Field(description="SCHEMA.TABLE.")]
    header: list[str]
    dialect: dict[str, Any]
    mapping: list[dict[str, Any]]
    fillings: list[dict[str, Any]]
    options: dict[str, Any]
    columns: Annotated[list[list[str]], Field(description="Name and type of each column of the table.")]
    used_at: datetime | None


def show(preset: MappingPreset) -> dict[str, Any]:
    """A preset as the API shows it."""
    return {"id": preset.pk, **to_json(presets.exported(preset)), "used_at": preset.used_at}


def _read(id: int) -> MappingPreset:
    return get_object_or_404(MappingPreset.objects.select_related("target"), pk=id)


@router.get("presets", response=Page[PresetOut], url_name="api_presets", summary="List presets")
def list_presets(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The presets that the person may see, the newest first."""
    return page.newest(seen(MappingPreset.objects.select_related("target")), show)


@router.post(
    "presets", response={201: PresetOut}, url_name="api_presets", summary="Make a preset", openapi_extra=PARAMETER
)
@once
def add_preset(request: HttpRequest, new: PresetIn, response: HttpResponse) -> Any:
    """Make a preset of everything that an import of the file would be made with. Nothing is loaded.

    Where the file can be read in more than one way, the problem 1400 has the questions, as for an import.
    """
    made = prepared(new, request.user)
    with only_looking(new, made.source):
        saved = presets.save(new.name, made, cast(User, request.user))
    audit.note(preset=saved.name)
    response.headers["Location"] = reverse("api_preset", args=[saved.pk])
    return Status(201, show(saved))


@router.put("presets/{int:id}", response=PresetOut, url_name="api_preset", summary="Change a preset")
def replace_preset(request: HttpRequest, id: int, wanted: ImportIn) -> Any:
    """Give a preset the settings of an import as it would be started. Schedules that were made with it keep theirs."""
    preset = _read(id)
    audit.note(preset=preset.name)
    made = prepared(wanted, request.user)
    with only_looking(wanted, made.source):
        return show(presets.replace(preset, made))


@router.get("presets/{int:id}", response=PresetOut, url_name="api_preset", summary="Show a preset")
def show_preset(request: HttpRequest, id: int) -> Any:
    """One preset."""
    return show(_read(id))


@router.patch("presets/{int:id}", response=PresetOut, url_name="api_preset", summary="Rename a preset")
def rename_preset(request: HttpRequest, id: int, new: NameIn) -> Any:
    """Give a preset another name."""
    preset = _read(id)
    presets.rename(preset, new.name)
    audit.note(name=preset.name)
    return show(preset)


@router.delete("presets/{int:id}", response={204: None}, url_name="api_preset", summary="Delete a preset")
def delete_preset(request: HttpRequest, id: int) -> Any:
    """Delete a preset. Schedules that were made with it keep their settings."""
    _read(id).delete()
    return Status(204, None)


@router.post(
    "imports/{int:job}/preset",
    response={201: PresetOut},
    url_name="api_import_preset",
    summary="Save an import as a preset",
    openapi_extra=PARAMETER,
)
@once
def save_preset(request: HttpRequest, job: int, new: NameIn, response: HttpResponse) -> Any:
    """Save format, columns and options of an import, for files with the same header."""
    saved = presets.save_from_job(new.name, read(job), cast(User, request.user))
    audit.note(preset=saved.name)
    response.headers["Location"] = reverse("api_preset", args=[saved.pk])
    return Status(201, show(saved))
