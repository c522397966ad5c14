"""What a schedule's imports amount to: sums, and the throughput of each."""

from typing import Any

from django.db.models import Count, F, Q, Sum

from importer.models import ImportJob, Schedule

MOST_DRAWN = 300


def figures(schedule: Schedule) -> dict[str, Any]:
    """How many of its runs succeeded and failed, and what they have loaded in all."""
    ended = Count("pk", filter=Q(status="succeeded")), Count("pk", filter=Q(status="failed"))
    succeeded, failed = schedule.runs.aggregate(succeeded=ended[0], failed=ended[1]).values()
    loaded = _imports(schedule).filter(status=ImportJob.Status.SUCCEEDED)
    sums = loaded.aggregate(files=Count("pk"), rows=Sum(F("loaded_rows") + F("replaced_rows")))
    return {"succeeded": succeeded, "failed": failed, "files": sums["files"], "rows": sums["rows"] or 0}


def throughput(schedule: Schedule) -> list[tuple[int, float, int]]:
    """Of its latest imports that succeeded, the oldest first: when (seconds since 1970), rows a second, and which."""
    found = _imports(schedule).filter(status=ImportJob.Status.SUCCEEDED).exclude(rows_per_second=None)
    latest = found.order_by("-finished_at").values_list("finished_at", "rows_per_second", "pk")[:MOST_DRAWN]
    return [(int(at.timestamp()), round(rate, 1), pk) for at, rate, pk in reversed(latest) if at]


def _imports(schedule: Schedule) -> Any:
    """Each once, though several runs may have come across its file."""
    return ImportJob.objects.filter(pk__in=schedule.files.exclude(job=None).values("job"))
