"""The page of presets, and saving a finished import as one. dashboard.new_import.views saves a new import as one."""

from typing import cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard.fields.null_markers import show_markers
from dashboard.new_import.grid.columns import FILLINGS
from dashboard.new_import.steps import format_in_short
from importer.access import audit
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mapping.date_formats import format_words
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.plan.options import changed_options
from importer.models import ImportJob, MappingPreset, SourceFile
from importer.preparation import presets as saved
from importer.sources.uploads import importable_by

MOST_LOOKED_AT, FILES_OFFERED = 50, 5


@require_safe
def presets(request: HttpRequest) -> HttpResponse:
    """All presets by name."""
    return render(request, "new_import/presets/list.html", {"presets": saved.all_seen()})


@require_safe
def preset(request: HttpRequest, pk: int) -> HttpResponse:
    """The recipe of one preset, and the files with which it can be changed in the form."""
    return _recipe(request, pk)


def _recipe(request: HttpRequest, pk: int, problem: Problem | None = None) -> HttpResponse:
    """The page of one preset, with the name that was refused because of the problem."""
    shown = get_object_or_404(MappingPreset.objects.select_related("target", "created_by"), pk=pk)
    place = {"target": shown.target, "schema_name": shown.schema_name, "table_name": shown.table_name}
    jobs = seen(ImportJob.objects.filter(**place, trial=None)).order_by("-pk")
    sources = list(jobs.values_list("source", flat=True)[:MOST_LOOKED_AT])
    files = importable_by(request.user).filter(status=SourceFile.Status.READY, pk__in=sources)
    context = {
        "preset": shown,
        "fields": [
            (name, each.column, _conversion(each)) for name, each in zip(shown.header, shown.mapping, strict=False)
        ],
        "fillings": [(each.column, _filling(each)) for each in shown.fillings],
        "options": [("Format", format_in_short(shown.file_dialect)), *changed_options(shown.options)],
        "files": files.order_by("-pk")[:FILES_OFFERED],
        "problem": problem,
        "entered": request.POST.get("name", "") if problem else None,
    }
    return render(request, "new_import/presets/detail.html", context, status=422 if problem else 200)


def _conversion(field: ColumnMapping) -> str:
    """The conversions of a field's text before it is stored, in words; "" without any."""
    words = [TRANSFORMS[word].label if word in TRANSFORMS else format_words(word) for word in field.words]
    words += [f"NULL is written as {show_markers(field.null_markers)}"] if field.null_markers else []
    return " · ".join(words)


def _filling(filling: GeneratedColumn) -> str:
    """What fills a column without a field, in words."""
    words = FILLINGS.get(filling.source, filling.source)
    return f"{words}: {filling.text}" if filling.source == "text" else words


@require_POST
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    preset = get_object_or_404(MappingPreset, pk=pk)
    try:
        saved.rename(preset, request.POST.get("name", ""))
        audit.note(name=preset.name)
    except Problem as problem:
        return _recipe(request, pk, problem)
    return redirect("preset", pk)


@require_POST
def delete(_request: HttpRequest, pk: int) -> HttpResponse:
    get_object_or_404(MappingPreset, pk=pk).delete()
    return redirect("presets")


@require_POST
def save_job(request: HttpRequest, pk: int) -> HttpResponse:
    """Save the settings of an import as a preset. If that is refused, its page says why, and has the name still."""
    job = get_object_or_404(ImportJob.objects.select_related("target", "source"), pk=pk)
    name = request.POST.get("name", "")
    try:
        saved.save_from_job(name, job, cast(User, request.user))
        audit.note(preset=name)
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect(f"{reverse('job', args=[pk])}?{urlencode({'preset_name': name})}")
    return redirect("presets")
