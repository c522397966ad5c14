"""Pages of notification channels, for staff: the list, and a page to edit and test one and see its notifications."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.access.confirmed import check_confirmed
from dashboard.access.told import told_on
from dashboard.channels.form import ChannelForm
from dashboard.channels.waiting import waits
from importer.access import audit
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.units import count_of
from importer.models import Channel, Notification
from importer.models.channel import Event
from importer.notifications import channels as notification_channels
from importer.notifications import delivery
from importer.notifications.channel_kinds import BY_NAME, KINDS, kind_of
from importer.notifications.channels import readable, told_problem, with_state

MOST_SHOWN = 20


@require_safe
def channels(request: HttpRequest) -> HttpResponse:
    """All channels by name, each with its destinations and the state of its notifications."""
    shown = list(seen(with_state()))
    found = waits(shown)
    rows = [(each, kind_of(each).describe(each), found.get(each.pk)) for each in shown]
    return render(request, "channels/list.html", {"rows": rows, "kinds": KINDS})


@require_http_methods(["GET", "HEAD", "POST"])
def channel_new(request: HttpRequest) -> HttpResponse:
    """The form of a new channel of the kind in `?kind=`."""
    requested = request.GET.get("kind")
    kind = BY_NAME.get(requested or "", KINDS[0])
    return _edit(request, Channel(kind=kind.name, events=Event.usual()))


@require_http_methods(["GET", "HEAD", "POST"])
def channel(request: HttpRequest, pk: int) -> HttpResponse:
    """One channel: its form and its latest notifications."""
    return _edit(request, get_object_or_404(Channel, pk=pk))


@require_POST
def channel_switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch the channel on or off, as the button says."""
    get_object_or_404(Channel, pk=pk)
    on = request.POST.get("on") == "yes"
    Channel.objects.filter(pk=pk).update(on=on)
    audit.note(switched="on" if on else "off")
    return redirect("channels")


@require_POST
def channel_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test message; the answer replaces the button and says whether the receiver accepted it."""
    tested = get_object_or_404(Channel, pk=pk)
    try:
        notification_channels.test(tested)
        problem = ""
    except Problem as error:
        problem = str(error)
        audit.failed(problem)
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "channels/_test.html", {"channel": tested, "tested": True, "problem": problem})
    if problem:
        messages.error(request, problem)
    else:
        messages.success(request, f"{tested.name} accepted the test message.")
    return redirect("channel", pk)


@require_POST
@told_on("channel")
def channel_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete the channel and its notifications, those not yet delivered included."""
    deleted = get_object_or_404(Channel, pk=pk)
    check_confirmed(request, deleted)
    notification_channels.remove(deleted)
    messages.success(request, f"{deleted.name} is deleted. What waited for it is not sent.")
    return redirect("channels")


@require_POST
@told_on("channel")
def channel_send_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Send what waits for the channel at once, without the delays after failures."""
    delivery.send_now(get_object_or_404(Channel, pk=pk).pk)
    messages.success(request, "A worker sends them now, one after another.")
    return redirect("channel", pk)


@require_POST
@told_on("channel")
def channel_discard(request: HttpRequest, pk: int) -> HttpResponse:
    """Give up what waits for the channel."""
    channel = get_object_or_404(Channel, pk=pk)
    check_confirmed(request, channel)
    number = delivery.discard(pk)
    audit.note(discarded=number)
    messages.success(request, f"{count_of(number, 'message')} discarded. Each can be sent again.")
    return redirect("channel", pk)


@require_POST
def notice_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Try again to deliver a notification that was given up."""
    notice = get_object_or_404(Notification, pk=pk)
    if delivery.retry(notice.pk):
        messages.success(request, "It is tried again.")
    return redirect("channel", notice.channel_id)


def _edit(request: HttpRequest, edited: Channel) -> HttpResponse:
    form = ChannelForm(request.POST or None, instance=edited)
    if form.is_valid():
        saved = form.save()
        audit.saved(saved, form.changed_data)
        messages.success(request, f"{saved.name} is saved. A test shows whether messages arrive.")
        return redirect("channel", saved.pk)
    # The form writes its values into its instance, even invalid ones: the page's title needs the stored name.
    stored = Channel.objects.get(pk=edited.pk) if edited.pk else None
    notices = list(stored.notifications.select_related("job", "run").order_by("-pk")[:MOST_SHOWN]) if stored else []
    for each in notices:
        each.problem = told_problem(each)
    context: dict[str, Any] = {"form": form, "kind": kind_of(edited), "channel": stored, "notices": notices}
    context |= {
        "readable": readable(notices),
        "waiting": notification_channels.waiting(edited) if edited.pk else 0,
        "now": timezone.now(),
    }
    context["wait"] = waits([stored]).get(stored.pk) if stored else None
    return render(request, "channels/detail.html", context, status=422 if form.is_bound else 200)
