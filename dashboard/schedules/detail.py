"""The page of one schedule: its settings, runs with their files, calendar and throughput; and its buttons."""

from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo
from typing import Any, cast

import xxhash
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.access.confirmed import check_confirmed
from dashboard.access.told import told_on
from dashboard.schedules.calendar import month, span_of
from dashboard.schedules.statistics import figures, slow_imports, throughput
from dashboard.schedules.strip import strips
from importer import schedules
from importer.access.time_zones import zone_named
from importer.engine.errors import Problem
from importer.models import DiscoveredFile, Schedule, ScheduleRun
from importer.models.outcomes.runs import WORDS_OF, with_imports
from importer.models.outcomes.sequels import run_sequels
from importer.schedules.serialization import when
from importer.worker.hosts.installation import state

PAGE_RUNS = 20
FILES_SHOWN = 20
MISSED_SHOWN = 3
MARKS = 30


@require_safe
@never_cache
def schedule(request: HttpRequest, pk: int) -> HttpResponse:
    """The whole page; for htmx its changing parts, or 204 if the page state is still `?seen=`."""
    current = get_object_or_404(Schedule.objects.select_related("connection", "target"), pk=pk)
    seen = page_state(current, timezone.now())
    if request.htmx and request.GET.get("seen") == seen:  # type: ignore[attr-defined]
        return HttpResponse(status=204)
    context = _context(request, current) | {"seen": seen}
    template = "schedules/_live.html" if request.htmx else "schedules/detail.html"  # type: ignore[attr-defined]
    return render(request, template, context)


def page_state(current: Schedule, now: datetime) -> str:
    """A token of what the page shows: with an equal token, nothing has changed.

    An import by hand may settle a run, and a retry change what it has come to. The calendar changes with the day, the
    time until a run is tried again with the minute, and what is next once it is overdue.
    """
    newest = current.runs.order_by("-pk").values_list("pk", "version").first()
    latest = with_imports(current.runs.order_by("-due_at", "-pk"))[:PAGE_RUNS]
    came_to = list(latest.values_list("pk", *WORDS_OF))
    later = run_sequels([pk for pk, *_ in came_to])
    settled = ".".join(f"{pk}-{its.how}-{its.job}" for pk, its in sorted(later.items()))
    ends = xxhash.xxh3_64_hexdigest(repr(came_to).encode())
    under_way = list(current.runs.filter(finished_at=None).values_list("version", flat=True))
    moment = now.astimezone(_zone(current)).strftime("%Y%m%d%H%M" if under_way else "%Y%m%d")
    standing = f"{current.overdue}.{current.problem_at}.{state().halts}"
    return f"{current.version}.{newest}.{sum(under_way)}.{moment}.{ends}.{settled}.{standing}"


def _zone(current: Schedule) -> tzinfo:
    """The schedule's zone; UTC if the system does not know it."""
    try:
        return zone_named(current.zone)
    except Problem:
        return UTC


def _context(request: HttpRequest, current: Schedule) -> dict[str, Any]:
    runs = Paginator(_runs_of_day(current, _day(request)), PAGE_RUNS).get_page(request.GET.get("page"))
    try:
        shown = {
            "when": when(current),
            "zone": current.zone,
            "upcoming": schedules.next_due_times(current),
            "month": month(current, _month(request)),
        }
    except Problem as problem:
        shown = {"when": problem.what, "zone": "UTC"}
    files = _files(runs.object_list)
    return shown | {
        "schedule": current,
        "runs": runs,
        "files": files,
        "shown_with_files": {run.pk for run in runs if any(each.problem == run.problem for each in files[run.pk])},
        "more_files": FILES_SHOWN,
        "settled": run_sequels([run.pk for run in runs]),
        "unsuccessful": ScheduleRun.UNSUCCESSFUL,
        "figures": figures(current),
        "slow": slow_imports(each.job_id for some in files.values() for each in some),
        "throughput": throughput(current),
        "in_history": f"schedule = {current.name}",
        "day": _day(request),
        "warnings": schedules.warnings(current),
        "missed": schedules.missed(current)[:MISSED_SHOWN],
        "has_dates": schedules.has_dates(current),
        "drifted": schedules.drifted_file(current),
        "marks": strips([current], MARKS)[current.pk],
        "subscriptions": current.subscriptions.select_related("channel"),
    }


def _month(request: HttpRequest) -> str:
    return request.GET.get("month") or request.GET.get("day", "")[:7]


def _day(request: HttpRequest) -> date | None:
    """The day that is opened; None for none, and for text that is no day."""
    try:
        return date.fromisoformat(request.GET.get("day", ""))
    except ValueError:
        return None


def _runs_of_day(current: Schedule, day: date | None) -> Any:
    """The runs, the newest first; with a day, those of that day in the schedule's zone."""
    runs = with_imports(current.runs.select_related("asked_by")).order_by("-due_at", "-pk")
    if not day:
        return runs
    since, until = span_of(current, day)
    return runs.filter(due_at__gte=since, due_at__lt=until)


def _files(runs: Any) -> dict[int, list[DiscoveredFile]]:
    """The first files of each run."""
    return {run.pk: list(run.files.select_related("job")[:FILES_SHOWN]) for run in runs}


def _done(request: HttpRequest, pk: int, act: Callable[[Schedule], object], message: str) -> HttpResponse:
    changed = get_object_or_404(Schedule, pk=pk)
    try:
        act(changed)
    except Problem as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, message.format(name=changed.name))
    return redirect("schedule", pk)


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    return _done(request, pk, schedules.pause, "{name} is paused. A run that is under way continues.")


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    return _done(request, pk, schedules.resume, "{name} is resumed.")


@require_POST
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin a run now; with `date`, as if it were due on that day."""
    entered = request.POST.get("date", "").strip()
    try:
        day = date.fromisoformat(entered) if entered else None
    except ValueError:
        messages.error(request, f"“{entered}” is no date. Write it as 2026-11-20.")
        return redirect("schedule", pk)
    user = cast(User, request.user)
    return _done(request, pk, lambda started: schedules.run_now(started, day, user), "A run has begun.")


@require_POST
def cancel_run(request: HttpRequest, pk: int) -> HttpResponse:
    cancelled = get_object_or_404(ScheduleRun.objects.select_related("schedule"), pk=pk)
    user = cast(User, request.user)
    return _done(request, cancelled.schedule_id, lambda _: schedules.cancel(cancelled, user), "The run is cancelled.")


@require_POST
def dismiss_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that nobody needs to look at how the run ended."""
    run = get_object_or_404(ScheduleRun.objects.select_related("schedule"), pk=pk)
    answer = _done(request, run.schedule_id, lambda _: schedules.dismiss(run), "Dismissed: nobody needs to look.")
    return redirect("home") if "home" in request.POST else answer


@require_POST
def forget(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget the failed attempts of a file, so that the next run takes it as new."""
    name = request.POST.get("name", "")

    def act(changed: Schedule) -> None:
        if file := changed.files.filter(name=name).last():
            check_confirmed(request, file)
        schedules.forget(changed, name)

    return _done(request, pk, act, f"The next run loads {name} as a new file.")


@require_POST
@told_on("schedule")
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    deleted = get_object_or_404(Schedule, pk=pk)
    schedules.delete(deleted)
    messages.success(request, f"{deleted.name} is deleted. Its imports stay.")
    return redirect("schedules")
