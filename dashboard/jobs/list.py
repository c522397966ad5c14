"""The list of imports with settings and timings, filtered, sorted and paged in the database."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import BigIntegerField, Expression, F, Q, QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, NullIf
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.formatting import percent
from importer import schedules
from importer.access.policy import seen
from importer.history.read import column
from importer.models import ImportJob, Target
from importer.models.job import ACCOUNTED_ROWS
from importer.models.outcomes import CONDITIONS, PROBLEM_KIND, words_of

PAGE_ROWS = 50
NEWEST_FIRST = "-started"
# What the list can be narrowed to: each status of an import under way, and each outcome.
STATES = [
    *(each for each in ImportJob.Status.choices if each[0] not in ImportJob.ENDED),
    *((words, words.capitalize()) for words in CONDITIONS),
]

# Columns computed by the database, in addition to the model's fields.
COMPUTED: dict[str, F | Expression] = {
    "file": F("source__name"),
    "size": F("source__size"),
    "target_name": F("target__name"),
    "rows": ACCOUNTED_ROWS,
    # MB/s. No database divides by 0.
    "throughput": F("committed_bytes") / 1e6 / NullIf(F("loading_seconds"), Value(0.0)),
    "seconds": F("total_seconds"),
    "chunk_bytes": Cast(KT("plan_json__chunk_bytes"), BigIntegerField()),
    "method": KT("plan_json__method"),
    "problem_kind": KT("problem__kind"),
    "indexes": Coalesce(KT("plan_json__arrangement__keys__0__name"), KT("plan_json__staged__later__0")),
}
FIELDS = (
    "pk",
    "schema_name",
    "table_name",
    "status",
    "rejected_rows",
    "restored_at",
    "balanced",
    "rows_per_second",
    "committed_bytes",
    "parallelism",
    "created_at",
)
# The columns to sort by, by their names in the URL.
SORTS: dict[str, F | Expression] = {
    "file": COMPUTED["file"],
    "size": COMPUTED["size"],
    "table": F("table_name"),
    "target": COMPUTED["target_name"],
    "status": F("status"),
    "rows": COMPUTED["rows"],
    "rate": F("rows_per_second"),
    "throughput": COMPUTED["throughput"],
    "seconds": COMPUTED["seconds"],
    "parallelism": F("parallelism"),
    "chunk": COMPUTED["chunk_bytes"],
    "method": COMPUTED["method"],
    "started": F("created_at"),
}

# The orders to choose from on a narrow screen, which has no room for most of the headings.
SORT_CHOICES = {
    "-started": "Newest first",
    "started": "Oldest first",
    "-rate": "Fastest first",
    "rate": "Slowest first",
    "-rows": "Most rows first",
    "-seconds": "Longest first",
    "file": "By file",
    "table": "By table",
    "target": "By target",
}


@require_safe
@vary_on_headers("HX-Request")
def jobs(request: HttpRequest) -> HttpResponse:
    """The whole page, or only its table for htmx."""
    selected = matching(request.GET.get("q", ""), request.GET.get("status", ""), request.GET.get("target", ""))
    sort = request.GET.get("sort", "")
    if sort.removeprefix("-") not in SORTS:
        sort = NEWEST_FIRST
    page = Paginator(in_order(selected, sort), PAGE_ROWS).get_page(request.GET.get("page"))
    shown = rows(list(page.object_list))
    context: dict[str, Any] = {
        "page": page,
        "page_numbers": page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1),
        "jobs": shown,
        "sort": sort,
        "sort_choices": SORT_CHOICES | ({} if sort in SORT_CHOICES else {sort: f"By {sort.lstrip('-')}"}),
        "running": any(job["progress"] is not None for job in shown),
    }
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "jobs/_list_table.html", context)
    context |= {
        "states": STATES,
        "targets": seen(Target.objects.all()).values_list("name", flat=True).order_by("name"),
        "attention": seen(schedules.needing_attention()).count(),
        "any_jobs": bool(page.paginator.count) or seen(ImportJob.objects.filter(trial=None)).exists(),
    }
    return render(request, "jobs/list.html", context)


def matching(text: str, status: str, target: str) -> QuerySet[ImportJob]:
    """The jobs whose file or table name contains the text, of one outcome or status, on the target of that name.

    An empty argument does not filter. Trials of labs are left out.
    """
    selected = seen(ImportJob.objects.filter(trial=None))
    if text := text.strip():
        selected = selected.filter(
            Q(source__name__icontains=text) | Q(table_name__icontains=text) | Q(schema_name__icontains=text)
        )
    if status in CONDITIONS:
        selected = selected.annotate(kind=PROBLEM_KIND).filter(CONDITIONS[status])
    elif status:
        selected = selected.filter(status=status)
    if target:
        selected = selected.filter(target__name=target)
    return selected


def in_order(selected: QuerySet[ImportJob], sort: str) -> QuerySet[ImportJob, int]:
    """The jobs' primary keys; `sort` is a name of SORTS, with "-" before it for descending."""
    column = SORTS[sort.removeprefix("-")]
    order = column.desc(nulls_last=True) if sort.startswith("-") else column.asc(nulls_last=True)
    return selected.order_by(order, "-pk").values_list("pk", flat=True)


def rows(keys: list[int]) -> list[dict[str, Any]]:
    """The columns of these jobs, in the order of `keys`.

    A separate query from in_order(): a server that sorts whole rows takes ten times as long for ten thousand of them.
    """
    slower = column("slower_than_like", keys)
    by_key = {row["pk"]: row for row in ImportJob.objects.filter(pk__in=keys).values(*FIELDS, **COMPUTED)}
    for row in by_key.values():
        restored = row["restored_at"] is not None
        if row["status"] == ImportJob.Status.SUCCEEDED and not row["balanced"]:
            row["status"] = ImportJob.Status.FAILED
        row["outcome"] = words_of(row["status"], row["rejected_rows"], row["problem_kind"], restored=restored)
        row["slower"] = slower.get(row["pk"], False)
        row["progress"] = None if row["status"] in ImportJob.ENDED else percent(row["committed_bytes"], row["size"])
    return [by_key[key] for key in keys if key in by_key]
