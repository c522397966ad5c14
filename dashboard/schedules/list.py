"""Pages of schedules: the list, and the form to create or change one, with a preview of its runs."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import OuterRef, Subquery, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.fields.ready import ready_first
from dashboard.formatting import entered_number
from dashboard.new_import.steps import format_in_short
from dashboard.schedules import preview
from dashboard.schedules.form import CRONS, ScheduleForm, suggested_pattern
from dashboard.schedules.strip import strips
from importer import schedules as importer_schedules
from importer.access import audit
from importer.access.policy import seen
from importer.access.time_zones import zone_names
from importer.engine.errors import Problem
from importer.models import ImportJob, MappingPreset, Schedule, ScheduleRun, SourceConnection
from importer.models.outcomes import COMPLETE_IMPORTS
from importer.models.outcomes.runs import with_imports
from importer.models.outcomes.sequels import run_sequels, told_of_run
from importer.schedules.serialization import when

PAGE_ROWS = 50
MOST_OFFERED = 20
MOST_LOOKED_AT = 200  # imports, of which the last of each kind is offered


@require_safe
def schedules(request: HttpRequest) -> HttpResponse:
    """All schedules by name, each with its last run; `?show=attention`: only those that need attention."""
    last = (
        ScheduleRun.objects.filter(schedule=OuterRef("pk"))
        .exclude(status=ScheduleRun.Status.SKIPPED)
        .order_by("-due_at", "-pk")
    )
    matching = seen(Schedule.objects.select_related("connection", "target")).annotate(
        last=Subquery(last.values("pk")[:1]),
        missed=Sum("runs__due_times", filter=importer_schedules.is_missed("runs__")),
    )
    attention = seen(importer_schedules.needing_attention())
    if request.GET.get("show") == "attention":
        matching = matching.filter(pk__in=attention.values("pk"))
    if text := request.GET.get("q", "").strip():
        matching = matching.filter(name__icontains=text)
    page: Any = Paginator(matching.order_by("name"), PAGE_ROWS).get_page(request.GET.get("page"))
    runs = with_imports(ScheduleRun.objects.all()).in_bulk([each.last for each in page if each.last])
    marks, settled = strips(page), run_sequels(runs)
    rows = [
        {
            "schedule": each,
            "when": _when(each),
            "run": (run := runs.get(each.last)),
            "outcome": told_of_run(run, settled) if run else "",
            "settled": each.last in settled,
            "marks": marks[each.pk],
            "missed": each.missed,
        }
        for each in page
    ]
    context = {
        "page": page,
        "rows": rows,
        "any": bool(rows) or seen(Schedule.objects.all()).exists(),
        "search": text,
        "attention": attention.count(),
        "only_attention": request.GET.get("show") == "attention",
    }
    return render(request, "schedules/list.html", context)


def _when(schedule: Schedule) -> str:
    try:
        return when(schedule)
    except Problem as problem:
        return problem.what


@require_http_methods(["GET", "HEAD", "POST"])
def schedule_new(request: HttpRequest) -> HttpResponse:
    """The form of a new schedule based on `?job=` or `?preset=`, for files of `?connection=`.

    Without a job or preset, a page to choose one.
    """
    job = _job(request)
    preset: MappingPreset | None = _chosen(
        seen(MappingPreset.objects.select_related("target")), request.GET.get("preset")
    )
    recipe = job or preset
    if not recipe:
        return _choose(request)
    initial = {
        "name": recipe.table_name,
        "zone": timezone.get_default_timezone_name(),
        "connection": _connection(request)
        or next(iter(ready_first(seen(SourceConnection.objects.order_by("name")))), None),
    }
    if job:
        initial["pattern"] = suggested_pattern(job.source.name)
    form = ScheduleForm(request.POST or None, initial=initial, asks_limit=importer_schedules.lacks_limit(recipe))
    if form.is_valid():
        try:
            saved = _create(recipe, form, cast(User, request.user))
        except Problem as problem:
            form.refuse(problem)
        else:
            return _saved(request, saved)
    return _form(request, form, {"job": job, "preset": preset, "recipe": recipe})


def _create(recipe: ImportJob | MappingPreset, form: ScheduleForm, user: User) -> Schedule:
    requested, no_limit = form.schedule_request(), form.no_limit
    if isinstance(recipe, ImportJob):
        return importer_schedules.create_from_job(recipe, requested, user, no_limit=no_limit)
    return importer_schedules.create(requested, recipe, user, no_limit=no_limit)


@require_http_methods(["GET", "HEAD", "POST"])
def schedule_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """The form of an existing schedule; dialect, mapping and target change only if a preset is chosen."""
    stored = get_object_or_404(Schedule.objects.select_related("connection", "target"), pk=pk)
    # The form writes its values into its instance, even invalid ones: the page's title needs the stored name.
    form = ScheduleForm(request.POST or None, instance=Schedule.objects.get(pk=pk))
    preset: MappingPreset | None = _chosen(seen(MappingPreset.objects.all()), request.POST.get("preset"))
    if form.is_valid():
        try:
            importer_schedules.update(stored, form.schedule_request(), preset)
        except Problem as problem:
            form.refuse(problem)
            stored = Schedule.objects.get(pk=pk)
        else:
            return _saved(request, stored)
    presets = seen(MappingPreset.objects.filter(target=stored.target))
    return _form(request, form, {"schedule": stored, "recipe": stored, "presets": presets, "chosen_preset": preset})


@require_safe
@never_cache
def schedule_preview(request: HttpRequest) -> HttpResponse:
    """When a schedule with these fields, made from `?job=`, would run, and the files that it would find now."""
    found = preview.files(request.GET, _job(request))
    context = {"when": preview.when(request.GET), "files": found, "zone": request.GET.get("zone")}
    return render(request, "schedules/_preview.html", context)


def _chosen(among: Any, pk: str | None) -> Any:
    """The row with this primary key, None for other text. Raises Http404 if there is no such row."""
    return get_object_or_404(among, pk=entered_number(pk)) if pk and pk.isdecimal() else None


def _job(request: HttpRequest) -> ImportJob | None:
    imports = seen(ImportJob.objects.filter(trial=None)).select_related("target", "source")
    chosen: ImportJob | None = _chosen(imports, request.GET.get("job"))
    return chosen


def _connection(request: HttpRequest) -> SourceConnection | None:
    chosen: SourceConnection | None = _chosen(seen(SourceConnection.objects.all()), request.GET.get("connection"))
    return chosen


def _choose(request: HttpRequest) -> HttpResponse:
    connection = _connection(request)
    # A file of rejected rows comes once.
    complete = seen(COMPLETE_IMPORTS.filter(trial=None, rejects_of=None))
    kinds: dict[tuple[int, str, str], ImportJob] = {}
    for job in complete.select_related("target", "source").order_by("-pk")[:MOST_LOOKED_AT]:
        kinds.setdefault((job.target_id, job.table, suggested_pattern(job.source.name)), job)
    context = {
        "jobs": list(kinds.values())[:MOST_OFFERED],
        "presets": seen(MappingPreset.objects.select_related("target")),
        "and_connection": f"&connection={connection.pk}" if connection else "",
    }
    return render(request, "schedules/recipe_choice.html", context)


def _form(request: HttpRequest, form: ScheduleForm, more: dict[str, Any]) -> HttpResponse:
    recipe = more["recipe"]
    form.tell_of(recipe.options)
    context = more | {
        "form": form,
        "reading": format_in_short(recipe.file_dialect),
        "loaded_fields": sum(bool(each.column) for each in recipe.mapping),
        "crons": CRONS,
        "zones": zone_names(),
        "connections": seen(SourceConnection.objects.all()).exists(),
    }
    return render(request, "schedules/form.html", context, status=422 if form.is_bound else 200)


def _saved(request: HttpRequest, schedule: Schedule) -> HttpResponse:
    audit.about(schedule)
    for warning in importer_schedules.warnings(schedule):
        messages.warning(request, warning)
    messages.success(request, f"{schedule.name} is saved.")
    return redirect("schedule", schedule.pk)
