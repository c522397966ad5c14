"""Channels: list, make, change, test and delete them; and what was sent to them."""

from datetime import datetime
from typing import Annotated, Any, Literal

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
from dashboard.channels.form import ChannelForm
from importer.access import audit
from importer.access.policy import may_now, seen
from importer.engine.errors import Problem
from importer.models import Channel, Level, Notification
from importer.models.channel import Event
from importer.notifications import channels, delivery
from importer.notifications.channel_kinds import KINDS, kind_of
from importer.notifications.channels import told_problem

router = Router(tags=["channels"])


class ChannelChange(Body, json_schema_extra=example(on=False, events=["failed"])):
    """What is to be changed of a channel. What is left out stays."""

    on: bool | None = None
    addresses: Annotated[str | None, Field(max_length=10_000, description="Of mail: one on each line.")] = None
    url: Annotated[str | None, Field(max_length=500, description="Of a webhook.")] = None
    private_allowed: bool | None = None
    secret: Annotated[str | None, Field(max_length=256, description="Of a webhook; never shown.")] = None
    events: list[Event] | None = None
    most_rejects: Annotated[int | None, Field(ge=0, le=10**12)] = None


class NewChannel(
    ChannelChange,
    json_schema_extra=example(name="ops", kind="webhook", url="https://hooks.example.org/millrace", events=["failed"]),
):
    """A channel to make. Without `events` it is sent all of them except `succeeded`."""

    name: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_.-]+$")]
    kind: Literal[tuple(each.name for each in KINDS)]  # type: ignore[valid-type]


class ChannelOut(Schema):
    """A channel. A person who may not administer it sees only its name and kind."""

    id: int
    name: str
    kind: str
    on: bool
    destinations: list[str]
    events: list[str]
    most_rejects: int


class NoticeOut(Schema):
    """A message to a channel.

    `problem`: why the last attempt failed; of one that was sent, the addresses that the mail server refused.
    """

    id: int
    event: str
    job: int | None
    status: Annotated[str, Field(json_schema_extra={"enum": Notification.Status.values})]
    attempts: int
    problem: str
    created_at: datetime
    sent_at: datetime | None


def show(channel: Channel) -> dict[str, Any]:
    """A channel as the API shows it to the acting person; never its secret."""
    whole = may_now(Level.ADMINISTER, channel)
    names = ("id", "name", "kind", "on", "events", "most_rejects")
    destinations = kind_of(channel).describe(channel) if whole else []
    return {name: getattr(channel, name) for name in names} | {"destinations": destinations}


@router.get("channels", response=Page[ChannelOut], url_name="api_channels", summary="List channels")
def list_channels(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The channels that the person may see, the newest first."""
    return page.newest(seen(Channel.objects.all()), show)


@router.post(
    "channels", response={201: ChannelOut}, url_name="api_channels", summary="Make a channel", openapi_extra=PARAMETER
)
@once
def add_channel(request: HttpRequest, new: NewChannel, response: HttpResponse) -> Any:
    """Make a channel. Test it afterwards: that shows whether messages arrive."""
    values = {"on": True, "events": Event.usual(), "most_rejects": 0} | new.dict(exclude_none=True, exclude={"kind"})
    saved = _save(Channel(kind=new.kind), values)
    response.headers["Location"] = reverse("api_channel", args=[saved.pk])
    return Status(201, show(saved))


def _save(channel: Channel, values: dict[str, Any]) -> Channel:
    form = checked(ChannelForm(entered(values), instance=channel))
    saved = form.save()
    audit.saved(saved, form.changed_data)
    return saved


@router.get("channels/{int:id}", response=ChannelOut, url_name="api_channel", summary="Show a channel")
def show_channel(request: HttpRequest, id: int) -> Any:
    """One channel."""
    return show(get_object_or_404(Channel, pk=id))


@router.patch("channels/{int:id}", response=ChannelOut, url_name="api_channel", summary="Change a channel")
def change_channel(request: HttpRequest, id: int, change: ChannelChange) -> Any:
    """Change a channel, or switch it on or off."""
    channel = get_object_or_404(Channel, pk=id)
    stored = model_to_dict(channel, fields=ChannelForm.Meta.fields)
    return show(_save(channel, stored | change.dict(exclude_none=True)))


@router.delete("channels/{int:id}", response={204: None}, url_name="api_channel", summary="Delete a channel")
def delete_channel(request: HttpRequest, id: int) -> Any:
    """Delete a channel. What waits for it is not sent."""
    channels.remove(get_object_or_404(Channel, pk=id))
    return Status(204, None)


@router.post("channels/{int:id}/test", response={204: None}, url_name="api_channel_test", summary="Test a channel")
def test_channel(request: HttpRequest, id: int) -> Any:
    """Send a test message. A problem says why the receiver did not accept it."""
    channels.test(get_object_or_404(Channel, pk=id))
    return Status(204, None)


@router.post(
    "channels/{int:id}/send-now", response={204: None}, url_name="api_channel_send_now", summary="Send what waits"
)
def send_now(request: HttpRequest, id: int) -> Any:
    """Send the messages that wait for a channel at once, without the delays after failures."""
    delivery.send_now(get_object_or_404(Channel, pk=id).pk)
    return Status(204, None)


@router.post(
    "channels/{int:id}/discard", response={204: None}, url_name="api_channel_discard", summary="Discard what waits"
)
def discard(request: HttpRequest, id: int) -> Any:
    """Give up the messages that wait for a channel. Each can be sent again."""
    audit.note(discarded=delivery.discard(get_object_or_404(Channel, pk=id).pk))
    return Status(204, None)


@router.get(
    "channels/{int:id}/notices", response=Page[NoticeOut], url_name="api_channel_notices", summary="List notices"
)
def list_notices(request: HttpRequest, id: int, page: Query[Cursor]) -> Any:
    """The messages to a channel, the newest first."""
    return page.newest(Notification.objects.filter(channel=id), show_notice)


def show_notice(notice: Notification) -> dict[str, Any]:
    """A message as the API shows it; never its content."""
    names = ("event", "status", "attempts", "created_at", "sent_at")
    of = {"id": notice.pk, "job": notice.job_id, "problem": told_problem(notice)}
    return {name: getattr(notice, name) for name in names} | of


@router.post("notices/{int:id}/again", response=NoticeOut, url_name="api_notice_again", summary="Send a notice again")
def send_again(request: HttpRequest, id: int) -> Any:
    """Try again to deliver a message that was given up."""
    notice = get_object_or_404(Notification, pk=id)
    if not delivery.retry(notice.pk):
        raise Problem("The notice was not given up.", advice="Only those that were given up are sent again by hand.")
    return show_notice(Notification.objects.get(pk=id))
