"""The subscriptions of a schedule: a table of channels and events, for staff."""

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.fields.stored_form import StoredForm
from importer.models import Channel, Schedule, Subscription
from importer.models.channel import Event
from importer.notifications import channels
from importer.notifications.channel_kinds import KINDS


@dataclass(frozen=True)
class Box:
    """An event in a channel's row: whether the channel subscribes to it for this schedule, and for all."""

    event: str
    label: str
    here: bool
    everywhere: bool


class SubscriptionsForm(StoredForm):
    """The events of one schedule that each channel is sent: a field for each channel, in their order."""

    def __init__(self, schedule: Schedule, sent: QueryDict | None = None) -> None:
        events = {each.channel_id: each.events for each in Subscription.objects.filter(schedule=schedule)}
        self.channels = {f"channel-{each.pk}": each for each in Channel.objects.order_by("name")}
        super().__init__(sent, initial={name: events.get(each.pk, []) for name, each in self.channels.items()})
        for name in self.channels:
            self.fields[name] = forms.MultipleChoiceField(choices=Event.choices, required=False)

    def rows(self) -> list[tuple[Channel, list[Box]]]:
        """Each channel with its boxes, ticked as stored, or as sent."""
        return [(channel, _boxes(channel, self[name].value() or [])) for name, channel in self.channels.items()]


@require_http_methods(["GET", "HEAD", "POST"])
def subscriptions(request: HttpRequest, pk: int) -> HttpResponse:
    """A row per channel with a box per event; boxes of events that the channel gets from all schedules are fixed."""
    schedule = get_object_or_404(Schedule, pk=pk)
    form = SubscriptionsForm(schedule, request.POST if request.method == "POST" else None)
    if form.is_valid():
        for name, channel in form.channels.items():
            channels.subscribe(channel, schedule, form.cleaned_data[name])
        messages.success(request, f"Saved the notifications for {schedule.name}.")
        return redirect("schedule", pk)
    context = {"schedule": schedule, "events": Event.choices, "form": form, "rows": form.rows(), "kinds": KINDS}
    return render(request, "schedules/subscriptions.html", context, status=422 if form.is_bound else 200)


def _boxes(channel: Channel, subscribed: list[str]) -> list[Box]:
    return [Box(event, label, event in subscribed, event in channel.events) for event, label in Event.choices]
