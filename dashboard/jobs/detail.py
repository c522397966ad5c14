"""The page of one import: live while the import runs, its record afterwards."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from dashboard.access.confirmed import check_confirmed
from dashboard.access.rules import RULES
from dashboard.jobs import unchanged
from dashboard.jobs.approval import card_of
from dashboard.jobs.cards.files import files_card
from dashboard.jobs.cards.hosts import hosts
from dashboard.jobs.cards.loaders import loaders
from dashboard.jobs.cards.server_rows import server_rows
from dashboard.jobs.cards.slowest import slowest
from dashboard.jobs.cards.table_rows import counts_on_rows, emptied, rows_of
from dashboard.jobs.cards.timeline import timeline
from dashboard.jobs.chunk_timings import timings_of
from dashboard.jobs.known_rows import known_rows, rows_that_would_double
from dashboard.jobs.option_summary import option_summary
from dashboard.jobs.peer_comparison import peer_comparison
from dashboard.jobs.progress import Progress, progress
from dashboard.jobs.rejects.section import rejected_rows
from dashboard.jobs.run_again import again_of
from importer.access.policy import may_now
from importer.engine.errors import Problem, is_of_bad_rows
from importer.engine.plan.option_specs import named
from importer.history.chunks.map import chunk_map
from importer.history.chunks.rates import rates as job_rates
from importer.jobs.actions import applying, commands, dismissal, obstacles
from importer.jobs.lifecycle import table_owner
from importer.jobs.steps import table_backup
from importer.models import Chunk, ImportJob, Level
from importer.models.outcomes.sequels import needs_a_person, sequel
from importer.worker.hosts import presence

Status = ImportJob.Status
MOST_PROBLEM_CHUNKS = 50
PRIORITY = named("priority")
END_ANSWERS = {"footer": True, "rows": False}  # the answers about the last lines of a file: are they a footer?


@require_safe
def job(request: HttpRequest, pk: int) -> HttpResponse:
    """The whole page."""
    now = _progress(_job(pk))
    return render(request, "jobs/detail.html", _live_context(now) | {"options": option_summary(now.job.options)})


@require_safe
@never_cache
def live(request: HttpRequest, pk: int) -> HttpResponse:
    """The changed parts of the page: 204 if the page state is still `?seen=`, 286 with the last state after the end."""
    pulse = unchanged.pulse_of(pk)
    now = _progress(_job(pk))
    seen = request.GET.get("seen", "")
    unchanged.remember(request, pk, now.page_state, pulse, now.recent.steady)
    if seen == now.page_state:
        return HttpResponse(status=204)
    # Heading and rejects are replaced only when they change, so that an open menu or long value stays open.
    same_shape = seen.startswith(f"{now.shape}.")
    same_rejects = f".{now.rejects_state}." in seen
    context = _live_context(now, with_rejects=not same_rejects)
    context |= {"oob": True, "same_shape": same_shape, "same_rejects": same_rejects}
    answer = render(request, "jobs/detail/_live.html", context)
    if not now.job.ended:
        return answer
    last: HttpResponse = HttpResponseStopPolling()
    last.content = answer.content
    # The banner polls in the rhythm of this poll, which ends here: without a last look it would stay.
    last["HX-Trigger-After-Settle"] = "import-ended"
    return last


@require_safe
@never_cache
def rates(_request: HttpRequest, pk: int) -> JsonResponse:
    """The data of the throughput curve: importer.history.chunks.rates, and `server`, the points of server_rows."""
    shown = _job(pk)
    return JsonResponse(job_rates(shown, timezone.now()) | {"server": server_rows(shown)})


@require_safe
@never_cache
def problem_chunks(request: HttpRequest, pk: int, first: int, last: int) -> HttpResponse:
    """The chunks from `first` to `last` that failed or were retried, each with its problem."""
    shown = _job(pk)
    chunks = with_problems(shown).filter(number__gte=first, number__lte=last)
    context = {
        "job": shown,
        "chunks": chunks[:MOST_PROBLEM_CHUNKS],
        "first": first,
        "last": last,
        "goes_on": shown.status in (ImportJob.Status.LOADING, ImportJob.Status.PAUSED),
    }
    htmx = request.htmx  # type: ignore[attr-defined]
    if htmx:
        # On the import's page, which has its advice.
        return render(request, "jobs/_problem_chunks.html", context | {"said_of_import": shown.problem.get("advice")})
    return render(request, "jobs/problem_chunks.html", context | {"own_page": True})


@require_safe
@never_cache
def table_rows(request: HttpRequest, pk: int) -> HttpResponse:
    """Rows of the table as they stand now, and the remedies that fit them where a retry counts on rows in the table."""
    shown = _job(pk)
    can, rows = _can(shown), rows_of(shown)
    context: dict[str, Any] = {"job": shown, "shown": rows, "can": can, "emptied": emptied(shown, rows)}
    if _awaits_rows(shown, can):
        read = {"checking": False, "unread": rows.table is None}
        context = _live_context(_progress(shown), with_rejects=False) | context | read
    return render(request, "jobs/cards/_table_rows.html", context)


@require_safe
def timings(request: HttpRequest, pk: int) -> HttpResponse:
    """The loading times of the chunks: the chart's data, a summary in words, and the slowest chunks."""
    shown = _job(pk)
    measured = timings_of(shown)
    context = {"job": shown, "timings": measured, "slowest": slowest(shown, measured.all)}
    return render(request, "jobs/detail/_timings.html", context)


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Start no further chunk."""
    return _act(request, pk, commands.pause)


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Continue after a pause."""
    return _act(request, pk, commands.resume)


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel the import; committed rows stay."""
    return _act(request, pk, commands.cancel)


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Load the chunks that a failed or cancelled import has not loaded.

    With `leave_out`, reject bad rows. `end` answers whether the last lines of the file are a footer or rows.
    """
    leave_out, end_is_footer = "leave_out" in request.POST, END_ANSWERS.get(request.POST.get("end", ""))
    return _act(request, pk, lambda job_id: commands.retry(job_id, leave_out=leave_out, end_is_footer=end_is_footer))


@require_POST
def apply(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the table as the import has shown it; with `all_the_same` beyond its limits."""
    return _act(request, pk, partial(applying.apply, all_the_same="all_the_same" in request.POST))


@require_POST
def compare_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Compare the staged rows with the table as it is now."""
    return _act(request, pk, applying.compare)


@require_POST
def drop_staged(request: HttpRequest, pk: int) -> HttpResponse:
    """Drop the staged rows."""
    return _act(request, pk, applying.drop)


@require_POST
def restore_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Try at once to put back what the import has changed on the server, without waiting for the next try."""
    return _act(request, pk, obstacles.try_now)


@require_POST
def end_without(request: HttpRequest, pk: int) -> HttpResponse:
    """End the import although keys or server variables cannot be put back; its page has the SQL."""
    return _act(request, pk, obstacles.end_without)


@require_POST
def dismiss(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that nobody needs to look at how the import ended."""
    answer = _act(request, pk, dismissal.dismiss)
    return redirect("home") if "home" in request.POST else answer


@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Restore the table backup: the old table gets its name back, or the old rows are put back."""
    overwrite = "overwrite" in request.POST
    return _act(request, pk, lambda job_id: table_backup.restore_backup(job_id, overwrite))


@require_POST
def drop_backup(request: HttpRequest, pk: int) -> HttpResponse:
    """Drop the table backup: the old table, or the old rows."""
    return _act(request, pk, table_backup.drop_backup)


@require_POST
def parallelism(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the number of parallel chunks."""
    wanted = request.POST.get("parallelism", "")

    def change(job_id: int) -> None:
        if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 4):
            raise Problem(f"“{wanted}” is not a number of chunks.", advice="Use a whole number from 1 on.")
        commands.set_parallelism(job_id, int(wanted))

    return _act(request, pk, change)


@require_POST
def priority(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the priority."""
    return _act(request, pk, lambda job_id: commands.set_priority(job_id, request.POST.get("priority", "")))


def _act(request: HttpRequest, pk: int, action: Callable[[int], Any]) -> HttpResponse:
    """Perform the action and show the job's new state; a Problem is shown on the page.

    A second press, or one on an older page, asks for the state that the page now shows: that is no problem.
    """
    pressed = get_object_or_404(ImportJob, pk=pk)
    try:
        check_confirmed(request, pressed)
        with suppress(commands.Reached):
            action(pk)
    except Problem as problem:
        messages.error(request, str(problem))
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("job", pk=pk)
    context = _live_context(_progress(_job(pk))) | {"oob": True, "with_messages": True}
    return render(request, "jobs/detail/_live.html", context)


def _job(pk: int) -> ImportJob:
    return get_object_or_404(ImportJob.objects.select_related("target", "source", "created_by", "approved_by"), pk=pk)


def _progress(shown: ImportJob) -> Progress:
    return progress(shown, timezone.now())


def with_problems(loaded: ImportJob) -> QuerySet[Chunk]:
    """The chunks that failed or were retried."""
    return loaded.chunks.filter(Q(status=Chunk.Status.FAILED) | Q(attempt__gt=1) | ~Q(problem={}))


def _live_context(now: Progress, with_rejects: bool = True) -> dict[str, Any]:
    shown = now.job
    can = _can(shown)
    return {
        "job": shown,
        "progress": now,
        "approval": card_of(shown),
        "again": again_of(shown),
        "sequel": sequel(shown),
        "known": known_rows(shown),
        "doubled": rows_that_would_double(shown),
        "files": files_card(shown),
        "map": chunk_map(shown),
        "loaders": loaders(shown, now.now),
        "hosts": hosts(shown),
        "timeline": timeline(shown, now.now),
        "ahead": table_owner(shown),
        "can": can,
        "checking": _awaits_rows(shown, can),
        "beyond": partial(applying.beyond_limits, shown),
        "priorities": [(value, words, PRIORITY.hint(value)) for value, words in PRIORITY.offered.items()],
        "no_restore": table_backup.why_backup_stays(shown) if shown.kept_table else "",
        "since_load": table_backup.imports_since_load(shown) if shown.kept_table else [],
        "since_restore": table_backup.imports_since_restore(shown) if shown.restored_at else [],
        "rejects": rejected_rows(shown) if with_rejects else None,
        "peers": peer_comparison(shown),
        # A function: it runs only if the template uses it.
        "loads_at_once": partial(presence.parallel_loads, shown.target.label),
    }


def _awaits_rows(shown: ImportJob, can: dict[str, bool]) -> bool:
    """Whether the right remedy depends on the rows that the table has now, which the page asks for."""
    return (can["retry"] or can["resume"]) and can["table_rows"] and counts_on_rows(shown)


def _can(shown: ImportJob) -> dict[str, bool]:
    """Which buttons to show to the reader; importer.jobs checks again when a button is pressed."""
    status = shown.status
    stops, loads = (RULES[name].allows(reads=False, thing=shown) for name in ("job_cancel", "job_retry"))
    under_way = status in (Status.UNAPPROVED, Status.WAITING, Status.LOADING, Status.PAUSED)
    return {
        "pause": stops and status == Status.LOADING,
        "resume": stops and status == Status.PAUSED,
        "cancel": stops and (under_way or status == Status.FINISHING),
        "retry": loads
        and status in (Status.FAILED, Status.CANCELLED)
        and not commands.nothing_is_missing(shown)
        and commands.is_kept(shown),
        "apply": loads and applying.can_apply(shown),
        "drop_staged": loads and shown.ended and shown.keeps_staged,
        "end_without": obstacles.is_stuck(shown),
        "dismiss": RULES["job_dismiss"].allows(reads=False, thing=shown) and needs_a_person(shown),
        "retry_leaving_out": loads
        and status == Status.FAILED
        and commands.could_leave_out(shown)
        and commands.is_kept(shown),
        # The same rows would stop it once more, unless the table has changed.
        "stops_again": loads and status == Status.FAILED and is_of_bad_rows(shown.problem),
        "too_late": status in (Status.FAILED, Status.CANCELLED) and not commands.is_kept(shown),
        "delete": shown.ended and RULES["job_delete"].allows(reads=False, thing=shown),
        "table_rows": (shown.ended or status == Status.PAUSED)
        and bool(shown.accounted_rows)
        and may_now(Level.LOAD, shown),
        "parallelism": loads and under_way,
    }
