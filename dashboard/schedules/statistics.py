"""What a schedule's imports amount to: sums, the throughput of each, and which were slower than their like."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, F, Q, Sum

from importer.history.read import column
from importer.history.regressions import regression
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
    succeeded = _imports(schedule).filter(status=ImportJob.Status.SUCCEEDED).exclude(rows_per_second=None)
    latest = succeeded.order_by("-finished_at").values_list("finished_at", "rows_per_second", "pk")[:MOST_DRAWN]
    return [(int(at.timestamp()), round(rate, 1), pk) for at, rate, pk in reversed(latest) if at]


def slow_imports(jobs: Iterable[int | None]) -> dict[int, str]:
    """Of these imports those that were clearly slower than their like, and what the watch says of them."""
    flagged = [
        job for job, is_slower in column("slower_than_like", [each for each in jobs if each]).items() if is_slower
    ]
    judged = {job.pk: regression(job) for job in ImportJob.objects.filter(pk__in=flagged)}
    return {pk: each.words for pk, each in judged.items() if each}


def _imports(schedule: Schedule) -> Any:
    """Each once, though several runs may have come across its file."""
    return ImportJob.objects.filter(pk__in=schedule.files.exclude(job=None).values("job"))
