"""What a schedule would do, before it is made: when it would run, and which files it would find now."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.forms import entered
from dashboard.api.resources.schedules.schedules import Minutes
from dashboard.schedules import preview
from importer.connections.by_hand.connection_files import named_connection
from importer.models import Schedule

router = Router(tags=["schedules"])


class PreviewIn(
    Body,
    json_schema_extra=example(
        connection="incoming", pattern="orders-*.csv", trigger="cron", cron="30 2 * * *", zone="Europe/Vienna"
    ),
):
    """When a schedule would run, and for which files; as in a new schedule."""

    connection: Annotated[str, Field(min_length=1, max_length=64, description="A name.")]
    pattern: Annotated[str, Field(min_length=1, max_length=512)]
    subfolders: bool = False
    trigger: Schedule.Trigger = Schedule.Trigger.CRON
    cron: Annotated[str, Field(max_length=200)] = ""
    every_minutes: Minutes = None
    zone: Annotated[str, Field(max_length=64)] = "UTC"


class FoundOut(Schema):
    """A file that the pattern matches. `size` in bytes; null if the server does not report it."""

    name: str
    size: int | None
    modified_at: datetime | None


class PreviewOut(Schema):
    """When the schedule would run, in words and the next times; the first files that it would find, and how many."""

    when: str
    times: list[datetime]
    files: list[FoundOut]
    total: int


@router.post("schedules/plan", response=PreviewOut, url_name="api_schedule_plan", summary="Preview a schedule")
def plan_schedule(request: HttpRequest, wanted: PreviewIn) -> Any:
    """When a schedule would run, and which files it would find now. Nothing is loaded, and nothing is kept."""
    values = wanted.dict() | {
        "connection": named_connection(wanted.connection).pk,
        "subfolders": wanted.subfolders or "",
    }
    texts = {name: str(value) for name, value in entered(values).items()}
    when, files = preview.when(texts), preview.files(texts)
    for problem in (when.problem, files.problem):
        if problem:
            raise problem
    return {"when": when.words, "times": when.times, "files": files.first, "total": files.total or 0}
