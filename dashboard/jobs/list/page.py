"""The list of imports with settings and timings, filtered, sorted and paged in the database."""

from dataclasses import dataclass
from typing import Any, cast

import xxhash
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import BigIntegerField, Exists, Expression, F, FloatField, OuterRef, QuerySet, Subquery, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, NullIf
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.formatting import percent
from dashboard.jobs.list.bulk import ACTIONS
from dashboard.jobs.list.filters import ORIGIN, ORIGINS, OWN, SCHEDULE_NAME, STATES, Filters, matching
from importer import schedules
from importer.access.policy import seen
from importer.engine.mysql.sign_in import reasons
from importer.history.read import column
from importer.models import ImportJob, SavedFilter, Target
from importer.models.job import COMMITTED_ROWS, ROWS_IN_TABLE
from importer.models.outcomes import HELD_UP, PREVIEWED, words_of
from importer.models.outcomes.sequels import after, sequels
from importer.worker.hosts.installation import state

PAGE_ROWS = 50
NEWEST_FIRST = "-started"
# Columns computed by the database, in addition to the model's fields.
COMPUTED: dict[str, F | Expression | Subquery] = {
    "file": F("source__name"),
    "size": F("source__size"),
    "target_name": F("target__name"),
    "rows": ROWS_IN_TABLE,
    # No database divides by 0, and no rows and no bytes have no rate. What has not succeeded keeps none of its rows.
    "rate": Coalesce(
        F("rows_per_second"),
        Cast(NullIf(COMMITTED_ROWS, Value(0)), FloatField()) / NullIf(F("loading_seconds"), Value(0.0)),
    ),
    "throughput": NullIf(F("committed_bytes"), Value(0)) / NullIf(F("loading_seconds"), Value(0.0)),
    "seconds": F("total_seconds"),
    "chunk_bytes": Cast(KT("plan_json__chunk_bytes"), BigIntegerField()),
    "method": KT("plan_json__method"),
    "problem_kind": KT("problem__kind"),
    "problem_what": KT("problem__what"),
    "origin": ORIGIN,
    "schedule": SCHEDULE_NAME,
    "owner": F("created_by__username"),
    "indexes": Coalesce(KT("plan_json__arrangement__keys__0__name"), KT("plan_json__staged__later__0")),
}
FIELDS = (
    "pk",
    "schema_name",
    "table_name",
    "status",
    "obstacle",
    "rejected_rows",
    "restored_at",
    "previewed_at",
    "balanced",
    "committed_bytes",
    "plain_size",
    "data_offset",
    "parallelism",
    "created_at",
)
# The columns to sort by, by their names in the URL.
SORTS: dict[str, Any] = {
    "file": COMPUTED["file"],
    "size": COMPUTED["size"],
    "table": F("table_name"),
    "target": COMPUTED["target_name"],
    "status": F("status"),
    "rows": COMPUTED["rows"],
    "rate": COMPUTED["rate"],
    "throughput": COMPUTED["throughput"],
    "seconds": COMPUTED["seconds"],
    "parallelism": F("parallelism"),
    "chunk": COMPUTED["chunk_bytes"],
    "method": COMPUTED["method"],
    "owner": COMPUTED["owner"],
    # The numbers of imports are in the order of their times, by which all of them would be sorted for a page.
    "started": F("pk"),
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


@dataclass(frozen=True)
class Chooser:
    """A filter with fixed values: its name in the address, its label, (value, label) of each, and the chosen value."""

    name: str
    label: str
    choices: tuple[tuple[str, str], ...]
    chosen: str


@require_safe
@vary_on_headers("HX-Request")
def jobs(request: HttpRequest) -> HttpResponse:
    """The whole page; only its table for htmx, or 204 if that is still the table of `?seen=`."""
    # Links of the page keep its address, without what the last poll has seen.
    before, query = request.GET.get("seen", ""), request.GET.copy()
    query.pop("seen", None)
    request.GET = query  # type: ignore[assignment]
    filters = Filters.of(query)
    sort = request.GET.get("sort", "")
    if sort.removeprefix("-") not in SORTS:
        sort = NEWEST_FIRST
    page = Paginator(in_order(matching(filters), sort), PAGE_ROWS).get_page(request.GET.get("page"))
    shown = rows(list(page.object_list))
    context: dict[str, Any] = {
        "page": page,
        "page_numbers": page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1),
        "jobs": shown,
        "sort": sort,
        "sort_choices": SORT_CHOICES | ({} if sort in SORT_CHOICES else {sort: f"By {sort.lstrip('-')}"}),
        "running": any(job["progress"] is not None for job in shown),
        "filters": filters,
        "actions": ACTIONS,
    }
    standing = f"{filters}{sort}{page.number}{page.paginator.count}{shown}{state().halts}"
    context["seen"] = xxhash.xxh3_64_hexdigest(standing.encode())
    if request.htmx:  # type: ignore[attr-defined]
        unchanged = before == context["seen"]
        return HttpResponse(status=204) if unchanged else render(request, "jobs/list/_table.html", context)
    return render(request, "jobs/list/page.html", context | _around(request, filters, page.paginator.count))


def _around(request: HttpRequest, filters: Filters, found: int) -> dict[str, Any]:
    """What the page has around its table: the filters, and what is shown above them."""
    every = seen(ImportJob.objects.filter(trial=None))
    targets = list(seen(Target.objects.all()).order_by("name").values_list("name", flat=True))
    return {
        "choosers": _choosers(filters, every, targets),
        "targets": targets,
        "saved": SavedFilter.objects.filter(user=cast(User, request.user)).order_by("name"),
        "attention": seen(schedules.needing_attention()).count(),
        "any_jobs": bool(found) or every.exists(),
    }


def _choosers(filters: Filters, every: QuerySet[ImportJob], targets: list[str]) -> list[Chooser]:
    """The filters with fixed values, from the imports and the names of the targets that the acting person may see."""
    # Of each person one import is looked for, of which there are many more than people.
    own = Exists(every.filter(created_by=OuterRef("pk")).order_by())
    owners = User.objects.filter(own).values_list("username", flat=True)
    offered = {
        "status": STATES,
        "target": [(name, name) for name in targets],
        "origin": [(name, name.capitalize()) for name in ORIGINS],
        "owner": [(OWN, "Mine"), *((name, name) for name in sorted(owners))],
    }
    return [
        Chooser(name, name.capitalize(), tuple(choices), getattr(filters, name)) for name, choices in offered.items()
    ]


def in_order(selected: QuerySet[ImportJob], sort: str) -> QuerySet[ImportJob, int]:
    """The jobs' primary keys; `sort` is a name of SORTS, with "-" before it for descending."""
    column = SORTS[sort.removeprefix("-")]
    order = column.desc(nulls_last=True) if sort.startswith("-") else column.asc(nulls_last=True)
    return selected.order_by(order, "-pk").values_list("pk", flat=True)


def rows(keys: list[int]) -> list[dict[str, Any]]:
    """The columns of these jobs, in the order of `keys`.

    A separate query from in_order(): a server that sorts whole rows takes ten times as long for ten thousand of them.
    """
    slower, later = column("slower_than_like", keys), sequels(keys)
    by_key = {row["pk"]: row for row in ImportJob.objects.filter(pk__in=keys).values(*FIELDS, **COMPUTED)}
    for row in by_key.values():
        restored = row["restored_at"] is not None
        if row["status"] == ImportJob.Status.SUCCEEDED and not row["balanced"]:
            row["status"] = ImportJob.Status.FAILED
        words = words_of(row["status"], row["rejected_rows"], row["problem_kind"], restored=restored)
        words = PREVIEWED.words if row["previewed_at"] else words
        held_up = ImportJob.is_held_up(row["status"], row["obstacle"])
        row["outcome"] = HELD_UP if held_up else after(words, later.get(row["pk"]))
        row["settled"] = row["pk"] in later
        problem = row["obstacle"] if held_up else {"kind": row["problem_kind"], "what": row["problem_what"] or ""}
        row["reason"] = "" if row["settled"] else reasons.shown(problem).get("what", "")
        row["slower"] = slower.get(row["pk"], False)
        read = row["plain_size"] or row["size"]  # committed bytes are those of the working copy
        done = percent(row["committed_bytes"], read - row["data_offset"])
        row["progress"] = None if held_up or row["status"] in ImportJob.ENDED else done
    return [by_key[key] for key in keys if key in by_key]
