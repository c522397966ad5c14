"""Decisions about a schedule: accept a new header, and choose which channels are sent its events."""

from typing import Annotated, Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.once import PARAMETER, once
from dashboard.api.resources.schedules.schedules import read
from importer import schedules
from importer.engine.errors import Problem
from importer.models import Channel, Subscription
from importer.models.channel import Event
from importer.notifications import channels
from importer.schedules import HeaderChange, serialization

router = Router(tags=["schedules"])


class ColumnsIn(Body, json_schema_extra=example(columns=["sku", "name", "", "price"])):
    """Where the fields of a new header go."""

    columns: Annotated[
        list[Annotated[str, Field(max_length=64)]],
        Field(max_length=4096, description="The column of each field, in the order of the header; empty: left out."),
    ]


class SubscriptionIn(Body, json_schema_extra=example(channel="ops", events=["failed", "late"])):
    """The events of a schedule that are sent to a channel, in addition to those of its own choice."""

    channel: Annotated[str, Field(min_length=1, max_length=64, description="A name.")]
    events: Annotated[list[Event], Field(description="Empty: only those of its own choice.")]


class NewFieldOut(Schema):
    """A field of the new header.

    `column`: where it would go, empty for nowhere; `before`: where it went, null for a new one; `instead_of`: the
    missing field that stood in its place; `chosen`: somebody has to choose the column.
    """

    name: str
    column: str
    before: str | None
    instead_of: str
    chosen: bool
    samples: list[str]


class GoneOut(Schema):
    """A field that is missing, and its column."""

    field: str
    column: str


class HeaderOut(Schema):
    """The header of the file that stopped a schedule, compared with the one that the schedule knows."""

    file: str
    fields: list[NewFieldOut]
    gone: list[GoneOut]
    columns: Annotated[list[str], Field(description="Of the table.")]
    table_changes: Annotated[list[str], Field(description="How the table differs from what it was, in words.")]


class SubscriptionOut(Schema):
    """A channel with the events that it gets of this schedule, and those that it gets of all schedules (`of_all`)."""

    channel: str
    events: list[str]
    of_all: list[str]


@router.get(
    "schedules/{int:id}/header", response=HeaderOut, url_name="api_schedule_header", summary="Compare the new header"
)
def compare_header(request: HttpRequest, id: int) -> Any:
    """How the file that stopped the schedule differs. Answered with a problem if no such file waits."""
    return _header(schedules.header_change(read(id)))


def _header(change: HeaderChange) -> dict[str, Any]:
    return {
        "file": change.file.name,
        "fields": [vars(each) for each in change.fields],
        "gone": [{"field": field, "column": column} for field, column in change.gone],
        "columns": change.columns,
        "table_changes": change.table_changes,
    }


@router.post(
    "schedules/{int:id}/header",
    response={201: list[dict[str, Any]]},
    url_name="api_schedule_header",
    summary="Accept the new header",
    openapi_extra=PARAMETER,
)
@once
def accept_header(request: HttpRequest, id: int, chosen: ColumnsIn) -> Any:
    """Store the new header with a column for each field, and run again for the file that stopped the schedule."""
    file = schedules.accept(read(id), chosen.columns)
    begun = schedules.run_again(file.run, cast(User, request.user))
    return Status(201, [serialization.run(each) for each in begun])


@router.get(
    "schedules/{int:id}/subscriptions",
    response=list[SubscriptionOut],
    url_name="api_schedule_subscriptions",
    summary="Show who is notified",
)
def subscriptions(request: HttpRequest, id: int) -> Any:
    """All channels by name, each with the events of this schedule that it gets."""
    return _subscriptions(id)


def _subscriptions(id: int) -> list[dict[str, Any]]:
    events = dict(Subscription.objects.filter(schedule=read(id)).values_list("channel", "events"))
    return [
        {"channel": each.name, "events": events.get(each.pk, []), "of_all": each.events}
        for each in Channel.objects.order_by("name")
    ]


@router.put(
    "schedules/{int:id}/subscriptions",
    response=list[SubscriptionOut],
    url_name="api_schedule_subscriptions",
    summary="Choose who is notified",
)
def subscribe(request: HttpRequest, id: int, what: SubscriptionIn) -> Any:
    """Choose the events of this schedule that one channel gets."""
    channel = Channel.objects.filter(name=what.channel).first()
    if channel is None:
        raise Problem(f"There is no channel {what.channel}.", "body.channel", "GET channels lists them.")
    channels.subscribe(channel, read(id), [each.value for each in what.events])
    return _subscriptions(id)
