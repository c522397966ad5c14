"""The page of the audit log, and its export."""

import csv
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.system.audit.filters import Filters
from dashboard.system.audit.words import WORDS, action_words, detail_words
from importer.access import audit
from importer.engine.load.rejects.formulas import escape_formulas
from importer.models import AuditEvent, Target

PAGE_ROWS = 50
COLUMNS = (
    "at", "person", "address", "action", "object_kind", "object_id", "object_name", "target", "table", "outcome",
    "details",
)  # fmt: skip


@require_safe
@never_cache
def events(request: HttpRequest) -> HttpResponse:
    """The events, newest first, filtered by the URL's query."""
    filters = Filters.of(request.GET.dict())
    page = Paginator(filters.events(), PAGE_ROWS).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "filters": filters,
        "page": page,
        "rows": [(event, action_words(event.action), detail_words(event)) for event in page],
        "query": query.urlencode(),
        "people": User.objects.order_by("username").values_list("username", flat=True),
        "actions": sorted(WORDS.items(), key=lambda each: each[1]),
        "targets": Target.objects.order_by("name").values_list("name", flat=True),
        "outcomes": AuditEvent.Outcome.values,
    }
    return render(request, "system/audit/page.html", context, status=422 if filters.problems else 200)


@require_safe
@never_cache
def export(request: HttpRequest) -> StreamingHttpResponse:
    """All events that the filters leave, as CSV. Times have their offset from UTC; formulas get an apostrophe."""
    filters = Filters.of(request.GET.dict())
    audit.note(**{name: value for name, value in request.GET.items() if name in ("person", "action", "target")})
    return StreamingHttpResponse(
        lines(filters),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="audit-log.csv"'},
    )


class _Line:
    """A file for csv.writer whose write() returns the line."""

    def write(self, line: str) -> str:
        return line


def lines(filters: Filters) -> Iterator[str]:
    """The events as lines of a CSV file. Times have their offset from UTC; formulas get an apostrophe."""
    writer: Any = csv.writer(_Line())
    yield writer.writerow(COLUMNS)
    for event in filters.events().iterator():
        details = "; ".join(f"{name}: {value}" for name, value in detail_words(event))
        at = timezone.localtime(event.at).isoformat(timespec="seconds")
        yield writer.writerow([at, *map(escape_formulas, _texts(event)), details])


def _texts(event: AuditEvent) -> list[str]:
    thing = [event.object_kind, event.object_id, event.object_name, event.target, event.table]
    return [event.actor_name, event.address, action_words(event.action), *thing, event.outcome]
