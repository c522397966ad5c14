"""The list of all labs."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.lab.experiments import verdicts
from dashboard.lab.labels import name_of
from importer import lab as lab_of
from importer.access.policy import seen
from importer.models import Lab

PAGE_ROWS = 25


@require_safe
@vary_on_headers("HX-Request")
def labs(request: HttpRequest) -> HttpResponse:
    """The labs, the newest first, each with its fastest combination."""
    newest_first = seen(Lab.objects.select_related("target", "source")).prefetch_related("trials").order_by("-pk")
    page = Paginator(newest_first, PAGE_ROWS).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "page": page,
        "rows": [_row(each) for each in page],
        "running": any(not each.ended for each in page),
        "page_numbers": list(page.paginator.get_elided_page_range(page.number)),
    }
    part = "lab/_list_table.html" if request.htmx else "lab/list.html"  # type: ignore[attr-defined]
    return render(request, part, context)


def _row(lab: Lab) -> dict[str, Any]:
    outcome = lab_of.outcome(lab)
    over = sum(count for state, count in outcome["trials"].items() if state not in ("pending", "running"))
    advice = outcome["recommendation"]
    best = outcome["ranking"][0] if outcome["ranking"] else None
    return {
        "lab": lab,
        "best": best,
        "verdicts": verdicts(lab),
        "name": name_of(lab, best["settings"]) if best else "",
        "advice": advice,
        "no_verdict": bool(best and advice and advice["confidence"] == "none"),
        "over": over,
        "trials": sum(outcome["trials"].values()),
    }
