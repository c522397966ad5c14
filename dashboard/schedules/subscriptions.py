"""The subscriptions of a schedule: a table of channels and events, for staff."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from importer import notifications
from importer.models import Channel, Schedule, Subscription
from importer.models.channel import Event
from importer.notifications.channel_kinds import KINDS


@dataclass(frozen=True)
class Box:
    """An event in a channel's row: whether the channel subscribes to it for this schedule, and for all."""

    event: str
    label: str
    here: bool
    everywhere: bool


@require_http_methods(["GET", "HEAD", "POST"])
def subscriptions(request: HttpRequest, pk: int) -> HttpResponse:
    """A row per channel with a box per event; boxes of events that the channel gets from all schedules are fixed."""
    schedule = get_object_or_404(Schedule, pk=pk)
    channels = list(Channel.objects.order_by("name"))
    if request.method == "POST":
        for channel in channels:
            chosen = request.POST.getlist(f"channel-{channel.pk}")
            notifications.subscribe(channel, schedule, [event for event in Event.values if event in chosen])
        messages.success(request, f"Saved the notifications for {schedule.name}.")
        return redirect("schedule", pk)
    events = {each.channel_id: each.events for each in Subscription.objects.filter(schedule=schedule)}
    rows = [(channel, _boxes(channel, events.get(channel.pk, []))) for channel in channels]
    context = {"schedule": schedule, "events": Event.choices, "rows": rows, "kinds": KINDS}
    return render(request, "schedules/subscriptions.html", context)


def _boxes(channel: Channel, subscribed: list[str]) -> list[Box]:
    return [Box(event, label, event in subscribed, event in channel.events) for event, label in Event.choices]
