"""Runs of schedules: list, show, cancel and repeat them, and run for days that are past."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Status

from dashboard.api.body import Body, Day, example
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import Cursor, Page
from dashboard.api.resources.schedules.schedules import read
from importer import schedules
from importer.models import ScheduleRun
from importer.schedules import serialization

router = Router(tags=["schedules"])


class DaysIn(Body, json_schema_extra=example(first="2026-11-01", last="2026-11-07")):
    """Days, both included, in the zone of the schedule."""

    first: Day
    last: Day


def _run(id: int) -> ScheduleRun:
    return get_object_or_404(ScheduleRun.objects.select_related("schedule"), pk=id)


class PageOfRuns(Page[dict[str, Any]]):
    """Some runs of a schedule, and the cursor of those after them."""


@router.get(
    "schedules/{int:id}/runs",
    response=PageOfRuns,
    url_name="api_schedule_runs",
    summary="List runs",
)
def list_runs(request: HttpRequest, id: int, page: Query[Cursor]) -> Any:
    """The runs of a schedule with their files, the newest first."""
    return page.newest(ScheduleRun.objects.filter(schedule=id), serialization.run)


@router.post(
    "schedules/{int:id}/backfill",
    response={201: list[dict[str, Any]]},
    url_name="api_schedule_backfill",
    summary="Run for past days",
    openapi_extra=PARAMETER,
)
@once
def backfill(request: HttpRequest, id: int, days: DaysIn) -> Any:
    """Begin a run for each due time of past days. Files whose rows are in the table are not loaded again."""
    begun = schedules.backfill(read(id), days.first, days.last, cast(User, request.user))
    return Status(201, [serialization.run(each) for each in begun])


@router.get("runs/{int:id}", response=dict[str, Any], url_name="api_run", summary="Show a run")
def show_run(request: HttpRequest, id: int) -> Any:
    """One run of a schedule, with its files and their imports."""
    return serialization.run(_run(id))


@router.post("runs/{int:id}/cancel", response=dict[str, Any], url_name="api_run_cancel", summary="Cancel a run")
def cancel_run(request: HttpRequest, id: int) -> Any:
    """End a run and cancel its import; committed rows stay."""
    schedules.cancel(_run(id), cast(User, request.user))
    return serialization.run(_run(id))


@router.post("runs/{int:id}/dismiss", response=dict[str, Any], url_name="api_run_dismiss", summary="Dismiss a run")
def dismiss_run(request: HttpRequest, id: int) -> Any:
    """Say that nobody needs to look at how a run and its imports ended; who says so is kept."""
    schedules.dismiss(_run(id))
    return serialization.run(_run(id))


@router.post(
    "runs/{int:id}/again",
    response=list[dict[str, Any]],
    url_name="api_run_again",
    summary="Run again",
    openapi_extra=PARAMETER,
)
@once
def repeat_run(request: HttpRequest, id: int) -> Any:
    """Begin a run for the moment of an ended one, or for each due time that was missed or left out together."""
    return [serialization.run(each) for each in schedules.run_again(_run(id), cast(User, request.user))]
