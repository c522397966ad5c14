"""Labs: plan, start and show them, act on them, and save what they recommend; and published experiments, as labs."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import LARGEST, Cursor, Page
from dashboard.api.planning import only_looking, target_named
from dashboard.api.planning import prepared as prepared_import
from dashboard.api.resources.presets import PresetOut
from dashboard.api.resources.presets import show as show_preset
from dashboard.api.wanted import ImportIn
from dashboard.lab.amounts import MOST_ROWS
from dashboard.lab.form import SEEDS
from importer import lab
from importer.access import audit
from importer.access.policy import require, seen
from importer.engine.errors import Problem
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import GRIDS, TUNABLE, Grid, grid_named
from importer.engine.tuning.sampling import Sample
from importer.engine.tuning.value_syntax import read_values
from importer.lab.commands import MOST_REPEATS, REPEATS
from importer.models import ImportJob, Lab, Level
from importer.preparation.prepare import PreparedImport

router = Router(tags=["labs"])

OWN = "own"
USUAL_SECONDS = 600
if TYPE_CHECKING:
    GridName: TypeAlias = str
    SettingName: TypeAlias = str
else:
    GridName, SettingName = Literal[(OWN, *GRIDS)], Literal[TUNABLE]


class LabIn(
    Body,
    json_schema_extra=example(job=17, grid="own", settings={"chunk_bytes": "1M,4M"}, rows=100_000, seconds=300),
):
    """A lab that tries settings on a sample of a file, in copies of its table. Give either `job` or `load`."""

    job: Annotated[int | None, Field(ge=1, le=LARGEST, description="The import.")] = None
    load: Annotated[
        ImportIn | None, Field(description="Instead: a file with its target and table, or a preset; as for an import.")
    ] = None
    grid: Annotated[GridName, Field(description="The settings to try; own: those in `settings` alone.")] = "chunks"
    settings: Annotated[
        dict[SettingName, Annotated[str, Field(max_length=200)]],
        Field(
            description="Values to try, in place of the grid's or in addition to it.",
            examples=[{"chunk_bytes": "1M,4M"}],
        ),
    ] = {}
    rows: Annotated[
        int | None, Field(ge=1, le=MOST_ROWS, description="Sample: the number of first rows; default: enough.")
    ] = None
    share: Annotated[float | None, Field(gt=0, le=100, description="Instead: percent of the file, in ranges.")] = None
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = REPEATS
    seconds: Annotated[int, Field(ge=1, le=10**6, description="No trial begins that would end later.")] = USUAL_SECONDS
    most_rows: Annotated[int | None, Field(ge=1, le=10**15, description="At most, in all trials together.")] = None
    target_bytes: Annotated[int | None, Field(ge=1, le=2**60, description="At most, on the target's disk.")] = None
    local_bytes: Annotated[int | None, Field(ge=1, le=2**60, description="At most, on Millrace's disk.")] = None
    schema_name: Annotated[str, Field(max_length=64, description="Of the scratch tables; empty: the table's.")] = ""
    during_imports: bool = False
    seed: Annotated[int | None, Field(ge=0, lt=SEEDS, description="The same gives the same order of trials.")] = None

    def request(self, prepared: PreparedImport) -> lab.LabRequest:
        """What the lab is to try on this import. Raises Problem for values that cannot be."""
        grid = Grid(OWN, {}, "as requested") if self.grid == OWN else grid_named(self.grid)
        grid = grid.with_values({name: read_values(name, text) for name, text in self.settings.items()})
        rows = self.rows or (None if self.share else lab.suggest_sample(prepared, grid))
        sample = Sample(rows=rows, share=self.share / 100 if self.share else None)
        limits = {"rows": self.most_rows, "target_bytes": self.target_bytes, "local_bytes": self.local_bytes}
        budget = Budget(seconds=self.seconds, **{name: value for name, value in limits.items() if value})
        seed = {} if self.seed is None else {"seed": self.seed}
        return lab.LabRequest(grid, sample, self.repeats, budget, self.schema_name, self.during_imports, **seed)


class EstimateOut(Schema):
    """What a lab would cost. `seconds` and `rate` (rows a second) are null without earlier loads into the table."""

    combinations: list[dict[str, Any]]
    left_out: list[dict[str, Any]]
    alike: Annotated[list[str], Field(description="Sentences about values that give the same plan on the sample.")]
    trials: int
    finals: Annotated[int, Field(description="The most trials that may follow of the best combinations.")]
    sample_rows: int
    sample_bytes: int
    table_bytes: int
    seconds: float | None
    rate: float | None


class PresetNameIn(Body, json_schema_extra=example(name="orders, fastest")):
    """The name of the preset to save."""

    name: Annotated[str, Field(min_length=1, max_length=64)]


def read(id: int) -> Lab:
    """The lab of this number."""
    return get_object_or_404(Lab.objects.select_related("target", "source", "created_by", "of_job"), pk=id)


class PageOfLabs(Page[dict[str, Any]]):
    """Some labs, and the cursor of those after them."""


@router.get("labs", response=PageOfLabs, url_name="api_labs", summary="List labs")
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
    prepared, job = _prepared(wanted, request)
    made = lab.create(prepared, wanted.request(prepared), cast(User, request.user), job)
    audit.about(made)
    lab.start(made.pk)
    response.headers["Location"] = reverse("api_lab", args=[made.pk])
    return Status(201, lab.outcome(read(made.pk)))


def _prepared(wanted: LabIn, request: HttpRequest) -> tuple[PreparedImport, ImportJob | None]:
    """What the lab loads: the import again, or a file. Raises Problem unless exactly one of them is given."""
    if (wanted.job is None) == (wanted.load is None):
        raise Problem("The lab needs an import or a file.", "body", "Give either job or load.")
    if wanted.load:
        # Trials add rows to scratch tables, so how the import itself writes is of no importance.
        options = wanted.load.options.model_copy(update={"mode": "append"})
        return prepared_import(wanted.load.model_copy(update={"options": options}), request.user), None
    job = seen(ImportJob.objects.select_related("target", "source")).filter(pk=wanted.job or 0, trial=None).first()
    if job is None:
        raise Problem(f"There is no import {wanted.job}.", "body.job", "GET imports lists them.")
    require(Level.LOAD, job)
    return lab.prepare_again(job), job


@router.post("labs/plan", response=EstimateOut, url_name="api_lab_plan", summary="Plan a lab")
def plan_lab(request: HttpRequest, wanted: LabIn) -> Any:
    """What a lab would try, and what it would cost. Nothing is written."""
    prepared, job = _prepared(wanted, request)
    with only_looking(wanted.load, prepared.source) if wanted.load else nullcontext():
        expected = lab.estimate(prepared, wanted.request(prepared), job)
    values = dict(vars(expected))
    return {"combinations": values.pop("tried"), **values}


@router.get("labs/{int:id}", response=dict[str, Any], url_name="api_lab", summary="Show a lab")
def show_lab(request: HttpRequest, id: int) -> Any:
    """A lab with the trials that have run so far, and with what it recommends once it is done."""
    return lab.outcome(read(id))


def _acts(word: str, path: str, about: str, act: Callable[[int], Any]) -> None:
    """Declare an action without a body, whose answer is the lab."""

    def action(request: HttpRequest, id: int) -> Any:
        act(read(id).pk)
        return lab.outcome(read(id))

    name = path.replace("-", "_")
    router.post(
        f"labs/{{int:id}}/{path}",
        response=dict[str, Any],
        url_name=f"api_lab_{name}",
        summary=word,
        description=about,
        operation_id=f"{name}_lab",
    )(action)


_acts("Cancel a lab", "cancel", "End a lab. Its scratch tables are dropped, and what was measured stays.", lab.cancel)
_acts("Clean up a lab now", "clean-now", "Try at once to drop what the lab has made on the server.", lab.try_now)
_acts(
    "End a lab without clean-up",
    "end-without",
    "End a lab although its scratch tables cannot be dropped. Drop them by hand.",
    lab.end_without,
)


@router.post(
    "labs/{int:id}/preset",
    response={201: PresetOut},
    url_name="api_lab_preset",
    summary="Save a lab as a preset",
    openapi_extra=PARAMETER,
)
@once
def save_lab(request: HttpRequest, id: int, new: PresetNameIn, response: HttpResponse) -> Any:
    """Save the settings that a lab recommends, for files with the same header."""
    saved = lab.save_preset(read(id), new.name, cast(User, request.user))
    audit.note(preset=saved.name)
    response.headers["Location"] = reverse("api_preset", args=[saved.pk])
    return Status(201, show_preset(saved))


class ExperimentIn(Body, json_schema_extra=example(name="methods", target="warehouse", size="small", repeats=5)):
    """An experiment that `GET experiments` lists, on a target."""

    name: Annotated[str, Field(max_length=64)]
    target: Annotated[str, Field(max_length=64)]
    size: Annotated[str, Field(max_length=13, description="small, full (as many rows as the article), or rows.")] = (
        "small"
    )
    ways: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(max_length=100, description="Run these only (* and ? fit any text), and what they are compared with."),
    ] = []
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS, description="Rounds that count.")] = REPEATS
    warm_up: Annotated[bool, Field(description="Begin with a round that does not count.")] = True
    during_imports: bool = False
    seed: Annotated[int | None, Field(ge=0, lt=SEEDS, description="The same gives the same order of trials.")] = None


@router.get("experiments", response=list[dict[str, Any]], url_name="api_experiments", summary="List experiments")
def list_experiments(request: HttpRequest) -> Any:
    """The published measurements, with their ways, and what this host lacks for those on a private server."""
    return lab.experiments()


@router.post(
    "experiments",
    response={201: dict[str, Any]},
    url_name="api_experiments",
    summary="Start an experiment",
    openapi_extra=PARAMETER,
)
@once
def start_experiment(request: HttpRequest, wanted: ExperimentIn, response: HttpResponse) -> Any:
    """Repeat a published measurement, in scratch tables. The answer is the lab that does it."""
    values = wanted.model_dump()
    made = lab.order(values.pop("name"), target_named(values.pop("target")), cast(User, request.user), **values)
    audit.about(made)
    lab.start(made.pk)
    response.headers["Location"] = reverse("api_lab", args=[made.pk])
    return Status(201, lab.outcome(read(made.pk)))


@router.get("labs/{int:id}/report", response=dict[str, Any], url_name="api_lab_report", summary="Report an experiment")
def report_experiment(request: HttpRequest, id: int) -> Any:
    """What an experiment has measured so far: ways, the article's figures, and the verdict on each claim."""
    report = read(id).report_json
    if report is None:
        raise Http404
    return report
