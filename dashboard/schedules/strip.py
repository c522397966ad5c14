"""The last runs of a schedule as a strip: a coloured mark for each run, the newest at the end."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from importer.access.time_zones import zone_named
from importer.engine.errors import Problem
from importer.models import Schedule, ScheduleRun
from importer.models.outcomes.looks import MISSED
from importer.models.outcomes.runs import WORDS_OF, with_imports, words_of_run
from importer.models.outcomes.sequels import after, run_sequels

MOST_MARKS = 14


@dataclass(frozen=True)
class Mark:
    """A run in a strip. `outcome`: in words; `due_at`: in the schedule's zone; `rejected`: its rejected rows."""

    run: int
    due_at: datetime
    outcome: str
    rejected: int
    due_times: int


def strips(schedules: Iterable[Schedule], most: int = MOST_MARKS) -> dict[int, list[Mark]]:
    """The last runs of each schedule by its primary key, the oldest first; at most `most` of each."""
    zones = {each.pk: each.zone for each in schedules}
    numbered = ScheduleRun.objects.filter(schedule__in=zones).annotate(
        number=Window(RowNumber(), partition_by=F("schedule_id"), order_by=[F("due_at").desc(), F("pk").desc()])
    )
    newest = list(numbered.filter(number__lte=most).values_list("pk", flat=True))
    runs = with_imports(ScheduleRun.objects.filter(pk__in=newest)).order_by("due_at", "pk")
    later = run_sequels(newest)
    found: dict[int, list[Mark]] = {pk: [] for pk in zones}
    columns = ("schedule_id", "pk", "due_at", "due_times", *WORDS_OF)
    for schedule, pk, due_at, due_times, status, rejected, *end in runs.values_list(*columns):
        words = after(words_of_run(status, rejected, *end), later.get(pk))
        if status == ScheduleRun.Status.SKIPPED and str(end[-1]).startswith(MISSED):
            words = MISSED
        found[schedule].append(Mark(pk, _in_zone(due_at, zones[schedule]), words, rejected or 0, due_times))
    return found


def _in_zone(moment: datetime, zone: str) -> datetime:
    """The moment in the schedule's zone; unchanged if that zone is no longer known."""
    try:
        return moment.astimezone(zone_named(zone))
    except Problem:
        return moment
