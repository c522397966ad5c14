"""What needs a person: imports and schedules that did not end well, and imports that wait for somebody."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone

from importer import schedules
from importer.access.policy import seen
from importer.engine.mysql.reasons import shown
from importer.models import ImportJob, ScheduleRun
from importer.models.outcomes import WITH_REJECTS, outcome_words
from importer.models.outcomes.runs import outcome_of_run, with_imports

DAYS = 14
MOST_SHOWN = 8
Status = ImportJob.Status
# The answer to an import that lost rows or failed: one that has loaded its rejected rows, or the whole file.
# No trial of a lab is one: it loads into a scratch table. SQLite takes "trial IS NULL" for rare, and reads all imports.
_ANSWER = ImportJob.objects.filter(status=Status.SUCCEEDED, balanced=True, restored_at=None)
# A list that is made once, instead of a search for each import.
_LOADED_AGAIN = Q(pk__in=_ANSWER.exclude(rejects_of=None).values("rejects_of"))
_LATER_IMPORT = Exists(
    _ANSWER.filter(
        source=OuterRef("source"),
        target=OuterRef("target"),
        schema_name=OuterRef("schema_name"),
        table_name=OuterRef("table_name"),
        pk__gt=OuterRef("pk"),
    )
)
# The run by which a schedule is judged.
_LAST_RUN = (
    ScheduleRun.objects.filter(schedule=OuterRef("pk"))
    .exclude(status=ScheduleRun.Status.SKIPPED)
    .order_by("-due_at", "-pk")
)


@dataclass(frozen=True)
class Matter:
    """Something for a person to look at. `outcome`: in words; `about`: what happened, in a sentence or less."""

    title: str
    url: str
    outcome: str
    about: str
    at: datetime | None


def imports_needing_attention() -> QuerySet[ImportJob]:
    """Imports of the last days that wait for a person, failed, or rejected rows, if nothing has made up for them."""
    since = timezone.now() - timedelta(days=DAYS)
    waiting = Q(status=Status.UNAPPROVED) | (~Q(status__in=ImportJob.ENDED) & ~Q(obstacle={}))
    failed = Q(status=Status.FAILED) | Q(status=Status.SUCCEEDED, balanced=False)
    lossy = Q(status=Status.SUCCEEDED, balanced=True, restored_at=None, rejected_rows__gt=0)
    ended = Q(finished_at__gte=since) & (failed & ~_LATER_IMPORT | lossy & ~_LOADED_AGAIN)
    return seen(ImportJob.objects.filter(waiting | ended, trial=None))


def matters() -> tuple[list[Matter], int]:
    """The matters to show, schedules before imports, and the number of all."""
    needing = seen(schedules.needing_attention()).annotate(last=Subquery(_LAST_RUN.values("pk")[:1])).order_by("name")
    imports = imports_needing_attention().exclude(picked__run__in=needing.exclude(last=None).values("last"))
    shown_schedules = list(needing[:MOST_SHOWN])
    runs = with_imports(ScheduleRun.objects.all()).in_bulk([each.last for each in shown_schedules if each.last])
    listed = [_schedule(each, runs.get(each.last)) for each in shown_schedules]
    numbers = list(imports.order_by("-pk").values_list("pk", flat=True))
    newest = ImportJob.objects.select_related("source", "target").filter(pk__in=numbers[:MOST_SHOWN]).order_by("-pk")
    listed += [_import(each) for each in newest]
    return listed[:MOST_SHOWN], needing.count() + len(numbers)


def _schedule(schedule: Any, last: ScheduleRun | None) -> Matter:
    problem = shown(schedule.problem or (last.problem if last else {}))
    outcome = "failed" if schedule.problem else _outcome(last)
    url = reverse("schedule", args=[schedule.pk])
    return Matter(schedule.name, url, outcome, problem.get("what", ""), last.due_at if last else None)


def _outcome(run: ScheduleRun | None) -> str:
    if run is None:
        return "waiting"
    return outcome_of_run(run) if run.ended else "late"


def _import(job: ImportJob) -> Matter:
    outcome = outcome_words(job)
    if outcome == WITH_REJECTS.words:
        rows = f"{job.rejected_rows:,} row{'s' if job.rejected_rows != 1 else ''}"
        about = f"{rows} of {job.accounted_rows:,} rejected; {job.table} lacks them"
    else:
        about = str(shown(job.problem or job.obstacle).get("what", "")) or job.table
    return Matter(job.source.name, reverse("job", args=[job.pk]), outcome, about, job.finished_at or job.created_at)
