"""Statistics of a schedule's imports: totals, the throughput of each, and which were slower than their peers."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Q, Sum

from importer.history.read import column
from importer.history.regressions import regression
from importer.models import ImportJob, Schedule
from importer.models.job import ROWS_IN_TABLE
from importer.models.outcomes import NEEDS_ANSWER, words_of
from importer.models.outcomes.looks import NO_COMPLETE_FILE, NO_NEW_FILE, look_of
from importer.models.outcomes.runs import CAME_TO, HAS_REJECTS, HAS_RESTORED
from importer.models.outcomes.sequels import run_sequels

MOST_DRAWN = 300
# The runs whose sequels are looked up: more make the page slow, and nobody comes back to them.
MOST_JUDGED = 500


def figures(schedule: Schedule) -> dict[str, Any]:
    """The numbers of runs by how they ended, of loaded files, and of rows.

    `ended`: all of them; `succeeded`; `lossy`: with rejected rows; `restored`: the old table is back; `without_file`:
    without a new one that was complete; `failed`; `cancelled`; `asked`: to be answered; `settled`: of the newest ones,
    what did not end well and was dealt with since. `files` and `rows` are without those of restored imports, whose rows
    are not in the table any more.
    """
    later = run_sequels(schedule.runs.order_by("-pk").values_list("pk", flat=True)[:MOST_JUDGED])
    settled = Q(pk__in=[*later, 0])  # By an empty list Django would find nothing for any of the counts.
    ended = schedule.runs.order_by().annotate(came_to=CAME_TO, has_rejects=HAS_REJECTS, has_restored=HAS_RESTORED)
    nothing = Q(status="succeeded") & (Q(note=NO_NEW_FILE.words) | Q(note__startswith=NO_COMPLETE_FILE.words))
    runs = ended.aggregate(
        succeeded=Count("pk", filter=Q(status="succeeded", has_rejects=False, has_restored=False) & ~nothing),
        lossy=Count("pk", filter=Q(came_to="succeeded", has_rejects=True) & ~nothing & ~settled),
        restored=Count("pk", filter=Q(status="succeeded", has_rejects=False, has_restored=True) & ~nothing),
        without_file=Count("pk", filter=nothing),
        failed=Count("pk", filter=Q(came_to="failed") & ~settled),
        cancelled=Count("pk", filter=Q(status="cancelled") & ~settled),
        asked=Count("pk", filter=Q(status=NEEDS_ANSWER.words) & ~settled),
        settled=Count("pk", filter=settled),
    )
    runs["ended"] = sum(runs.values())
    loaded = _imports(schedule).filter(status=ImportJob.Status.SUCCEEDED, restored_at=None)
    sums = loaded.aggregate(files=Count("pk"), rows=Sum(ROWS_IN_TABLE))
    return runs | {"files": sums["files"], "rows": sums["rows"] or 0}


def throughput(schedule: Schedule) -> list[tuple[int, float, int, str, str]]:
    """The latest successful imports, the oldest first.

    Of each the end (seconds since 1970), rows per second, primary key, outcome, and Tabler's colour of that.
    """
    succeeded = _imports(schedule).filter(status=ImportJob.Status.SUCCEEDED).exclude(rows_per_second=None)
    columns = ("finished_at", "rows_per_second", "pk", "rejected_rows", "restored_at")
    latest = succeeded.order_by("-finished_at").values_list(*columns)[:MOST_DRAWN]
    return [
        (int(at.timestamp()), round(rate, 1), pk, ended.words, ended.colour.css)
        for at, rate, pk, rejected, restored in reversed(latest)
        if at and (ended := look_of(words_of("succeeded", rejected, restored=restored is not None)))
    ]


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
