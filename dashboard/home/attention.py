"""What needs a person: imports and schedules that did not end well, and imports that wait for somebody."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.urls import reverse

from dashboard.access.rules import RULES
from dashboard.home.days import DAYS, under_way, unwell_lately
from importer import schedules
from importer.access.policy import seen
from importer.engine.mysql.sign_in.reasons import shown
from importer.engine.units import count_of
from importer.models import DiscoveredFile, ImportJob, ScheduleRun
from importer.models.outcomes import FAILED, UNDECIDED, WITH_REJECTS, outcome_words
from importer.models.outcomes.reloaded_rows import rows_taken
from importer.models.outcomes.runs import outcome_of_run, with_imports
from importer.models.outcomes.sequels import OF_FILE, repeated_by, sequels

MOST_SHOWN = 8
Status = ImportJob.Status
# The run by which a schedule is judged.
_LAST_RUN = (
    ScheduleRun.objects.filter(schedule=OuterRef("pk"))
    .exclude(status=ScheduleRun.Status.SKIPPED)
    .order_by("-due_at", "-pk")
)


@dataclass(frozen=True)
class Matter:
    """Something for a person to look at. `outcome`: in words; `about`: what happened, in a sentence or less.

    `dismiss`: the address that says that nobody needs to look any more; "" while there is something to do.
    """

    title: str
    url: str
    outcome: str
    about: str
    at: datetime | None
    dismiss: str = ""


@dataclass(frozen=True)
class Need:
    """Why an import needs a person. `times`: how often its file failed; `rows`: rejected rows that none has taken."""

    times: int = 1
    rows: int = 0


@dataclass(frozen=True)
class Unwell:
    """Imports of the last days: those that need a person, by primary key, the newest first.

    `settled`: of the others that did not end well, how many ended on each day with each outcome.
    """

    needing: Mapping[int, Need]
    settled: Counter[tuple[int, str]]


def unwell_imports() -> Unwell:
    """Those that wait for a person, failed, or rejected rows; of those with one file and table the newest failure."""
    waiting = under_way().filter(Q(status=Status.UNAPPROVED) | ~Q(obstacle={}))
    found = list(unwell_lately().values_list("day", "kind", "rejected_rows", "dismissed_at", "pk", *OF_FILE))
    failed = {pk: file for _, kind, _, _, pk, *file in found if kind == FAILED.words}
    repeated = repeated_by(failed)
    lossy = {pk: rejected for _, kind, rejected, since, pk, *_ in found if kind == WITH_REJECTS.words and not since}
    of_files = _by_newest({pk: file for pk, file in failed.items() if pk not in repeated})
    # What settled the last failure of a file settled those before it.
    settled = sequels(of_files, repeats=False)
    failures = {pk: pks for pk, pks in of_files.items() if pk not in settled}
    needing = {pk: Need() for pk in waiting.values_list("pk", flat=True)}
    needing |= {pk: Need(times=len(pks)) for pk, pks in failures.items()} | _with_missing_rows(lossy)
    unsettled = {*needing, *chain.from_iterable(failures.values())}
    days = Counter((day, kind) for day, kind, _, _, pk, *_ in found if pk not in unsettled)
    return Unwell(dict(sorted(needing.items(), reverse=True)), days)


def _with_missing_rows(lossy: Mapping[int, int]) -> dict[int, Need]:
    """The imports of whose rejected rows some have been taken by no other import, by their numbers of rejected rows."""
    taken = rows_taken(lossy.keys())
    left = {pk: rejected - taken.get(pk, 0) for pk, rejected in lossy.items()}
    return {pk: Need(rows=rows) for pk, rows in left.items() if rows > 0}


def _by_newest(failed: Mapping[int, Sequence[Any]]) -> dict[int, list[int]]:
    """The failed imports of each file into each table, by the newest one.

    `failed`: OF_FILE of each, by primary key.
    """
    of_file: dict[tuple[Any, ...], list[int]] = {}
    for pk, key in failed.items():
        of_file.setdefault(tuple(key), []).append(pk)
    return {max(pks): pks for pks in of_file.values()}


def matters(needing_imports: Mapping[int, Need]) -> tuple[list[Matter], int]:
    """The matters to show, schedules before imports, and the number of all."""
    needing = seen(schedules.needing_attention()).annotate(last=Subquery(_LAST_RUN.values("pk")[:1])).order_by("name")
    told = set(
        DiscoveredFile.objects.filter(run__in=needing.exclude(last=None).values("last")).values_list("job", flat=True)
    )
    needs = {pk: need for pk, need in needing_imports.items() if pk not in told}
    shown_schedules = list(needing[:MOST_SHOWN])
    latest = with_imports(ScheduleRun.objects.select_related("schedule"))
    runs = latest.in_bulk([each.last for each in shown_schedules if each.last])
    listed = [_schedule(each, runs.get(each.last)) for each in shown_schedules]
    newest = ImportJob.objects.select_related("source", "target").filter(pk__in=list(needs)[:MOST_SHOWN])
    listed += [_import(each, needs[each.pk]) for each in newest.order_by("-pk")]
    return listed[:MOST_SHOWN], needing.count() + len(needs)


def _schedule(schedule: Any, last: ScheduleRun | None) -> Matter:
    problem = shown(schedule.problem or (last.problem if last else {}))
    outcome = "failed" if schedule.problem else _outcome(last)
    told = ": ".join(filter(None, (schedule.problem.get("where"), problem.get("what"))))
    about = told or ("Its run has not ended in time." if outcome == "late" else "")
    url = reverse("schedule", args=[schedule.pk])
    ended = last is not None and last.ended and not schedule.problem
    dismiss = _dismissal("run_dismiss", last) if ended else ""
    at = schedule.problem_at or (last.due_at if last else None)
    return Matter(schedule.name, url, outcome, about, at, dismiss)


def _dismissal(name: str, thing: ImportJob | ScheduleRun | None) -> str:
    """The address by which the reader dismisses it; "" for one who may not."""
    return reverse(name, args=[thing.pk]) if thing and RULES[name].allows(reads=False, thing=thing) else ""


def _outcome(run: ScheduleRun | None) -> str:
    if run is None:
        return "waiting"
    return outcome_of_run(run) if run.ended else "late"


def _import(job: ImportJob, need: Need) -> Matter:
    outcome = outcome_words(job)
    if outcome == WITH_REJECTS.words:
        rows = f"{need.rows:,} row{'s' if need.rows != 1 else ''}"
        lost = f"{rows} of {job.accounted_rows:,} rejected"
        if need.rows != job.rejected_rows:
            lost = f"{need.rows:,} of {job.rejected_rows:,} rejected rows not loaded since"
        about = f"{lost}; {job.table} lacks {'it' if need.rows == 1 else 'them'}"
    else:
        about = str(shown(job.problem or job.obstacle).get("what", "")) or job.table
        if need.times > 1:
            about = f"{count_of(need.times, 'import')} of it in {DAYS} days. {about}"
    dismiss = _dismissal("job_dismiss", job) if job.ended and outcome != UNDECIDED.words else ""
    url = reverse("job", args=[job.pk])
    return Matter(job.source.name, url, outcome, about, job.finished_at or job.created_at, dismiss)
