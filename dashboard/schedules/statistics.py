"""Statistics of a schedule's imports: totals, the throughput of each, and which were slower than their peers."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Sum

from importer.history.read import column
from importer.history.regressions import regression
from importer.models import DiscoveredFile, ImportJob, Schedule
from importer.models.job import ROWS_IN_TABLE

MOST_DRAWN = 300


def figures(schedule: Schedule) -> dict[str, Any]:
    """The numbers of succeeded, lossy (with rejected rows) and failed runs, and of loaded files and rows."""
    ended = schedule.runs.order_by().annotate(
        lossy=Exists(DiscoveredFile.objects.filter(run=OuterRef("pk"), job__rejected_rows__gt=0))
    )
    runs = ended.aggregate(
        succeeded=Count("pk", filter=Q(status="succeeded", lossy=False)),
        lossy=Count("pk", filter=Q(status="succeeded", lossy=True)),
        failed=Count("pk", filter=Q(status="failed")),
    )
    loaded = _imports(schedule).filter(status=ImportJob.Status.SUCCEEDED)
    sums = loaded.aggregate(files=Count("pk"), rows=Sum(ROWS_IN_TABLE))
    return runs | {"files": sums["files"], "rows": sums["rows"] or 0}


def throughput(schedule: Schedule) -> list[tuple[int, float, int]]:
    """The latest successful imports, the oldest first: end (seconds since 1970), rows per second, primary key."""
    succeeded = _imports(schedule).filter(status=ImportJob.Status.SUCCEEDED).exclude(rows_per_second=None)
    latest = succeeded.order_by("-finished_at").values_list("finished_at", "rows_per_second", "pk")[:MOST_DRAWN]
    return [(int(at.timestamp()), round(rate, 1), pk) for at, rate, pk in reversed(latest) if at]


def slow_imports(jobs: Iterable[int | None]) -> dict[int, str]:
    """The regressions among these imports: the explanation by primary key."""
    flagged = [
        job for job, is_slower in column("slower_than_like", [each for each in jobs if each]).items() if is_slower
    ]
    judged = {job.pk: regression(job) for job in ImportJob.objects.filter(pk__in=flagged)}
    return {pk: each.words for pk, each in judged.items() if each}


def _imports(schedule: Schedule) -> Any:
    """The imports of the schedule, each once, even if several runs found its file."""
    return ImportJob.objects.filter(pk__in=schedule.files.exclude(job=None).values("job"))
