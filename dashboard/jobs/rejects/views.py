"""The grid of rejected rows: filtered and paged, one row fixed, and all fixed rows loaded."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.access.confirmed import check_confirmed
from dashboard.formatting import entered_number
from dashboard.jobs.rejects.grid import drafts_of, grid_of, refused, row_of, shown_columns
from dashboard.jobs.rejects.sent_values import sent_texts
from dashboard.new_import.views import leave
from importer.access import audit
from importer.engine.errors import Problem
from importer.jobs.actions import fixes
from importer.jobs.rejects.rows import rows_at
from importer.models import ImportJob
from importer.sources.store.file_store import StoreAway

View = Callable[..., HttpResponse]
# The event in the browser after which the number of fixed rows is read again.
CHANGED = "rows-fixed"


def _while_the_store_answers(view: View) -> View:
    """Decorate a view that reads the files of rejected rows: without the store it leads to the import, and says why."""

    @wraps(view)
    def read(request: HttpRequest, pk: int, **more: int) -> HttpResponse:
        try:
            return view(request, pk, **more)
        except StoreAway as problem:
            if request.htmx:  # type: ignore[attr-defined]
                return HttpResponse(f"{problem.what} {problem.advice}", status=503, content_type="text/plain")
            messages.error(request, f"{problem.what} {problem.advice}")
            return redirect("job", pk=pk)

    return read


@require_safe
@never_cache
@_while_the_store_answers
def rejected(request: HttpRequest, pk: int) -> HttpResponse:
    """The rejected rows of an import, `?page=` by page, all or of the reason with the number `?why=`."""
    job = _job(pk)
    why = entered_number(request.GET.get("why", ""))
    context = {"job": job, "grid": grid_of(job, why, entered_number(request.GET.get("page", "")) or 1)}
    htmx = request.htmx  # type: ignore[attr-defined]
    return render(request, "jobs/rejects/_grid.html" if htmx else "jobs/rejects/page.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@_while_the_store_answers
def fix_row(request: HttpRequest, pk: int, chunk: int, place: int) -> HttpResponse:
    """One row of the grid; with `?open`, all of its values. A POST keeps the sent values as the person's draft.

    `undo` takes the draft back.
    """
    job, person = _job(pk), cast(User, request.user)
    row = next(iter(rows_at(job, {(chunk, place)})), None)
    if row is None:
        raise Http404
    texts, problem = sent_texts(request, job, row), None
    if request.method == "POST":
        try:
            fixes.save_fix(job, person, row, texts)
        except Problem as refusal:
            problem = refusal
    columns = _columns(request) or shown_columns(job, [row])
    shown = row_of(job, row, None if "open" in request.GET else columns)
    if problem:
        shown = refused(job, shown, texts, problem)
    context = {"job": job, "row": shown, "columns": columns, "drafted": request.method == "POST"}
    answer = render(request, "jobs/rejects/_row.html", context, status=422 if problem else 200)
    if request.method == "POST":
        answer["HX-Trigger"] = CHANGED
    return answer


@require_safe
@never_cache
def fixed_rows(request: HttpRequest, pk: int) -> HttpResponse:
    """How many rows the person has fixed, with the button that loads them."""
    job = _job(pk)
    return render(request, "jobs/rejects/_fixed.html", {"job": job, "drafts": drafts_of(job)})


@require_POST
def load_fixed(request: HttpRequest, pk: int) -> HttpResponse:
    """Load the rows that the person has fixed, as an import of their own, and go to its page."""
    try:
        job = _job(pk)
        check_confirmed(request, job)
        started, count = fixes.load_fixed(job, cast(User, request.user))
    except Problem as problem:
        messages.error(request, str(problem))
        return leave(request, reverse("job", args=[pk]))
    audit.note(started=started.pk, rows=count)
    return leave(request, reverse("job", args=[started.pk]))


def _columns(request: HttpRequest) -> Sequence[int]:
    numbers = (entered_number(each) for each in request.GET.get("columns", "").split("."))
    return [each for each in numbers if each is not None]


def _job(pk: int) -> ImportJob:
    return get_object_or_404(ImportJob.objects.select_related("source", "target", "rejects_of"), pk=pk)
