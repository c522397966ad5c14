"""The page Home, which keeps itself up to date."""

from typing import Any

import xxhash
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.formatting import percent
from dashboard.home.attention import matters, unwell_imports
from dashboard.home.days import DAYS, last_days, under_way
from dashboard.schedules.strip import strips
from importer import schedules
from importer.access.policy import seen
from importer.models import ImportJob, Lab, Schedule, Target
from importer.models.outcomes.sequels import sequels
from importer.worker.hosts.installation import state

MOST_RUNNING = 8
MOST_ENDED = 5
MOST_SCHEDULES = 10


@require_safe
@never_cache
@vary_on_headers("HX-Request")
def home(request: HttpRequest) -> HttpResponse:
    """The whole page; for htmx its contents, or 204 if they are still those of `?seen=`."""
    shown = _context()
    live = render_to_string("home/_live.html", shown, request)
    state = xxhash.xxh3_64_hexdigest(f"{live}{shown['system'].halts}".encode())
    if request.htmx:  # type: ignore[attr-defined]
        if request.GET.get("seen") == state:
            return HttpResponse(status=204)
        return render(request, "home/_content.html", {"live": live, "state": state})
    empty = not seen(ImportJob.objects.all()).exists() and not seen(Schedule.objects.all()).exists()
    context = {
        "live": live,
        "state": state,
        "empty": empty,
        "targets": empty and seen(Target.objects.registered()).exists(),
    }
    return render(request, "home/page.html", context)


def _context() -> dict[str, Any]:
    unwell = unwell_imports()
    listed, count = matters(unwell.needing)
    running = under_way()
    labs = seen(Lab.objects.exclude(status__in=Lab.ENDED))
    shown = list(running.select_related("source", "target").order_by("pk")[:MOST_RUNNING])
    return {
        "matters": listed,
        "matter_count": count,
        "days": DAYS,
        "last_days": last_days(unwell.settled),
        "running": [(job, percent(job.committed_bytes, job.data_bytes)) for job in shown],
        "running_count": running.count(),
        "ended": (ended := _ended()),
        "settled": sequels([job.pk for job in ended]),
        "labs": labs.select_related("target").order_by("pk")[:MOST_RUNNING],
        "schedules": (first := _schedules()),
        "idle_since": min((each["schedule"].next_due_at for each in first if each["schedule"].overdue), default=None),
        "schedule_count": seen(Schedule.objects.all()).count(),
        "system": state(),
    }


def _ended() -> list[ImportJob]:
    """The latest imports that have ended."""
    ended = seen(ImportJob.objects.filter(trial=None, status__in=ImportJob.ENDED))
    return list(ended.select_related("source", "target").order_by("-pk")[:MOST_ENDED])


def _schedules() -> list[dict[str, Any]]:
    """The first schedules to look at: those that need attention, then those that are due next."""
    attention = set(seen(schedules.needing_attention()).values_list("pk", flat=True)[:MOST_SCHEDULES])
    every = seen(Schedule.objects.all())
    first = list(every.filter(pk__in=attention).order_by("name"))
    due = every.exclude(pk__in=attention).order_by("paused", F("next_due_at").asc(nulls_last=True), "name")
    first += due[: MOST_SCHEDULES - len(first)]
    marks = strips(first)
    return [{"schedule": each, "marks": marks[each.pk]} for each in first]
