"""The page of a new import: uploads files, shows a preview with the plan for each, and starts the import."""

import json
from typing import cast
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect

from dashboard.access.confirmed import check_confirmed
from dashboard.fields.format_fields import format_inputs, shown_format
from dashboard.new_import import batch as batches
from dashboard.new_import import earlier
from dashboard.new_import.batch import Batch
from dashboard.new_import.form import NewImportForm
from dashboard.new_import.grid.columns import FILLINGS, TRIMS
from dashboard.new_import.grid.grid import make_grid
from dashboard.new_import.preview import Preview, read_preview
from dashboard.new_import.stated_fields import restored, shown_filling, shown_mapping, with_answers
from dashboard.new_import.steps import groups, steps
from dashboard.new_import.unreadable import unreadable
from dashboard.new_import.uploading.arriving import follower, too_early
from importer.access import audit, limits
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.mapping.suggest import BY_NAME, BY_POSITION
from importer.engine.mysql.connection import connect
from importer.engine.source.archives import PACKING_NAMES
from importer.engine.source.formats.registry import NAMES
from importer.engine.target.write_modes import MODES
from importer.jobs.actions import commands
from importer.jobs.actions.again import create_once
from importer.models import ImportJob, MappingPreset, SourceFile, Target
from importer.preparation import examination, presets
from importer.preparation.loadable_tables import offered_tables
from importer.sources import direct, quotas, uploads
from importer.worker.hosts import presence

# A placeholder in a URL; the page's script replaces it by the key of an upload.
ANY_KEY = UUID(int=0)
# Form fields that are no choices about the import.
NOT_CHOSEN = (
    "csrfmiddlewaretoken",
    "stay",
    "preset_name",
    "preset_update",
    "preset_schedule",
    "newest_import",
    *batches.FIELDS,
)
DATETIME_FORMATS = ("%Y-%m-%dT%H:%i:%s%z", "%d.%m.%Y %H:%i", "%d/%m/%Y", "%m/%d/%Y %H:%i", "%Y%m%d")

MATCH_WORDS = (("", "name, or as fits"), (BY_NAME, "name"), (BY_POSITION, "position"))


@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """The page to drop files on."""
    return render(request, "new_import/page.html", _page(request))


@vary_on_headers("HX-Request")
def new_source(request: HttpRequest, key: UUID) -> HttpResponse:
    """The preview of one uploaded file. A POST sends changed choices; nothing is imported.

    Opened again, the page shows the stored choices, unless its URL has `?afresh`.
    """
    source = get_object_or_404(uploads.importable_by(request.user), key=key)
    try:
        arrived = _arrived(source)
    except Problem as problem:
        return _answer(request, "new_import/_unreadable.html", {"source": source, "problem": problem}, status=422)
    if job := follower(request, source):
        return _answer(request, _part_of(job), {"job": job, "source": source, "follows": True})
    if not arrived and not _may_preview(request, source):
        return _answer(request, "new_import/_upload_progress.html", {"source": source})
    preview = read_preview(source, _choices(request, source))
    return HttpResponse(status=204) if too_early(preview) else _show(request, preview)


def _may_preview(request: HttpRequest, source: SourceFile) -> bool:
    """Whether the page that uploads the file asks for a preview of what has arrived. Other pages say how much it is."""
    return bool(request.htmx) and 0 < source.received < source.size  # type: ignore[attr-defined]


def _part_of(job: ImportJob) -> str:
    """The part that shows an import which follows its upload, or which has got all of it."""
    return "new_import/_following.html" if job.source.arriving else "new_import/_started.html"


def _choices(request: HttpRequest, source: SourceFile) -> NewImportForm:
    """The choices of the request, or the stored ones."""
    values = {name: value for name, value in request.POST.dict().items() if name not in NOT_CHOSEN}
    if values.pop("look", ""):  # The preview button overrides the option.
        values["preview"] = "yes"
    if request.method == "POST" or "afresh" in request.GET:
        values = with_answers(values)
        if source.owned:  # Choices for a file on the server, which several people may import, are not stored.
            uploads.save_choices(source, values)
        return NewImportForm(values)
    asked = {name: value for name, value in request.GET.dict().items() if name not in NOT_CHOSEN}
    return NewImportForm(restored(asked or source.choices))


def _arrived(source: SourceFile) -> bool:
    """Whether the file is complete and checked; finishes an upload whose last request was interrupted before that."""
    if source.status == SourceFile.Status.UPLOADING and source.received == source.size:
        try:
            uploads.finish(source)
        except uploads.UploadBusy:  # Another request is finishing it.
            return False
    return source.status == SourceFile.Status.READY


@require_POST
def start(request: HttpRequest, key: UUID) -> HttpResponse:
    """Start the import and redirect to its page, or show the problem."""
    source = get_object_or_404(uploads.importable_by(request.user).filter(received__gt=0), key=key)
    preview = read_preview(source, _choices(request, source))
    prepared = preview.startable
    if prepared is None:
        return _show(request, preview, status=422)
    try:
        _check_shown(preview)
        earlier.check_not_imported_since(request, prepared)
        batch = batches.read_batch(request, preview)
        others = batches.prepare_others(preview, batch)
        if others:  # The first one was counted with the request.
            limits.use(limits.STARTS, len(others))
        with transaction.atomic():
            job, *more = [
                create_once(each, cast(User, request.user), preview.choices.rejects_of) for each in (prepared, *others)
            ]
        if preview.choices.preset:
            presets.mark_used(preview.choices.preset)
    except Problem as problem:
        preview.problem = problem
        return _show(request, preview)
    examination.stop(source)
    for each in (job, *more):
        commands.start(each.pk)
    audit.note(**({"more_imports": [each.pk for each in more]} if more else {}))
    return _go_to(request, [job, *more], batch)


@require_POST
def save_preset(request: HttpRequest, key: UUID) -> HttpResponse:
    """Save the choices as a preset, which is offered for files with this header; or change the chosen preset.

    With `preset_schedule`, the form of a schedule with the preset follows.
    """
    ready = uploads.importable_by(request.user).filter(status=SourceFile.Status.READY)
    preview = read_preview(get_object_or_404(ready, key=key), NewImportForm(with_answers(request.POST.dict())))
    saved = None
    if preview.startable:
        try:
            if (chosen := preview.choices.preset) and "preset_update" in request.POST:
                check_confirmed(request, chosen)
                saved = presets.replace(chosen, preview.startable)
            else:
                saved = presets.save(request.POST.get("preset_name", ""), preview.startable, cast(User, request.user))
            audit.note(preset=saved.name)
            preview.use(saved)
            if "preset_schedule" in request.POST:
                return leave(request, f"{reverse('schedule_new')}?preset={saved.pk}")
        except Problem as problem:
            preview.problem = problem
    return _show(request, preview, saved=saved)


def _check_shown(preview: Preview) -> None:
    """Raise Problem if the page showed a plan on another basis: another table, or a changed table or file format."""
    if preview.choices.values.get("basis") != preview.basis:
        raise Problem("The plan has changed since it was shown.", advice="Look at it again, then start it.")


def _go_to(request: HttpRequest, started: list[ImportJob], batch: Batch) -> HttpResponse:
    """To the next file of the page if there is one; else to the import, or to the list of several."""
    job = started[0]
    if job.source.arriving:  # Leaving the page would end its upload.
        return _answer(request, "new_import/_following.html", {"job": job, "source": job.source})
    address = reverse("jobs") if len(started) > 1 else reverse("job", args=[job.pk])
    if batch.left:
        keys = [str(each.source.key) for each in batch.left]
        address = f"{reverse('new_source', args=[keys[0]])}?also={','.join(keys[1:])}"
    # Leaving the page would end the uploads of other files on it.
    if request.htmx and request.POST.get("stay"):  # type: ignore[attr-defined]
        following = {"next": address, "next_name": batch.left[0].source.name} if batch.left else {}
        return render(request, "new_import/_started.html", {"job": job, "jobs": started, **following})
    if batch.left or len(started) > 1:
        messages.success(request, _told(started))
    return leave(request, address)


def leave(request: HttpRequest, address: str) -> HttpResponse:
    """Go to another page."""
    return HttpResponseClientRedirect(address) if request.htmx else HttpResponseRedirect(address)  # type: ignore[attr-defined]


def _told(started: list[ImportJob]) -> str:
    numbers = ", ".join(str(each.pk) for each in started)
    return f"Import{'s' if len(started) > 1 else ''} {numbers} into {started[0].table} started."


@require_POST
def remove(request: HttpRequest, key: UUID) -> HttpResponse:
    """Remove an upload, from the list or from its preview."""
    source = get_object_or_404(uploads.uploads_of(request.user), key=key)
    try:
        uploads.remove(source)
    except Problem as problem:
        return _answer(request, "new_import/_unreadable.html", {"source": source, "problem": problem}, status=422)
    return HttpResponse() if request.htmx else redirect("new")  # type: ignore[attr-defined]


@require_safe
def tables(request: HttpRequest) -> HttpResponse:
    """The tables of a target whose names contain the entered text, as options of a datalist."""
    choices = NewImportForm(request.GET.dict())
    target = choices.target
    names: list[str] = []
    if target:
        try:
            with connect(target.address) as connection:
                names = offered_tables(connection, target, choices.table)
        except Problem:  # The preview shows problems with the server.
            names = []
    return render(request, "new_import/_tables.html", {"tables": names})


def _show(
    request: HttpRequest, preview: Preview, status: int = 200, saved: MappingPreset | None = None
) -> HttpResponse:
    format_texts, grid = _format_texts(preview), make_grid(preview)
    batch = batches.read_batch(request, preview)
    context = {
        "preview": preview,
        "grid": grid,
        "source": preview.source,
        "problem": preview.problem,
        "fault": unreadable(preview, format_texts),
        **earlier.same_content(request, preview.source),
        "last_time": earlier.last_time(preview),
        "targets": seen(_choosable(preview.target)),
        "shown": _shown(preview, format_texts),
        "answered": json.dumps(sorted(preview.choices.answered)),
        "format_inputs": format_inputs(format_texts),
        "packed_as": PACKING_NAMES.get(preview.profile.packing, "") if preview.profile else "",
        "batch": batch,
        "address": _address(request, preview.source, batch),
        "steps": steps(preview, grid, earlier.adder(preview)),
        "sentences": groups(preview),
        "options": preview.choices.option_form.show(
            preview.prepared.plan if preview.prepared else None, preview.problem
        ),
        "saved": saved,
        "formats": DATETIME_FORMATS,
        "trims": TRIMS,
        "fillings": FILLINGS,
        "matches": MATCH_WORDS,
        "loads_at_once": presence.parallel_loads,
        "modes": MODES,
    }
    return _answer(request, "new_import/_preview.html", context, status=422 if preview.problem else status)


def _address(request: HttpRequest, source: SourceFile, batch: Batch) -> str:
    """The address that shows the file as this answer does; "" while it arrives, or where its choices are not stored.

    What a POST chose is stored, so its address needs nothing of it.
    """
    if source.arriving or not source.owned:
        return ""
    asked = {} if request.method == "POST" else request.GET.dict()
    query = {name: value for name, value in asked.items() if name not in (*NOT_CHOSEN, "follows", "afresh")}
    if batch.keys:
        query[batches.ALSO] = batch.keys
    address = reverse("new_source", args=[source.key])
    return f"{address}?{urlencode(query)}" if query else address


def _choosable(chosen: Target | None) -> QuerySet[Target]:
    """The targets to choose from, with the one that is chosen: it may be that of an import by URL, which runs again."""
    return Target.objects.filter(Q(by_url=False) | Q(pk=chosen and chosen.pk)).order_by("name")


def _format_texts(preview: Preview) -> dict[str, str]:
    """The text of each field of the format: as read, or as entered if the file cannot be read that way."""
    texts = shown_format(preview.dialect)
    if preview.profile:
        return texts
    return texts | {name: preview.choices.values[name] for name in texts.keys() & preview.choices.values.keys()}


def _shown(preview: Preview, format_texts: dict[str, str]) -> str:
    """The values of the fields that the user may change, as the page shows them, for stated_fields.with_answers()."""
    shown = {**format_texts, "match": preview.choices.match}
    for number, mapping in enumerate(preview.mapping):
        shown |= shown_mapping(mapping, number)
    names = preview.table.column_names if preview.table else ()
    for filling in preview.fillings:
        shown |= shown_filling(filling, names.index(filling.column))
    columns = [each.column for each in preview.mapping]
    shown |= {f"add_{columns.index(each.name)}": each.type for each in preview.added if each.name in columns}
    if preview.created and preview.table:
        kept = [(number, name) for number, name in enumerate(preview.created.names) if name]
        shown |= {f"type_{number}": preview.table.column(name).type for number, name in kept}
        shown |= {f"nulls_{number}": preview.created.nulls(name) for number, name in kept}
    return json.dumps({name: text for name, text in shown.items() if text}, separators=(",", ":"))


def _answer(request: HttpRequest, part: str, context: dict[str, object], status: int = 200) -> HttpResponse:
    """The part of the page for htmx, or the whole page with that part in it.

    Reading an incomplete draft is not an error, so a GET answers 200. A browser would report a 422.
    """
    status = status if request.method == "POST" else 200
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, part, context, status=status)
    whole = {**_page(request), **context, "part": part}
    return render(request, "new_import/page.html", whole, status=status)


def _page(request: HttpRequest) -> dict[str, object]:
    return {
        "choices": NewImportForm(request.GET.dict()),
        "recent": earlier.recent(request),
        "any_target": seen(Target.objects.registered()).exists(),
        "any_key": ANY_KEY,
        "part_bytes": settings.UPLOAD_PART_BYTES,
        "goes_into_store": direct.is_offered(),
        "most_bytes": settings.UPLOAD_MAX_BYTES,
        "formats": ", ".join(NAMES.values()),
        "kept": quotas.kept_for(request.user),
        "quota_bytes": settings.UPLOAD_QUOTA_BYTES,
        "quota_files": settings.UPLOAD_QUOTA_FILES,
    }
