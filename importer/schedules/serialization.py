"""Schedules and runs as JSON: the output of `millrace schedule --json`, a contract."""

from dataclasses import fields
from datetime import datetime
from typing import Any

from importer.engine.errors import problem_values
from importer.models import DiscoveredFile, Schedule, ScheduleRun
from importer.models.outcomes.looks import look_of
from importer.models.outcomes.runs import outcome_of_run
from importer.models.outcomes.sequels import run_sequels
from importer.schedules.commands import ScheduleRequest, next_due_times
from importer.schedules.recurrence import describe
from importer.schedules.scheduler import timing_of
from importer.schedules.validation import warnings

MOST_FILES = 100
MOST_RUNS = 20


def when(schedule: Schedule) -> str:
    """The schedule's trigger in words."""
    if schedule.trigger == Schedule.Trigger.ARRIVAL:
        return "When a new file appears"
    return describe(timing_of(schedule))


def summary(schedule: Schedule) -> dict[str, Any]:
    """A schedule with its last run. Moments are in ISO 8601, in UTC."""
    last = schedule.runs.exclude(status=ScheduleRun.Status.SKIPPED).first()
    waits = schedule.trigger == Schedule.Trigger.ARRIVAL
    return {
        "name": schedule.name,
        "connection": schedule.connection.name,
        "pattern": schedule.pattern,
        "target": schedule.target.name,
        "table": schedule.table,
        "reject_limit": _reject_limit(schedule),
        "when": when(schedule),
        "zone": schedule.zone,
        "paused": schedule.paused,
        "next_due_at": None if waits else _moment(schedule.next_due_at),
        "problem": _problem(schedule.problem),
        "last_run": run(last) if last else None,
    }


def details(schedule: Schedule) -> dict[str, Any]:
    """A schedule with its settings, next due times, warnings and last runs."""
    short = summary(schedule)
    settings = {each.name: getattr(schedule, each.name) for each in fields(ScheduleRequest) if each.name not in short}
    return {
        **short,
        **settings,
        "upcoming": [each.isoformat() for each in next_due_times(schedule)],
        "warnings": warnings(schedule),
        "runs": [run(each) for each in schedule.runs.all()[:MOST_RUNS]],
    }


def _reject_limit(schedule: Schedule) -> str:
    """How many rows each import of the schedule may reject, in words."""
    if schedule.options.on_error != "reject":
        return "none: an invalid row stops an import"
    return schedule.options.reject_limit_words or "any number"


def run(of: ScheduleRun) -> dict[str, Any]:
    """A run, with its first MOST_FILES files. `due_times` is above 1 for due times that were skipped together."""
    files = of.files.select_related("job")[:MOST_FILES]
    ended = look_of(outcome_of_run(of))
    return {
        "run": of.pk,
        "cause": of.cause,
        "due_at": _moment(of.due_at),
        "last_due_at": _moment(of.last_due_at),
        "due_times": of.due_times,
        "moment": _moment(of.moment),
        "status": of.status,
        "outcome": ended.words if of.ended else None,
        "then": later.words if (later := run_sequels([of.pk]).get(of.pk)) else None,
        "colour": ended.colour.value if of.ended else None,
        "note": of.note,
        "problem": _problem(of.problem),
        "events": of.events,
        "found_files": of.found_files,
        "known_files": of.known_files,
        "files": [_file(each) for each in files],
        "started_at": _moment(of.started_at),
        "finished_at": _moment(of.finished_at),
    }


def _file(picked: DiscoveredFile) -> dict[str, Any]:
    job = picked.job
    return {
        "name": picked.name,
        "size": picked.size,
        "outcome": picked.outcome,
        "job": picked.job_id,
        "rows": job.rows_in_table if job else 0,
        "done": picked.done,
        "problem": _problem(picked.problem or picked.done_problem),
    }


def _problem(stored: dict[str, Any]) -> dict[str, Any] | None:
    return problem_values(stored) if stored else None


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
