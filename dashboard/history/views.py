"""The history page: a table of imports with any facts, charts of settings against timings, effects of settings."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.history import choices
from dashboard.history.charts import drawing
from dashboard.history.setting_effects import effect_report
from dashboard.history.table import chooser, table
from dashboard.history.url_state import CHARTS, PARTS, USUAL, View, sent_by_form, view_of
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.history.export import as_csv, as_json
from importer.history.facts import FACTS, Group
from importer.history.read import counted, recorded
from importer.history.search import Row, every_row
from importer.models import Target

# Fields of the form in addition to the table, by chart.
FIELDS = {"settings": ("x", "y", "colour"), "time": ("y",), "phases": ("parts",)}
FORMS: dict[str, tuple[Callable[[Iterable[str], Iterable[Row]], Iterator[str]], str]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "json": (as_json, "application/json"),
}


@require_safe
@vary_on_headers("HX-Request")
def history(request: HttpRequest) -> HttpResponse:
    """The whole page, or for htmx only its results, with the shortened URL to show in the address bar."""
    view = view_of(request.GET)
    address = reverse("history") + view.address
    if request.htmx:  # type: ignore[attr-defined]
        answer = render(request, "history/_results.html", _context(view))
        answer["HX-Push-Url"] = address
        return answer
    if sent_by_form(request.GET) and not view.problems:
        return redirect(address)
    if not recorded():
        return render(
            request, "history/page.html", {"empty": True, "targets": seen(Target.objects.registered()).exists()}
        )
    return render(request, "history/page.html", _context(view))


def _context(view: View) -> dict[str, Any]:
    tables = list(counted("table").items())
    return {
        "view": view,
        "table": table(view),
        "drawing": drawing(view),
        "tables": tables,
        "total": dict(tables).get(view.table, 0) if view.table else sum(count for _, count in tables),
        "effects": effect_report(view, tables),
        "chips": choices.chips(view),
        "comparison": choices.comparison_choice("indexes"),
        "hidden": view.pairs_without("table", "sort", *FIELDS[view.chart]),
        "hidden_except_columns": view.pairs_without("columns"),
        "chooser": chooser(),
        "shown": set(view.columns),
        "chooser_count": len(FACTS),
        "usual": view.but(columns=USUAL),
        "everything": view.but(columns=tuple(FACTS)),
        "charts": [(name, title, view.but(chart=name, page=view.page)) for name, title in CHARTS.items()],
        "parts": PARTS,
        "facts": choices.facts(),
        "along": choices.facts(Group.CHOSEN, Group.REQUESTED, Group.FILE, Group.TABLE, Group.SERVER, Group.JOB),
        "timings": choices.timings(),
    }


@require_safe
@never_cache
def chart(request: HttpRequest) -> JsonResponse:
    """The data of the view's chart (dashboard.history.charts); 400 with the problem if the URL is invalid."""
    view = view_of(request.GET)
    if view.problems:
        return JsonResponse({"problem": str(view.problems[0])}, status=400)
    return JsonResponse(drawing(view).data)


@require_safe
def values(request: HttpRequest) -> HttpResponse:
    """The form fields for a condition on `?fact=`: its operators and values; 404 for an unknown fact."""
    try:
        comparison = choices.comparison_choice(request.GET.get("fact", ""))
    except Problem as problem:
        return HttpResponse(str(problem), status=404, content_type="text/plain; charset=utf-8")
    return render(request, "history/_condition.html", {"comparison": comparison})


@require_safe
@never_cache
def export(request: HttpRequest, form: str) -> HttpResponseBase:
    """All imports of the view with its columns, as CSV or JSON; 400 with the problem if the URL is invalid."""
    view = view_of(request.GET)
    if view.problems:
        return HttpResponse(f"{view.problems[0]}\n", status=400, content_type="text/plain; charset=utf-8")
    write, content_type = FORMS[form]
    answer = StreamingHttpResponse(write(view.columns, every_row(view.query)), content_type=content_type)
    day = timezone.localdate().isoformat()
    answer["Content-Disposition"] = f'attachment; filename="millrace-history-{day}.{form}"'
    return answer
