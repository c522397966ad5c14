"""Schedules: make, list, show, change, pause, run and delete them."""

from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, cast

from django.contrib.auth.models import User
from django.forms import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Status
from pydantic import Field

from dashboard.api.body import Body, Day, example
from dashboard.api.forms import checked, entered
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import LARGEST, Cursor, Page
from dashboard.schedules.form import ScheduleForm
from importer import schedules
from importer.access import audit
from importer.access.policy import seen
from importer.connections.by_hand.connection_files import named_connection
from importer.engine.errors import Problem
from importer.models import ImportJob, MappingPreset, Schedule
from importer.preparation import presets
from importer.schedules import ScheduleRequest, serialization
from importer.schedules.commands import DEFAULT_LIMIT, NO_LIMIT

router = Router(tags=["schedules"])

Minutes = Annotated[int | None, Field(ge=1, le=10**6)]


class ScheduleFields(Body):
    """What a schedule has; docs/schedules.md explains each."""

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
    most_attempts: Annotated[int | None, Field(ge=1, le=100)] = None
    backoff_seconds: Annotated[int | None, Field(ge=1, le=10**6)] = None
    deadline_minutes: Minutes = None
    no_file: Schedule.NoFile | None = None
    known_by: Schedule.KnownBy | None = None
    afterwards: Schedule.Afterwards | None = None
    move_to: Annotated[str | None, Field(max_length=512)] = None
    drift: Schedule.Drift | None = None
    lateness_minutes: Minutes = None
    rejects_limit: Annotated[int | None, Field(ge=0, le=10**12)] = None


class ScheduleChange(ScheduleFields, json_schema_extra=example(cron="0 4 * * *", drift="stop")):
    """What is to be changed of a schedule. What is left out stays; null takes a limit away."""

    preset: Annotated[
        str, Field(max_length=64, description="Its mapping, options and table are the schedule's from now on.")
    ] = ""


class NewSchedule(
    ScheduleFields,
    json_schema_extra=example(
        job=17,
        name="orders",
        connection="incoming",
        pattern="orders-{date:%Y%m%d}.csv",
        trigger="cron",
        cron="30 2 * * *",
    ),
):
    """A schedule to make: of an import (`job`) or a preset, whose mapping, options and table each run has."""

    job: Annotated[int | None, Field(ge=1, le=LARGEST)] = None
    preset: Annotated[str, Field(max_length=64)] = ""
    no_limit: Annotated[bool, Field(description="Each import of the schedule may reject any number of rows.")] = False
    name: Annotated[str, Field(min_length=1, max_length=64)]
    connection: Annotated[str, Field(min_length=1, max_length=64, description="A name.")]
    pattern: Annotated[str, Field(min_length=1, max_length=512)]


class RunIn(Body, json_schema_extra=example(date="2026-11-20")):
    """A run by hand; with `date` as if it were due on that day."""

    date: Day | None = None


NOW = RunIn()  # without a body


def show(schedule: Schedule) -> dict[str, Any]:
    """A schedule as `millrace schedule list --json` has it, with its number."""
    return {"id": schedule.pk} | serialization.summary(schedule)


def read(id: int) -> Schedule:
    """The schedule of this number."""
    return get_object_or_404(Schedule.objects.select_related("connection", "target"), pk=id)


class PageOfSchedules(Page[dict[str, Any]]):
    """Some schedules, and the cursor of those after them."""


@router.get(
    "schedules",
    response=PageOfSchedules,
    url_name="api_schedules",
    summary="List schedules",
)
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
    return given | ({"connection": named_connection(name).pk} if (name := given.get("connection")) else {})


@router.get("schedules/{int:id}", response=dict[str, Any], url_name="api_schedule", summary="Show a schedule")
def show_schedule(request: HttpRequest, id: int) -> Any:
    """One schedule, with its settings, its next due times, its warnings and its last runs."""
    schedule = read(id)
    return {"id": schedule.pk} | serialization.details(schedule)


@router.patch("schedules/{int:id}", response=dict[str, Any], url_name="api_schedule", summary="Change a schedule")
def change_schedule(request: HttpRequest, id: int, change: ScheduleChange) -> Any:
    """Change a schedule. Its mapping, options and table stay, unless a preset is given."""
    stored = read(id)
    now = model_to_dict(stored, fields=[each.name for each in fields(ScheduleRequest)])
    values = entered(now | _with_connection(change.dict(exclude_unset=True, exclude={"preset"})))
    form = checked(ScheduleForm(values, instance=Schedule.objects.get(pk=id)))
    schedules.update(stored, form.schedule_request(), presets.by_name(change.preset) if change.preset else None)
    return show(read(id))


@router.delete("schedules/{int:id}", response={204: None}, url_name="api_schedule", summary="Delete a schedule")
def delete_schedule(request: HttpRequest, id: int) -> Any:
    """Delete a schedule and its runs. Its imports stay."""
    schedules.delete(read(id))
    return Status(204, None)


def _acts(word: str, path: str, about: str, act: Callable[[Schedule], Any]) -> None:
    """Declare an action without a body, whose answer is the schedule."""

    def action(request: HttpRequest, id: int) -> Any:
        act(read(id))
        return show(read(id))

    router.post(
        f"schedules/{{int:id}}/{path}",
        response=dict[str, Any],
        url_name=f"api_schedule_{path}",
        summary=word,
        description=about,
        operation_id=f"{path}_schedule",
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
    made = schedules.run_now(read(id), how.date, cast(User, request.user))
    response.headers["Location"] = reverse("api_run", args=[made.pk])
    return Status(201, serialization.run(made))


class FileNameIn(Body, json_schema_extra=example(name="orders-20261120.csv")):
    """The name of a file, as its run lists it."""

    name: Annotated[str, Field(min_length=1, max_length=1024)]


@router.post(
    "schedules/{int:id}/forget", response=dict[str, Any], url_name="api_schedule_forget", summary="Forget a file"
)
def forget_file(request: HttpRequest, id: int, what: FileNameIn) -> Any:
    """Forget the failed attempts to load a file, so that the next run loads it as a new one.

    First remove from the table what was loaded of it.
    """
    schedules.forget(read(id), what.name)
    return show(read(id))
