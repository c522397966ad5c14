"""The page of presets, and saving a finished import as one. dashboard.new_import.views saves a new import as one."""

from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from importer.access import audit
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.models import ImportJob, MappingPreset
from importer.preparation import presets as saved


@require_safe
def presets(request: HttpRequest) -> HttpResponse:
    """All presets by name."""
    return _page(request)


@require_POST
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    preset = get_object_or_404(MappingPreset, pk=pk)
    try:
        saved.rename(preset, request.POST.get("name", ""))
        audit.note(name=preset.name)
    except Problem as problem:
        return _page(request, problem)
    return redirect("presets")


@require_POST
def delete(_request: HttpRequest, pk: int) -> HttpResponse:
    get_object_or_404(MappingPreset, pk=pk).delete()
    return redirect("presets")


@require_POST
def save_job(request: HttpRequest, pk: int) -> HttpResponse:
    """Save the settings of an import as a preset."""
    job = get_object_or_404(ImportJob.objects.select_related("target", "source"), pk=pk)
    try:
        saved.save_from_job(request.POST.get("name", ""), job, cast(User, request.user))
        audit.note(preset=request.POST.get("name", ""))
    except Problem as problem:
        return _page(request, problem)
    return redirect("presets")


def _page(request: HttpRequest, problem: Problem | None = None) -> HttpResponse:
    context = {"presets": seen(MappingPreset.objects.select_related("target")), "problem": problem}
    return render(request, "new_import/presets/list.html", context, status=422 if problem else 200)
