"""The payload of a message, as JSON: a contract with receivers of webhooks, documented in docs/notifications.md."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from config.contracts.documents import EVENT
from importer.engine.errors import problem_values
from importer.models import ImportJob, ScheduleRun
from importer.models.channel import Event
from importer.models.outcomes import outcome
from importer.models.outcomes.attempts import rounded_or_none, step_seconds
from importer.models.outcomes.looks import look_of
from importer.models.outcomes.runs import outcome_of_run
from importer.notifications.page_addresses import link

MOST_ROWS = 5
LONGEST_VALUE = 200
TEST = "test"
ROWS = {
    "source": "scanned_rows",
    "loaded": "loaded_rows",
    "replaced": "replaced_rows",
    "unchanged": "unchanged_rows",
    "skipped": "skipped_rows",
    "rejected": "rejected_rows",
    "deleted": "deleted_rows",
    "marked": "marked_rows",
}
TITLES = {
    Event.FAILED: "{name} failed",
    Event.RECOVERED: "{name} works again",
    Event.REJECTS: "{name} rejected rows",
    Event.LATE: "{name} is late",
    Event.NO_FILE: "{name} found no file",
    Event.REGRESSION: "{name} was slower than usual",
    Event.APPROVAL: "{name} waits for approval",
    Event.SUCCEEDED: "{name} succeeded",
}


def payload_of(
    event: Event, what: str, job: ImportJob | None, run: ScheduleRun | None, details: dict[str, Any] | None
) -> dict[str, Any]:
    """The payload of an event; `what` is its sentence. `details` name what is neither an import nor a run."""
    details = details or {}
    named = f"Import {job.pk} into {job.table_name}" if job else details.get("name", "Millrace")
    asked = event == Event.FAILED and run and run.status == ScheduleRun.Status.NEEDS_ANSWER
    title = ("{name} needs an answer" if asked else TITLES[event]).format(name=run.schedule.name if run else named)
    problem = (run.problem if run else {}) or (job.problem if job else {})
    return {
        **_event(str(event), title, what),
        "problem": _problem(problem) if problem else None,
        "job": _job(job) if job else None,
        "run": _run(run) if run else None,
        "details": details,
    }


def test_payload() -> dict[str, Any]:
    """The payload of a channel's test message."""
    event = _event(TEST, "this is a test", "Messages of this channel arrive.")
    return {**event, "problem": None, "job": None, "run": None, "details": {}}


def _event(event: str, title: str, what: str) -> dict[str, Any]:
    now = timezone.now().isoformat()
    return EVENT.of({"event": event, "title": title, "what": what, "happened_at": now, "site": settings.SITE_URL})


def _run(run: ScheduleRun) -> dict[str, Any]:
    """A schedule run: its schedule, due time, status, outcome, number of files and rows."""
    rows = rows_of(ImportJob.objects.filter(picked__run=run))
    return {
        "run": run.pk,
        "schedule": {
            "id": run.schedule_id,
            "name": run.schedule.name,
            "url": link("schedule", run.schedule_id),
        },
        "due_at": _moment(run.due_at),
        "status": run.status,
        **_outcome(outcome_of_run(run) if run.ended else None),
        "then": _then(run),
        "files": run.found_files,
        "rows": rows,
    }


def _then(of: ImportJob | ScheduleRun) -> str | None:
    """What settled an import or a run that did not end well, in words."""
    from importer.models.outcomes.sequels import run_sequels, sequel  # Here: a load sends no message.

    later = sequel(of) if isinstance(of, ImportJob) else run_sequels([of.pk]).get(of.pk)
    return later.words if later else None


def _outcome(words: str | None) -> dict[str, str | None]:
    """The outcome with its colour; None for what is under way."""
    return {"outcome": words, "colour": look_of(words).colour.value if words else None}


def _job(job: ImportJob) -> dict[str, Any]:
    return {
        "job": job.pk,
        "url": link("job", job.pk),
        "status": job.status,
        **_outcome(ended.words if (ended := outcome(job)) else None),
        "then": _then(job),
        "file": job.source.name,
        "target": job.target.name,
        "table": job.table,
        "mode": job.options.mode,
        "rows": rows_of([job]),
        "balanced": job.balanced,
        "started_at": _moment(job.started_at),
        "finished_at": _moment(job.finished_at),
        "seconds": step_seconds(job)["total"],
        "rows_per_second": rounded_or_none(job.rows_per_second),
        "rejects_url": link("job_reject_file", job.pk) if job.rejected_rows else None,
    }


def rows_of(jobs: Iterable[ImportJob]) -> dict[str, int]:
    """The rows of the equation, summed over the imports."""
    counted = list(jobs)
    return {name: sum(getattr(job, field) for job in counted) for name, field in ROWS.items()}


def _problem(problem: dict[str, Any]) -> dict[str, Any]:
    """The problem, with at most MOST_ROWS bad rows; values are cut to LONGEST_VALUE characters."""
    rows = [
        {"line": row["line"], "column": row["column"], "value": row["value"][:LONGEST_VALUE], "reason": row["reason"]}
        for row in problem.get("rows", ())[:MOST_ROWS]
    ]
    texts = {name: problem.get(name, "") for name in ("kind", "what", "where", "advice")}
    return {"code": problem_values(problem)["code"], **texts, "rows": rows, "bad_rows": problem.get("bad_rows", 0)}


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
