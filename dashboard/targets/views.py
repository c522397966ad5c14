"""Pages of targets: the list, and a page to edit one, to check it, and to see the findings of its last check."""

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.access.told import told_on
from dashboard.targets.form import TargetForm
from importer.access import audit
from importer.access.policy import seen, sees_everything
from importer.engine.errors import Problem
from importer.lab import release_unmarked
from importer.models import Target
from importer.targets import check, remove, told_findings

CHECK_DOES = (
    "A check connects, looks at the settings and the account's rights, loads a few rows into a table of its own and "
    "takes them back."
)


@require_safe
def targets(request: HttpRequest) -> HttpResponse:
    """All targets by name, each with the result of its last check."""
    rows = seen(Target.objects.registered().annotate(job_count=Count("jobs"))).order_by("name")
    return render(request, "targets/list.html", {"targets": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def target_new(request: HttpRequest) -> HttpResponse:
    """The form of a new target, which is checked as soon as it is saved."""
    return _edit(request, Target())


@require_http_methods(["GET", "HEAD", "POST"])
def target(request: HttpRequest, pk: int) -> HttpResponse:
    """One target: its form and the findings of its last check."""
    return _edit(request, get_object_or_404(Target, pk=pk))


@require_POST
def target_check(request: HttpRequest, pk: int) -> HttpResponse:
    """Check the target now."""
    checked = get_object_or_404(Target, pk=pk)
    _check(request, checked)
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "shared/_findings.html", _findings(checked))
    return redirect("target", pk)


@require_POST
@told_on("target")
def target_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete the target, unless it has imports or schedules; the page then says how many of each."""
    deleted = get_object_or_404(Target, pk=pk)
    remove(deleted)
    messages.success(request, f"{deleted.name} is deleted. Nothing was changed on the server.")
    return redirect("targets")


def _edit(request: HttpRequest, edited: Target) -> HttpResponse:
    before = {name: getattr(edited, name) for name in audit.RECORDED} if edited.pk else {}
    form = TargetForm(request.POST or None, instance=edited, initial=_offered_tls(request))
    if form.is_valid():
        saved = form.save()
        audit.target_saved(saved, before, bool(form.cleaned_data["password"]))
        release_unmarked(saved)
        _check(request, saved)
        return redirect("target", saved.pk)
    # The form writes its values into its instance, even invalid ones: the page's title needs the stored name.
    stored = Target.objects.annotate(job_count=Count("jobs")).get(pk=edited.pk) if edited.pk else None
    context: dict[str, Any] = {"form": form, "target": stored}
    if stored:
        context |= {"schedule_count": stored.schedules.count(), **_findings(stored)}
    return render(request, "targets/detail.html", context, status=422 if form.is_bound else 200)


def _offered_tls(request: HttpRequest) -> dict[str, str]:
    """The TLS setting that a finding of the check has offered: the form has it chosen, and the person saves it."""
    offered = request.GET.get("tls")
    return {"tls": offered} if offered in Target.Tls.values else {}


def _findings(checked: Target) -> dict[str, Any]:
    if not sees_everything():
        checked.findings = told_findings(checked.findings)
    return {
        "checked": checked,
        "check_name": "target_check",
        "check_does": CHECK_DOES,
    }


def _check(request: HttpRequest, checked: Target) -> None:
    """Run the check, which stores its findings on the target; a Problem is shown at the top of the page."""
    try:
        check(checked)
    except Problem as problem:
        messages.error(request, str(problem))
