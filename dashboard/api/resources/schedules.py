"""Schedules and their runs: what they do, and everything that their pages do to them."""

import datetime
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, cast

from django.contrib.auth.models import User
from django.forms import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.forms import checked, entered
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import LARGEST, Cursor, Page
from dashboard.schedules.form import ScheduleForm
from importer import schedules
from importer.access import audit
from importer.access.policy import seen
from importer.connections.by_hand.connection_files import named_connection
from importer.engine.errors import Problem
from importer.engine.plan.options import DEFAULT_LIMIT, NO_LIMIT
from importer.models import ImportJob, MappingPreset, Schedule, ScheduleRun
from importer.preparation import presets
from importer.schedules import ScheduleRequest, serialization

router = Router(tags=["schedules"])

Minutes = Annotated[int | None, Field(ge=1, le=10**6)]


class ScheduleChange(Schema, extra="forbid"):
    """What is to be changed of a schedule. What is left out stays; docs/schedules.md explains each."""

    name: Annotated[str | None, Field(min_length=1, max_length=64)] = None
    connection: Annotated[str | None, Field(max_length=64, description="A name.")] = None
    pattern: Annotated[str | None, Field(max_length=512, examples=["orders-{date:%Y%m%d}.csv"])] = None
    subfolders: bool | None = None
    trigger: Schedule.Trigger | None = None
    cron: Annotated[str | None, Field(max_length=200, examples=["30 2 * * *"])] = None
    every_minutes: Minutes = None
    zone: Annotated[str | None, Field(max_length=64, examples=["Europe/Vienna"])] = None
    overlap: Schedule.Overlap | None = None
    misfire: Schedule.Misfire | None = None
    misfire_most: Annotated[int | None, Field(ge=0, le=1000)] = None
    tries: Annotated[int | None, Field(ge=1, le=100)] = None
    backoff_seconds: Annotated[int | None, Field(ge=1, le=10**6)] = None
    deadline_minutes: Minutes = None
    no_file: Schedule.NoFile | None = None
    known_by: Schedule.KnownBy | None = None
    afterwards: Schedule.Afterwards | None = None
    move_to: Annotated[str | None, Field(max_length=512)] = None
    drift: Schedule.Drift | None = None
    lateness_minutes: Minutes = None
    rejects_limit: Annotated[int | None, Field(ge=0, le=10**12)] = None


class NewSchedule(ScheduleChange, extra="forbid"):
    """A schedule to make: of an import (`job`) or a preset, whose mapping, options and table each run has."""

    job: Annotated[int | None, Field(ge=1, le=LARGEST)] = None
    preset: Annotated[str, Field(max_length=64)] = ""
    no_limit: Annotated[bool, Field(description="A run may reject any number of rows.")] = False
    name: Annotated[str, Field(min_length=1, max_length=64)]
    connection: Annotated[str, Field(min_length=1, max_length=64, description="A name.")]
    pattern: Annotated[str, Field(min_length=1, max_length=512)]


class RunIn(Schema, extra="forbid"):
    """A run by hand; with `date` as if it were due on that day."""

    date: datetime.date | None = None


NOW = RunIn()  # without a body


def show(schedule: Schedule) -> dict[str, Any]:
    """A schedule as `millrace schedule show --json` has it, with its number."""
    return {"id": schedule.pk} | serialization.summary(schedule)


def _read(id: int) -> Schedule:
    return get_object_or_404(Schedule.objects.select_related("connection", "target"), pk=id)


@router.get("schedules", response=Page[dict[str, Any]], url_name="api_schedules", summary="List schedules")
def list_schedules(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The schedules that the person may see, each with its last run; the newest first."""
    return page.newest(seen(Schedule.objects.select_related("connection", "target")), show)


@router.post(
    "schedules",
    response={201: dict[str, Any]},
    url_name="api_schedules",
    summary="Make a schedule",
    openapi_extra=PARAMETER,
)
@once
def add_schedule(request: HttpRequest, new: NewSchedule, response: HttpResponse) -> Any:
    """Make a schedule with the mapping, options and table of an import or a preset."""
    recipe = _recipe(new)
    given = new.dict(exclude_none=True, exclude={"job", "preset", "no_limit"})
    usual = {each.name: each.default for each in fields(ScheduleRequest)} | {"reject_limit": _limit(new.no_limit)}
    asks = schedules.lacks_limit(recipe)
    form = checked(ScheduleForm(entered(usual | _with_connection(given)), asks_limit=asks))
    made, user = form.schedule_request(), cast(User, request.user)
    if isinstance(recipe, ImportJob):
        saved = schedules.create_from_job(recipe, made, user, no_limit=new.no_limit)
    else:
        saved = schedules.create(made, recipe, user, no_limit=new.no_limit)
    audit.about(saved)
    response.headers["Location"] = reverse("api_schedule", args=[saved.pk])
    return Status(201, show(saved))


def _limit(none: bool) -> str:
    return NO_LIMIT if none else DEFAULT_LIMIT


def _recipe(new: NewSchedule) -> ImportJob | MappingPreset:
    if new.preset:
        return presets.by_name(new.preset)
    imports = seen(ImportJob.objects.filter(trial=None)).select_related("target", "source")
    if found := imports.filter(pk=new.job).first() if new.job else None:
        return found
    raise Problem("There is no such import.", "body.job", "Name an import by its job, or a preset.")


def _with_connection(given: dict[str, Any]) -> dict[str, Any]:
    """The values with the number of the connection in place of its name."""
    return given | ({"connection": named_connection(given["connection"]).pk} if "connection" in given else {})


@router.get("schedules/{int:id}", response=dict[str, Any], url_name="api_schedule", summary="Show a schedule")
def show_schedule(request: HttpRequest, id: int) -> Any:
    """One schedule, with its last run."""
    return show(_read(id))


@router.patch("schedules/{int:id}", response=dict[str, Any], url_name="api_schedule", summary="Change a schedule")
def change_schedule(request: HttpRequest, id: int, change: ScheduleChange) -> Any:
    """Change a schedule. Its mapping, options and table stay."""
    stored = _read(id)
    now = model_to_dict(stored, fields=[each.name for each in fields(ScheduleRequest)])
    values = entered(now | _with_connection(change.dict(exclude_none=True)))
    form = checked(ScheduleForm(values, instance=Schedule.objects.get(pk=id)))
    schedules.update(stored, form.schedule_request())
    return show(_read(id))


@router.delete("schedules/{int:id}", response={204: None}, url_name="api_schedule", summary="Delete a schedule")
def delete_schedule(request: HttpRequest, id: int) -> Any:
    """Delete a schedule and its runs. Its imports stay."""
    schedules.delete(_read(id))
    return Status(204, None)


def _acts(word: str, name: str, about: str, act: Callable[[Schedule], Any]) -> None:
    """Declare an action without a body, whose answer is the schedule."""

    def action(request: HttpRequest, id: int) -> Any:
        act(_read(id))
        return show(_read(id))

    router.post(
        f"schedules/{{int:id}}/{name}",
        response=dict[str, Any],
        url_name=f"api_schedule_{name}",
        summary=word,
        description=about,
        operation_id=f"{name}_schedule",
    )(action)


_acts("Pause", "pause", "Begin no more runs; one that is under way is finished.", schedules.pause)
_acts("Resume", "resume", "Continue with the next due time.", schedules.resume)


@router.post(
    "schedules/{int:id}/run",
    response={201: dict[str, Any]},
    url_name="api_schedule_run",
    summary="Run now",
    openapi_extra=PARAMETER,
)
@once
def run_now(request: HttpRequest, id: int, response: HttpResponse, how: RunIn = NOW) -> Any:
    """Begin a run. Files whose rows are in the table are not loaded again."""
    made = schedules.run_now(_read(id), how.date, cast(User, request.user))
    response.headers["Location"] = reverse("api_run", args=[made.pk])
    return Status(201, serialization.run(made))


@router.get("schedules/{int:id}/runs", response=Page[dict[str, Any]], url_name="api_schedule_runs", summary="List runs")
def list_runs(request: HttpRequest, id: int, page: Query[Cursor]) -> Any:
    """The runs of a schedule with their files, the newest first."""
    return page.newest(ScheduleRun.objects.filter(schedule=id), serialization.run)


@router.get("runs/{int:id}", response=dict[str, Any], url_name="api_run", summary="Show a run")
def show_run(request: HttpRequest, id: int) -> Any:
    """One run of a schedule, with its files and their imports."""
    return serialization.run(get_object_or_404(ScheduleRun, pk=id))


@router.post("runs/{int:id}/cancel", response=dict[str, Any], url_name="api_run_cancel", summary="Cancel a run")
def cancel_run(request: HttpRequest, id: int) -> Any:
    """End a run and cancel its import; committed rows stay."""
    run = get_object_or_404(ScheduleRun.objects.select_related("schedule"), pk=id)
    schedules.cancel(run, cast(User, request.user))
    return serialization.run(ScheduleRun.objects.get(pk=id))


@router.post("runs/{int:id}/again", response=list[dict[str, Any]], url_name="api_run_again", summary="Run again")
def repeat_run(request: HttpRequest, id: int) -> Any:
    """Begin a run for the moment of an ended one, or for each due time that was left out together."""
    run = get_object_or_404(ScheduleRun.objects.select_related("schedule"), pk=id)
    return [serialization.run(each) for each in schedules.run_again(run, cast(User, request.user))]
