"""What the page of a schedule runs again: one run, past days, and the files of a header that was accepted."""

from datetime import date
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.access.confirmed import check_confirmed
from dashboard.access.told import told_on
from importer import schedules
from importer.engine.errors import Problem
from importer.engine.reading.questions import NeedsAnswer
from importer.models import Schedule, ScheduleRun


@require_POST
def run_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Run again for the moment of a run, or for the due times that were missed together."""
    run = get_object_or_404(ScheduleRun.objects.select_related("schedule"), pk=pk)
    try:
        _tell(request, schedules.run_again(run, cast(User, request.user)))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("schedule", run.schedule_id)


@require_POST
@told_on("schedule")
def backfill(request: HttpRequest, pk: int) -> HttpResponse:
    """Run for each due time from one day to another."""
    schedule = get_object_or_404(Schedule, pk=pk)
    first, last = (_day(request.POST.get(name, "")) for name in ("first", "last"))
    _tell(request, schedules.backfill(schedule, first, last, cast(User, request.user)))
    return redirect("schedule", pk)


@require_http_methods(["GET", "HEAD", "POST"])
def header(request: HttpRequest, pk: int) -> HttpResponse:
    """The header of the file that stopped the schedule, compared; a post accepts it and runs again."""
    schedule = get_object_or_404(Schedule.objects.select_related("target", "connection"), pk=pk)
    refusal: Problem | None = None
    if request.method == "POST":
        count = sum(name.startswith("column-") for name in request.POST)
        try:
            check_confirmed(request, schedules.header_change(schedule))
            file = schedules.accept(schedule, [request.POST.get(f"column-{number}", "") for number in range(count)])
            messages.success(request, "The schedule has the new header. Its mapping is as chosen.")
            _tell(request, schedules.run_again(file.run, cast(User, request.user)))
            return redirect("schedule", pk)
        except Problem as problem:
            refusal = problem
            schedule.refresh_from_db()
    try:
        change = schedules.header_change(schedule)
    except Problem as problem:
        messages.error(request, str(refusal or problem))
        return redirect("schedule", pk)
    context = {
        "schedule": schedule,
        "change": change,
        "chosen": [request.POST.get(f"column-{number}", each.column) for number, each in enumerate(change.fields)],
        "refusal": refusal,
        "asks": isinstance(refusal, NeedsAnswer),
    }
    return render(request, "schedules/header.html", context, status=422 if refusal else 200)


def _tell(request: HttpRequest, runs: list[ScheduleRun]) -> None:
    messages.success(request, "A run has begun." if len(runs) == 1 else f"{len(runs):,} runs have begun.")


def _day(entered: str) -> date:
    try:
        return date.fromisoformat(entered.strip())
    except ValueError as error:
        raise Problem(f"“{entered}” is no date.", advice="Write it as 2026-11-20.") from error
