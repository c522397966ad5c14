"""What needs a person: imports and schedules that did not end well, and imports that wait for somebody."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, OuterRef, Q, Subquery
from django.urls import reverse

from dashboard.home.days import COLOUR, DAYS, ended_lately, under_way
from importer import schedules
from importer.access.policy import seen
from importer.engine.mysql.reasons import shown
from importer.models import DiscoveredFile, ImportJob, ScheduleRun
from importer.models.outcomes import WITH_REJECTS, Colour, outcome_words
from importer.models.outcomes.runs import outcome_of_run, with_imports

MOST_SHOWN = 8
Status = ImportJob.Status
# The answer to an import that lost rows or failed: one that has loaded its rejected rows, or the whole file.
# No trial of a lab is one: it loads into a scratch table.
_ANSWER = ImportJob.objects.filter(status=Status.SUCCEEDED, balanced=True, restored_at=None)
# What an import and its answers have in common.
_OF_FILE = ("source", "target", "schema_name", "table_name")
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


def imports_needing_attention() -> dict[int, int]:
    """Imports of the last days that wait for a person, failed, or rejected rows, if nothing has made up for them.

    Their primary keys, the newest first; of those that failed with one file and table only the newest, with their
    number.
    """
    waiting = under_way().filter(Q(status=Status.UNAPPROVED) | ~Q(obstacle={}))
    ended = ended_lately(DAYS).annotate(colour=COLOUR).filter(colour__in=(Colour.RED, Colour.AMBER))
    found = list(ended.values_list("colour", "pk", *_OF_FILE))
    failed = [each for colour, *each in found if colour == Colour.RED]
    lossy = [pk for colour, pk, *_ in found if colour == Colour.AMBER]
    loaded_again = set(_ANSWER.filter(rejects_of__in=lossy).values_list("rejects_of", flat=True))
    once = [*waiting.values_list("pk", flat=True), *(set(lossy) - loaded_again)]
    return dict(sorted((_unanswered(failed) | dict.fromkeys(once, 1)).items(), reverse=True))


def _unanswered(failed: Sequence[Sequence[Any]]) -> dict[int, int]:
    """The newest import of each file that no later import has loaded into its table, and how many failed with it.

    `failed`: primary key and _OF_FILE of each. The last answer for each file is looked up once: a search for each of
    hundreds of imports of one file takes the square of their number.
    """
    answers = _ANSWER.filter(source__in={source for _, source, *_ in failed})
    last = {tuple(key): pk for *key, pk in answers.values_list(*_OF_FILE).annotate(last=Max("pk")).order_by()}
    of_file: dict[tuple[Any, ...], list[int]] = {}
    for pk, *key in failed:
        if last.get(tuple(key), 0) < pk:
            of_file.setdefault(tuple(key), []).append(pk)
    return {max(pks): len(pks) for pks in of_file.values()}


def matters() -> tuple[list[Matter], int]:
    """The matters to show, schedules before imports, and the number of all."""
    needing = seen(schedules.needing_attention()).annotate(last=Subquery(_LAST_RUN.values("pk")[:1])).order_by("name")
    told = set(
        DiscoveredFile.objects.filter(run__in=needing.exclude(last=None).values("last")).values_list("job", flat=True)
    )
    times = {pk: number for pk, number in imports_needing_attention().items() if pk not in told}
    shown_schedules = list(needing[:MOST_SHOWN])
    runs = with_imports(ScheduleRun.objects.all()).in_bulk([each.last for each in shown_schedules if each.last])
    listed = [_schedule(each, runs.get(each.last)) for each in shown_schedules]
    newest = ImportJob.objects.select_related("source", "target").filter(pk__in=list(times)[:MOST_SHOWN])
    listed += [_import(each, times[each.pk]) for each in newest.order_by("-pk")]
    return listed[:MOST_SHOWN], needing.count() + len(times)


def _schedule(schedule: Any, last: ScheduleRun | None) -> Matter:
    problem = shown(schedule.problem or (last.problem if last else {}))
    outcome = "failed" if schedule.problem else _outcome(last)
    about = problem.get("what", "") or ("Its run has not ended in time." if outcome == "late" else "")
    url = reverse("schedule", args=[schedule.pk])
    return Matter(schedule.name, url, outcome, about, last.due_at if last else None)


def _outcome(run: ScheduleRun | None) -> str:
    if run is None:
        return "waiting"
    return outcome_of_run(run) if run.ended else "late"


def _import(job: ImportJob, times: int) -> Matter:
    outcome = outcome_words(job)
    if outcome == WITH_REJECTS.words:
        rows = f"{job.rejected_rows:,} row{'s' if job.rejected_rows != 1 else ''}"
        about = f"{rows} of {job.accounted_rows:,} rejected; {job.table} lacks them"
    else:
        about = str(shown(job.problem or job.obstacle).get("what", "")) or job.table
        if times > 1:
            about = f"{times:,} imports of it in {DAYS} days. {about}"
    return Matter(job.source.name, reverse("job", args=[job.pk]), outcome, about, job.finished_at or job.created_at)
