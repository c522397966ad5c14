"""Imports: start, list and show them, and act on them. What an action answers is the import's report."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, Day, example
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import LARGEST, Cursor, Page
from dashboard.api.planning import beginning, prepared
from dashboard.api.reports import Report
from dashboard.api.wanted import ImportIn, OptionsIn
from dashboard.jobs.list.filters import ORIGINS, STATES, Filters, matching
from importer.access import idempotency
from importer.access.idempotency import LONGEST_KEY
from importer.diagnosis.why import known_causes
from importer.engine.plan.option_specs import MOST_PARALLELISM, named
from importer.jobs import report
from importer.jobs.actions import again as job_again
from importer.jobs.actions import applying, commands
from importer.jobs.actions.dismissal import dismiss
from importer.jobs.actions.obstacles import end_without, try_now
from importer.jobs.steps.table_backup import drop_backup, restore_backup
from importer.models import ImportJob
from importer.models.outcomes import outcome, outcome_words
from importer.models.outcomes.sequels import sequel
from importer.preparation import examination, presets
from importer.preparation.like import options_again
from importer.preparation.request import options_of
from importer.retention import ended_jobs

router = Router(tags=["imports"])


class ImportOut(Schema):
    """An import in a list. Its report has everything."""

    job: int
    file: str
    target: str
    table: str
    status: Annotated[str, Field(json_schema_extra={"enum": ImportJob.Status.values})]
    outcome: Annotated[str, Field(description="In words; the status while the import is under way, or `held up`.")]
    then: Annotated[str | None, Field(description="What settled an import that did not end well, in words.")]
    ended: bool
    created_at: datetime
    created_by: str | None
    rows_of_file: int
    rows_in_table: int
    rejected_rows: int
    rows: Annotated[int, Field(description="How many are settled: in the table, skipped or rejected.")]


class FiltersIn(Schema, extra="forbid"):
    """What a list of imports is narrowed to; an empty text does not narrow it."""

    q: Annotated[str, Field(max_length=255, description="A part of the name of file or table, or a number.")] = ""
    status: Literal["", *(name for name, _ in STATES)] = ""  # type: ignore[valid-type]
    target: Annotated[str, Field(max_length=64)] = ""
    origin: Literal["", *ORIGINS] = ""  # type: ignore[valid-type]
    owner: Annotated[str, Field(max_length=150, description="A user's name, or me.")] = ""
    first: Annotated[Day | None, Field(description="The first day on which they were created.")] = None
    last: Annotated[Day | None, Field(description="The last day.")] = None

    def filters(self) -> Filters:
        """The filters of the page."""
        return Filters(**{name: str(value or "") for name, value in self.dict().items()})


class KeyIn(Schema, extra="forbid"):
    """The request that has started an import."""

    key: Annotated[
        str,
        Field(
            max_length=LONGEST_KEY,
            description="Only the import that your request with this Idempotency-Key has started within 24 hours.",
        ),
    ] = ""


class RetryIn(Body, json_schema_extra=example(leave_out=True)):
    """How the rest of an import is loaded."""

    leave_out: Annotated[bool, Field(description="Reject bad rows from now on.")] = False
    end: Annotated[
        Literal["footer", "rows"] | None, Field(description="What the last lines are, if that was the question.")
    ] = None


class ApplyIn(Body, json_schema_extra=example(all_the_same=True)):
    """Whether what an import has shown is applied beyond its limits."""

    all_the_same: Annotated[bool, Field(description="Also beyond the limits of changes (stop_if).")] = False


class RestoreIn(Body, json_schema_extra=example(overwrite=True)):
    """How an import is taken back."""

    overwrite: Annotated[bool, Field(description="Also rows that others have changed since.")] = False


class AgainIn(Body, json_schema_extra=example(options={"mode": "upsert"})):
    """How the file of an import is imported once more. What is left out stays as it was."""

    options: OptionsIn = OptionsIn()
    newest: Annotated[
        int | None,
        Field(
            ge=1,
            le=LARGEST,
            description="The newest import of the file into the table that the sender knows of; by default this one."
            " If there is a newer one, nothing is started.",
        ),
    ] = None


PLAINLY, LEFT, UNCHANGED, WITHIN_LIMITS = RetryIn(), RestoreIn(), AgainIn(), ApplyIn()  # without a body


class ParallelIn(Body, json_schema_extra=example(parallel_chunks=4)):
    """How many chunks may load at the same time."""

    parallel_chunks: Annotated[int, Field(ge=1, le=MOST_PARALLELISM)]


PRIORITIES = list(named("priority").kind.offers)


class PriorityIn(Body, json_schema_extra=example(priority="high")):
    """Which of several imports gets workers first."""

    priority: Annotated[str, Field(pattern=f"^({'|'.join(PRIORITIES)})$", json_schema_extra={"enum": PRIORITIES})]


def show(job: ImportJob) -> dict[str, Any]:
    """An import as a list has it."""
    return {
        "job": job.pk,
        "file": job.source.name,
        "target": job.target.name,
        "table": job.table,
        "status": job.status,
        "outcome": outcome_words(job),
        "then": later.words if (later := sequel(job)) else None,
        "ended": outcome(job) is not None,
        "created_at": job.created_at,
        "created_by": job.created_by.get_username() if job.created_by else None,
        "rows_of_file": job.scanned_rows,
        "rows_in_table": job.rows_in_table,
        "rejected_rows": job.rejected_rows,
        "rows": job.accounted_rows,
    }


def read(job: int) -> ImportJob:
    """The import of this number, with what its report needs."""
    related = ImportJob.objects.select_related("target", "source", "created_by", "approved_by")
    return get_object_or_404(related, pk=job)


@router.get("imports", response=Page[ImportOut], url_name="api_imports", summary="List imports")
def list_imports(request: HttpRequest, page: Query[Cursor], filters: Query[FiltersIn], by: Query[KeyIn]) -> Any:
    """The imports that the person may see, the newest first."""
    found = matching(filters.filters())
    if by.key:
        made = idempotency.answered(cast(User, request.user), by.key)
        found = found.filter(pk=json.loads(made.body).get("job") or 0) if made else found.none()
    return page.newest(found.select_related("target", "source", "created_by"), show)


@router.post(
    "imports", response={201: Report}, url_name="api_imports", summary="Start an import", openapi_extra=PARAMETER
)
@once
def start_import(request: HttpRequest, wanted: ImportIn, response: HttpResponse) -> Any:
    """Plan and start an import. Where the file can be read in more than one way, nothing is started.

    The problem then has the code 1400 and the `reading` with its questions: answer them in `answers`.
    """
    with beginning():
        made = prepared(wanted, request.user)
        job = job_again.create_once(made, cast(User, request.user))
    if wanted.preset:
        presets.mark_used(presets.by_name(wanted.preset))
    examination.stop(made.source)
    commands.start(job.pk)
    return _started(job, response)


def _started(job: ImportJob, response: HttpResponse) -> Status[Any]:
    response.headers["Location"] = reverse("api_import", args=[job.pk])
    return Status(201, report.report(read(job.pk)))


@router.get("imports/{int:job}", response=Report, url_name="api_import", summary="Show an import")
def show_import(request: HttpRequest, job: int) -> Any:
    """The report of an import, also while it is under way: its outcome is null then, and `why` has what slows it."""
    shown = read(job)
    return report.report(shown, why=known_causes(shown))


@router.delete("imports/{int:job}", response={204: None}, url_name="api_import", summary="Delete an import")
def delete_import(request: HttpRequest, job: int) -> Any:
    """Delete the record of an import that has ended. What it loaded stays, and its facts stay in the history."""
    ended_jobs.remove_by_hand(read(job).pk)
    return Status(204, None)


def _acts(word: str, path: str, about: str, act: Callable[[int], Any]) -> None:
    """Declare an action without a body, whose answer is the import's report."""

    def action(request: HttpRequest, job: int) -> Any:
        act(read(job).pk)
        return report.report(read(job))

    name = path.replace("-", "_")
    declare = router.post(
        f"imports/{{int:job}}/{path}",
        response=Report,
        url_name=f"api_import_{name}",
        summary=word,
        description=about,
        operation_id=f"{name}_import",
    )
    declare(action)


_acts("Pause", "pause", "Start no more chunks; those that load are loaded to their end.", commands.pause)
_acts("Resume", "resume", "Continue after a pause.", commands.resume)
_acts("Cancel", "cancel", "Committed rows stay, except in a staging table.", commands.cancel)
_acts("Dismiss", "dismiss", "Say that nobody needs to look at how it ended; who says so is kept.", dismiss)
_acts(
    "Compare again",
    "compare",
    "Compare the rows that are staged with the table as it is now, without the file, and change nothing.",
    applying.compare,
)
_acts(
    "Drop what is staged",
    "drop",
    "Drop the rows that are staged and not applied, and end an import that waits for a decision.",
    applying.drop,
)
_acts("Drop the old table", "drop-backup", "Drop the old table, or the old rows, that an import keeps.", drop_backup)
_acts("Put the table back now", "restore-now", "Try at once what is tried again from time to time.", try_now)
_acts(
    "End without putting back",
    "end-without",
    "End an import although keys or server variables are not put back; its report has the SQL for it.",
    end_without,
)


@router.post("imports/{int:job}/restore", response=Report, url_name="api_import_restore", summary="Take an import back")
def restore_import(request: HttpRequest, job: int, how: RestoreIn = LEFT) -> Any:
    """Give the old table of mode replace its name back; or put the old rows back that an import with undo keeps.

    The latter is done by workers: in the answer `undo` has `asked`, and later what was taken back, or the problem.
    """
    restore_backup(read(job).pk, overwrite=how.overwrite)
    return report.report(read(job))


@router.post("imports/{int:job}/retry", response=Report, url_name="api_import_retry", summary="Retry")
def retry_import(request: HttpRequest, job: int, how: RetryIn = PLAINLY) -> Any:
    """Load what is missing of an import that failed or was cancelled."""
    end = None if how.end is None else how.end == "footer"
    commands.retry(read(job).pk, leave_out=how.leave_out, end_is_footer=end)
    return report.report(read(job))


@router.post("imports/{int:job}/apply", response=Report, url_name="api_import_apply", summary="Apply")
def apply_import(request: HttpRequest, job: int, how: ApplyIn = WITHIN_LIMITS) -> Any:
    """Change the table as a preview has shown it, from the staged rows; nothing if the table has changed since."""
    applying.apply(read(job).pk, all_the_same=how.all_the_same)
    return report.report(read(job))


@router.post("imports/{int:job}/parallel", response=Report, url_name="api_import_parallel", summary="Change the pace")
def set_parallel(request: HttpRequest, job: int, wanted: ParallelIn) -> Any:
    """Change the number of parallel chunks."""
    commands.set_parallelism(read(job).pk, wanted.parallel_chunks)
    return report.report(read(job))


@router.post(
    "imports/{int:job}/priority", response=Report, url_name="api_import_priority", summary="Change the priority"
)
def set_priority(request: HttpRequest, job: int, wanted: PriorityIn) -> Any:
    """High goes before the other imports of its person; low loads only while no other import waits."""
    commands.set_priority(read(job).pk, wanted.priority)
    return report.report(read(job))


@router.post(
    "imports/{int:job}/run-again",
    response={201: Report},
    url_name="api_import_run_again",
    summary="Import the file again",
    openapi_extra=PARAMETER,
)
@once
def run_again(request: HttpRequest, job: int, response: HttpResponse, how: AgainIn = UNCHANGED) -> Any:
    """Import the file of an import once more, as a new import, with its settings and the changed options."""
    earlier = read(job)
    options = options_of(how.options.dict(), options_again(earlier))
    again = job_again.run_again(earlier, how.newest or job, cast(User, request.user), options=options)
    return _started(again, response)
