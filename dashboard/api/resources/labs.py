"""Labs: start, show and cancel them."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import LARGEST, Cursor, Page
from importer import lab
from importer.access import audit
from importer.access.policy import require, seen
from importer.engine.errors import Problem
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import GRIDS, TUNABLE, Grid, grid_named
from importer.engine.tuning.sampling import Sample
from importer.engine.tuning.value_syntax import read_values
from importer.lab.commands import MOST_REPEATS, REPEATS, SAMPLE_ROWS
from importer.models import ImportJob, Lab, Level

router = Router(tags=["labs"])

OWN = "own"
USUAL_SECONDS = 600
if TYPE_CHECKING:
    GridName: TypeAlias = str
    SettingName: TypeAlias = str
else:
    GridName, SettingName = Literal[(OWN, *GRIDS)], Literal[TUNABLE]


class LabIn(Schema, extra="forbid"):
    """A lab that tries settings on a sample of the file of an import, in copies of its table."""

    job: Annotated[int, Field(ge=1, le=LARGEST, description="The import.")]
    grid: Annotated[GridName, Field(description="The settings to try; own: those in `settings` alone.")] = "chunks"
    settings: Annotated[
        dict[SettingName, Annotated[str, Field(max_length=200)]],
        Field(
            description="Values to try, in place of the grid's or in addition to it.",
            examples=[{"chunk_bytes": "1M,4M"}],
        ),
    ] = {}
    rows: Annotated[int, Field(ge=1, le=10**12, description="Of the sample.")] = SAMPLE_ROWS
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = REPEATS
    seconds: Annotated[int, Field(ge=1, le=10**6, description="No trial begins that would end later.")] = USUAL_SECONDS
    schema_name: Annotated[str, Field(max_length=64, description="Of the scratch tables; empty: the table's.")] = ""
    beside_imports: bool = False


def _read(id: int) -> Lab:
    return get_object_or_404(Lab.objects.select_related("target", "source"), pk=id)


@router.get("labs", response=Page[dict[str, Any]], url_name="api_labs", summary="List labs")
def list_labs(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The labs that the person may see, the newest first."""
    return page.newest(seen(Lab.objects.select_related("target")), _summary)


def _summary(row: Lab) -> dict[str, Any]:
    return {
        "lab": row.pk,
        "status": row.status,
        "file": row.source_name,
        "target": row.target.name,
        "table": row.table,
        "grid": row.grid.name,
    }


@router.post(
    "labs", response={201: dict[str, Any]}, url_name="api_labs", summary="Start a lab", openapi_extra=PARAMETER
)
@once
def start_lab(request: HttpRequest, wanted: LabIn, response: HttpResponse) -> Any:
    """Try settings by loading a sample into copies of the table, which itself does not change."""
    job = seen(ImportJob.objects.select_related("target", "source")).filter(pk=wanted.job, trial=None).first()
    if job is None:
        raise Problem(f"There is no import {wanted.job}.", "body.job", "Take one of the list of imports.")
    require(Level.LOAD, job)
    grid = Grid(OWN, {}, "as requested") if wanted.grid == OWN else grid_named(wanted.grid)
    grid = grid.with_values({name: read_values(name, text) for name, text in wanted.settings.items()})
    asked = lab.LabRequest(
        grid,
        Sample(rows=wanted.rows),
        wanted.repeats,
        Budget(seconds=wanted.seconds),
        wanted.schema_name,
        wanted.beside_imports,
    )
    made = lab.create_from_job(job, asked, cast(User, request.user))
    audit.about(made)
    lab.start(made.pk)
    response.headers["Location"] = reverse("api_lab", args=[made.pk])
    return Status(201, lab.outcome(_read(made.pk)))


@router.get("labs/{int:id}", response=dict[str, Any], url_name="api_lab", summary="Show a lab")
def show_lab(request: HttpRequest, id: int) -> Any:
    """A lab with its trials and what it recommends, as far as it is."""
    return lab.outcome(_read(id))


@router.post("labs/{int:id}/cancel", response=dict[str, Any], url_name="api_lab_cancel", summary="Cancel a lab")
def cancel_lab(request: HttpRequest, id: int) -> Any:
    """End a lab. Its scratch tables are dropped."""
    lab.cancel(_read(id).pk)
    return lab.outcome(_read(id))
