"""The page of one lab: live while it runs, its result afterwards."""

from functools import partial
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from dashboard.jobs.approval import ApprovalCard, decided, why_not
from dashboard.jobs.option_summary import option_summary
from dashboard.lab.charts import lab_charts
from dashboard.lab.experiments import leading, measured_ways, verdicts
from dashboard.lab.matrix import matrix_of
from dashboard.lab.progress import LabProgress, lab_progress
from importer import lab as labs
from importer.access import audit
from importer.engine.errors import Problem
from importer.models import Lab
from importer.sources import uploads
from importer.worker.hosts import presence

Status = Lab.Status


@require_safe
def lab(request: HttpRequest, pk: int) -> HttpResponse:
    """The whole page."""
    return render(request, "lab/detail.html", _context(request, _progress(pk)))


@require_safe
@never_cache
def live(request: HttpRequest, pk: int) -> HttpResponse:
    """The changed parts of the page: 204 if the page state is still `?seen=`, 286 with the last state after the end."""
    now = _progress(pk)
    if request.GET.get("seen") == now.page_state:
        return HttpResponse(status=204)
    answer = render(request, "lab/detail/_live.html", _context(request, now) | {"oob": True})
    if not now.lab.ended:
        return answer
    last: HttpResponse = HttpResponseStopPolling()
    last.content = answer.content
    return last


@require_safe
@never_cache
def charts(_request: HttpRequest, pk: int) -> JsonResponse:
    """The data of the lab's charts: dashboard.lab.charts.lab_charts()."""
    return JsonResponse(lab_charts(_lab(pk)))


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel the lab: no further trials start, scratch tables are dropped, measurements stay."""
    try:
        labs.cancel(_lab(pk).pk)
    except Problem as problem:
        messages.error(request, str(problem))
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("lab", pk=pk)
    context = _context(request, _progress(pk)) | {"oob": True, "with_messages": True}
    return render(request, "lab/detail/_live.html", context)


@require_POST
def clean_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Try at once to drop what the lab has made, without waiting for the next try."""
    return decided(request, lambda: labs.try_now(_lab(pk).pk), "lab", pk)


@require_POST
def end_without(request: HttpRequest, pk: int) -> HttpResponse:
    """End the lab although its scratch tables cannot be dropped; its page lists them, with the SQL."""
    return decided(request, lambda: labs.end_without(_lab(pk).pk), "lab", pk)


@require_POST
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve the lab whose digest the page has shown."""
    return decided(request, lambda: labs.approve(_lab(pk).pk, request.POST.get("digest", "")), "lab", pk)


@require_POST
def refuse(request: HttpRequest, pk: int) -> HttpResponse:
    """End the lab, with a reason for who started it."""
    return decided(request, lambda: labs.refuse(_lab(pk).pk, request.POST.get("reason", "")), "lab", pk)


@require_POST
def save_preset(request: HttpRequest, pk: int) -> HttpResponse:
    """Save the lab's recommendation as a preset for files with this header."""
    shown = _lab(pk)
    try:
        saved = labs.save_preset(shown, request.POST.get("name", ""), cast(User, request.user))
    except Problem as problem:
        context = _context(request, _progress(pk)) | {"preset_problem": problem}
        return render(request, "lab/detail.html", context, status=422)
    audit.note(preset=saved.name)
    messages.success(request, f"Saved as preset {saved.name}: it is offered for files with this header.")
    return redirect("lab", pk=pk)


def _lab(pk: int) -> Lab:
    return get_object_or_404(Lab.objects.select_related("target", "source", "created_by", "of_job"), pk=pk)


def _progress(pk: int) -> LabProgress:
    return lab_progress(_lab(pk), timezone.now())


def _context(request: HttpRequest, now: LabProgress) -> dict[str, Any]:
    shown = now.lab
    advice = now.outcome["recommendation"]
    ways = measured_ways(shown, now.outcome["ways"])
    return {
        "lab": shown,
        "progress": now,
        "outcome": now.outcome,
        "ways": ways,
        "leading": leading(ways),
        "verdicts": verdicts(shown),
        "matrix": matrix_of(shown, now.trials, now.outcome),
        "advice": advice,
        "shares": lab_charts(shown)["shares"] if len(shown.grid.values) > 1 else [],
        "recommended": option_summary(labs.options_of(shown)).chosen if advice else [],
        "apply": _apply(request, shown) if advice and shown.ended else "",
        # Partitions are the table's: an import cannot set them.
        "fills_in": bool(advice and advice["settings"].keys() - {"partitions"}),
        "approval": _approval_card(shown),
        "is_stuck": labs.is_stuck(shown),
        "can_cancel": shown.status in (Status.WAITING, Status.PREPARING, Status.RUNNING),
        # A function: it runs only if the template uses it.
        "loads_at_once": partial(presence.parallel_loads, shown.target.label),
    }


def _approval_card(shown: Lab) -> ApprovalCard | None:
    if not labs.is_asked_for(shown):
        return None
    approve, refuse = (reverse(name, args=[shown.pk]) for name in ("lab_approve", "lab_refuse"))
    return ApprovalCard(labs.sentence(shown), labs.digest_of(shown), approve, refuse, why_not(shown))


def _apply(request: HttpRequest, shown: Lab) -> str:
    """The address of a new import of this file with the recommended settings; "" if this user cannot import it."""
    source = shown.source
    if not source or not uploads.importable_by(request.user).filter(pk=source.pk).exists():
        return ""
    return f"{reverse('new_source', args=[source.key])}?{urlencode({'lab': shown.pk})}"
