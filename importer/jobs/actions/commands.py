"""The actions that people request for a job."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from importer import queue
from importer.access import approval, audit
from importer.access.acting import acting_user
from importer.access.approval import checked_digest, checked_reason
from importer.access.policy import require
from importer.engine.errors import (
    AllRowsRejected,
    ApprovalRefused,
    Problem,
    TooManyRejects,
    is_of_bad_rows,
)
from importer.engine.plan.option_specs import MOST_PARALLELISM
from importer.engine.plan.options import Options, check_options
from importer.engine.plan.stored_plan import plan_from_json, plan_to_json
from importer.engine.reading.end_of_file import footer_lines
from importer.engine.reading.reading import reading_to_json
from importer.engine.stored import to_json
from importer.history import totals
from importer.jobs.actions.obstacles import put_back_variables
from importer.jobs.actions.staged_again import Again
from importer.jobs.approval import digest_of, is_asked_for
from importer.jobs.lifecycle import advance
from importer.jobs.rejects.counts import COUNTS
from importer.jobs.report import who_cleans
from importer.jobs.same_table import require_once, why_rows_are_gone
from importer.jobs.transitions import Changes, JobStep, Status, change, change_status, unqueue
from importer.models import Chunk, ImportJob, JobRecord, Level, SourceFile, Trial
from importer.models.job.lifetimes import LoadedRows, PresentAttempt, PresentLoad, WorkingCopy, first_values
from importer.models.outcomes.attempts import present_attempt
from importer.preparation.prepare import PreparedImport, replan

RETRIED = [Status.FAILED, Status.CANCELLED]
CHANGING = Again()  # compares the staged rows again and changes the table

# The state in words, where its name alone does not fit the sentence.
STATE_PHRASES: dict[str, str] = {
    Status.SUCCEEDED: "has succeeded",
    Status.FAILED: "has failed",
    Status.CANCELLED: "was cancelled",
    Status.CANCELLING: "is being cancelled",
    Status.UNAPPROVED: "waits for approval",
}

# By what was requested: the states in which it has come about, and those that follow by themselves.
REACHED: dict[str, tuple[Status, ...]] = {
    "paused": (Status.PAUSED,),
    "cancelled": (Status.CANCELLING, Status.CANCELLED),
    "resumed": (Status.LOADING, Status.FINISHING, Status.INDEXING, Status.VERIFYING, Status.SUCCEEDED),
}
REACHED["retried"] = (Status.UNAPPROVED, Status.WAITING, *REACHED["resumed"])


class Reached(Problem):
    """The import is in the requested state already, or beyond it."""


def create(
    prepared: PreparedImport,
    user: User | None = None,
    rejects_of: ImportJob | None = None,
    trial: Trial | None = None,
    started_by: Iterable[User | None] = (),
) -> ImportJob:
    """Create a job from a prepared import. It does nothing until start().

    `rejects_of` is the job whose reject file is imported; `trial` is the lab's trial that the job is for; `started_by`
    are people other than `user` and the acting person who may not approve it. Raises Forbidden if the acting person may
    not load into the table, and LoadedBefore or LoadedInPart if it is to load a content once that another has begun.
    """
    require(Level.LOAD, prepared.target, prepared.table.schema, prepared.table.name)
    with transaction.atomic():
        if prepared.options.once and trial is None:
            require_once(prepared)
        job = ImportJob.objects.create(
            key=prepared.key,
            **prepared.recipe,
            source=prepared.source,
            created_by=user,
            asked_by=user,
            starters=approval.starters(user, *started_by),
            rejects_of=rejects_of,
            trial=trial,
            plan_json=plan_to_json(prepared.plan),
            reading_json=reading_to_json(prepared.reading),
            new_table_json=to_json(prepared.new_table) if prepared.new_table else {},
            files_json=[to_json(each) for each in prepared.files],
            parallelism=prepared.plan.parallelism,
            packing=prepared.profile.packing,
            plain_size=prepared.profile.size,
            data_offset=prepared.profile.data_offset,
            data_line=prepared.profile.data_line,
            scanned_bytes=prepared.profile.data_offset,
            end_unread=prepared.end_unread,
            phase_since=timezone.now(),
        )
    if trial is None:
        audit.import_created(job)
    return job


def start(job_id: int) -> None:
    """Let workers take the job: at once, or when the job that has the table ends."""
    queue.send(advance(job_id))


def pause(job_id: int) -> None:
    """Start no more chunks; those in flight finish."""
    with transaction.atomic():
        _request(job_id, "paused", [Status.LOADING], Status.PAUSED, pauses=F("pauses") + 1)
        unqueue(job_id)


def resume(job_id: int) -> None:
    """Continue after a pause."""
    _request(job_id, "resumed", [Status.PAUSED], Status.LOADING, asked_by=acting_user())
    start(job_id)


def cancel(job_id: int) -> None:
    """Cancel the job: running loads are killed and rolled back. Committed chunks stay, except in a staging table."""
    with transaction.atomic():
        active = [Status.UNAPPROVED, Status.WAITING, Status.LOADING, Status.PAUSED, Status.FINISHING]
        _request(job_id, "cancelled", active, Status.CANCELLING, step_failures=0)
        unqueue(job_id)
    start(job_id)


def could_leave_out(job: ImportJob) -> bool:
    """Whether the job was stopped by bad rows, which a retry could reject."""
    options = job.options
    return options.on_error == "stop" and not options.needs_every_row and is_of_bad_rows(job.problem)


def nothing_is_missing(job: ImportJob) -> bool:
    """Whether a retry would load nothing: every row was rejected, and the job does not begin again."""
    return not job.stages and job.problem.get("kind") == AllRowsRejected.__name__


def is_kept(job: ImportJob) -> bool:
    """Whether what a retry needs is still there: chunks, ledger, and the file unless all its rows are in the table."""
    return (
        not job.chunks_removed_at
        and not lacks_ledger(job)
        and (job.finished or job.keeps_staged or not job.source.is_removed)
    )


def lacks_ledger(job: ImportJob) -> bool:
    """Whether nothing tells a retry which rows are in the table: the ledger rows of an import that appends are gone."""
    return not job.stages and JobRecord.objects.filter(pk=job.pk, key=job.key, ledger_removed=True).exists()


def retry(
    job_id: int,
    *,
    leave_out: bool = False,
    end_is_footer: bool | None = None,
    started_by: User | None = None,
    source: SourceFile | None = None,
    again: Again = CHANGING,
) -> None:
    """Load the rest of a job that failed or was cancelled, into the table as it is now.

    `leave_out`: reject bad rows from now on, as if on_error had been `reject` from the start. A job that exceeded its
    limit of rejects continues without limits. A job that stages begins again, since its staging table was dropped; if
    that is kept, it goes on with it, as `again` says; if its finishing step is done, it is only verified again.
    `end_is_footer` answers what the last lines of a file are, if the job has failed with that question; without an
    answer it is asked again. `started_by`: who else may not approve it from now on. `source`: where the same content is
    now, if the file was moved, touched or delivered again.

    Raises Problem if the job is in another state, or for an obstacle on the target.
    """
    job = ImportJob.objects.select_related("target", "source").get(pk=job_id)
    job.source = source or job.source
    if job.status in RETRIED and (problem := _why_no_retry(job)):
        raise problem
    values = _retry_values(job, leave_out, again) if job.status in RETRIED else {}
    if end_is_footer is not None and (lines := footer_lines(job.problem)):
        sampled = sorted({*job.file_dialect.sampled, "skip_footer"}) if end_is_footer else job.file_dialect.sampled
        dialect = {**job.dialect_json, "skip_footer": lines * end_is_footer, "sampled": list(sampled)}
        values |= {"dialect_json": dialect, "end_unread": False}
    with transaction.atomic():
        ended = ImportJob.objects.select_for_update().filter(pk=job_id).first()
        if ended is None or ended.chunks_removed_at or lacks_ledger(ended):  # Deleted since the look above.
            raise _no_longer_kept(job)
        before, now = ((each.status, each.attempts, each.staging) for each in (job, ended))
        if ended.status in RETRIED and before != now:
            raise Problem("The import has changed just now.", where=str(job), advice="Look at it, and retry it again.")
        if ended.step == JobStep.KEEPING or ended.restored_at != job.restored_at:
            raise Problem("What it has kept is being put back or dropped.", where=str(job), advice="Retry afterwards.")
        values |= {"attempts": F("attempts") + 1, "phase_since": timezone.now(), "source": job.source}
        values |= {"starters": sorted({*ended.starters, *approval.starters(started_by)}), "asked_by": acting_user()}
        attempt = present_attempt(ended)
        _request(job_id, "retried", RETRIED, Status.WAITING, **values)
        attempt.save()
        chunks = Chunk.objects.filter(job=job_id)
        if not job.stages:
            chunks = chunks.exclude(status=Chunk.Status.LOADED)
        if not (job.finished or job.keeps_staged):
            chunks.update(**_chunk_values_again(job, values))
        totals.count_retry(totals.IMPORT)
    start(job_id)


def _why_no_retry(job: ImportJob) -> Problem | None:
    """Why the ended job cannot be retried now; None if it can."""
    if job.leftover:
        return Problem(
            "What the last try has left on the server is not cleaned up yet.",
            where=str(job.target),
            advice=f"{who_cleans(job)} Then retry.",
        )
    if nothing_is_missing(job):
        return Problem(
            "No row is missing: the table refused all of them, and a retry loads only missing rows.",
            advice="Correct the file or the table, and load the rejects again.",
        )
    return why_rows_are_gone(job) if is_kept(job) else _no_longer_kept(job)


def _no_longer_kept(job: ImportJob) -> Problem:
    return Problem(
        "The import can no longer be retried: its file, its chunks or its ledger rows were deleted.",
        where=str(job),
        advice="Look at which of its rows are in the table, and import the file as a new one.",
    )


def _retry_values(job: ImportJob, leave_out: bool, again: Again) -> dict[str, Any]:
    """The values of the job that a retry changes."""
    values = _forgotten(job)
    if job.finished:
        return values | _changes_to_undo(job)
    if job.keeps_staged:
        return values | again.from_staged(job)
    options = replace(_options_without_limits(job), on_error="reject") if leave_out else _options_without_limits(job)
    # What was looked at is changed now, unless it is to be looked at again.
    again = again if job.previewed_at or again != CHANGING else Again(preview=options.preview)
    job.options_json = {**job.options_json, "preview": again.preview}
    key = values.get("key", job.key)
    values |= again.planned(job, str(key), replan(job, key))
    values |= {"options_json": to_json(replace(options, preview=again.preview))}
    if not job.stages:
        return values | _changes_to_undo(job)
    put_back_variables(job)
    return values


def _forgotten(job: ImportJob) -> dict[str, Any]:
    """The first values of all fields that a retry of the job forgets."""
    values = first_values(PresentAttempt)
    if not (job.finished or job.keeps_staged):
        values |= first_values(PresentLoad)
        values |= first_values(LoadedRows) if job.stages else {}
        values |= first_values(WorkingCopy) if job.needs_copy else {}
    return values


def _chunk_values_again(job: ImportJob, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of chunks that load again."""
    again = {"status": Chunk.Status.PENDING, "attempt": 0, "deaths": 0, "lease": None, "problem": {}}
    return {**again, **dict.fromkeys(COUNTS, 0), **_to_check_again(job, values)}


def _to_check_again(job: ImportJob, values: Mapping[str, Any]) -> dict[str, bool]:
    """The values of chunks that the scan has compared with other checks than those of the new plan in `values`.

    The table or the server has changed since. The load checks each of their rows before it sends any.
    """
    if plan_from_json(values["plan_json"]).exactness == job.plan.exactness:
        return {}
    return {"suspect": True, "null_marker": True}


def _changes_to_undo(job: ImportJob) -> dict[str, Any]:
    """The values of a job that was ended without its keys: this time it puts them back."""
    if not job.left_changed:
        return {}
    return {"arrangement_json": job.arrangement_json, "changes": Changes.MADE}


def _options_without_limits(job: ImportJob) -> Options:
    """The job's options, without the limits of rejects if the job failed on them: it would fail again at once."""
    if job.problem.get("kind") != TooManyRejects.__name__:
        return job.options
    return job.options.without_limit()


def approve(job_id: int, digest: str) -> None:
    """Let the import write what was approved: `digest` is that of the plan that the approving person has seen.

    Raises Forbidden for who may not approve it, and Problem if it does not wait for that, or has changed since.
    """
    job, user = _waits_for_approval(job_id)
    now = checked_digest(job, digest_of(job), digest)
    audit.note(approved=now)
    values = {"approved_digest": now, "approved_by": user, "approved_at": timezone.now()}
    _decide(job, Status.WAITING, **values)


def refuse(job_id: int, reason: str) -> None:
    """End an import that waits for approval. Raises Problem without a reason, and otherwise as approve() does."""
    job, user = _waits_for_approval(job_id)
    reason = checked_reason(reason)
    audit.note(refused=digest_of(job), why=reason)
    problem = ApprovalRefused(
        f"{user.get_username()} refused this import: {reason}",
        where=job.table,
        advice="Nothing was written since it was asked for. Start another import, or retry this one, which asks again.",
    )
    _decide(job, Status.FAILING, problem=problem.as_json(), step_failures=0)


def _waits_for_approval(job_id: int) -> tuple[ImportJob, User]:
    """The job and the acting person, who may decide about it. Raises Forbidden, or Problem if it does not wait."""
    job = ImportJob.objects.select_related("target", "source").get(pk=job_id)
    user = approval.require_other(job)
    if not is_asked_for(job):
        raise Problem(
            "The import does not wait for an approval.",
            where=str(job),
            advice="Its page shows its present state; while its file is scanned, wait for the end of that.",
        )
    return job, user


def _decide(job: ImportJob, new: Status, **values: Any) -> None:
    """Change the job from waiting for approval. Raises Problem if somebody else has decided before."""
    asked = ImportJob.objects.filter(pk=job.pk, status=Status.UNAPPROVED, approval_asked_at=job.approval_asked_at)
    if not change_status(asked, status=new, **values):
        raise Problem("Somebody else has decided just now.", str(job), "Its page shows how.")
    start(job.pk)


def set_parallelism(job_id: int, parallelism: int) -> None:
    """Set the job's number of parallel chunks, 1 to 64. Raises Problem if the job cannot load that many at once."""
    if not 1 <= parallelism <= MOST_PARALLELISM:
        raise Problem(f"{parallelism} in parallel is not possible.", advice="Choose 1 to 64.")
    plan = ImportJob.objects.get(pk=job_id).plan
    if parallelism > 1 and not plan.rolls_back:
        raise Problem(
            "Only one session at a time can load into the staging table, which cannot roll back.",
            advice="To load in parallel, load as InnoDB.",
        )
    if parallelism > 1 and plan.lock_table:
        raise Problem(
            "Only one session can hold the table's lock, which this import takes for each chunk.",
            advice="To load in parallel, load without lock_table.",
        )
    if parallelism > 1 and plan.ordered:
        raise Problem(
            "This import loads one chunk after another: the file's order decides which of two rows with the same key"
            " stays.",
            advice="To load in parallel, let rows whose key is there already be bad rows.",
        )
    if (
        not ImportJob.objects.filter(pk=job_id)
        .exclude(status__in=ImportJob.ENDED)
        .update(parallelism=parallelism, version=F("version") + 1)
    ):
        raise Problem("The import has ended.", advice="Its parallelism can no longer be changed.")
    start(job_id)


def set_priority(job_id: int, priority: str) -> None:
    """Set the priority of a job that has not ended. Raises Problem for an unknown one, and for a job that has ended."""
    with transaction.atomic():
        job = ImportJob.objects.select_for_update().exclude(status__in=ImportJob.ENDED).filter(pk=job_id).first()
        if job is None:
            raise Problem("The import has ended.", advice="Its priority can no longer be changed.")
        options = replace(job.options, priority=priority)
        check_options(options)
        ImportJob.objects.filter(pk=job_id).update(options_json=to_json(options), version=F("version") + 1)
    start(job_id)


def _request(job_id: int, word: str, old: list[Status], new: Status, **values: Any) -> None:
    """Make the requested change of state. Raises Problem if the job is in none of the `old` states.

    Raises Reached if the request has nothing to change.
    """
    if not change(job_id, old, status=new, **values):
        now = ImportJob.objects.values_list("status", flat=True).get(pk=job_id)
        kind = Reached if now in REACHED[word] else Problem
        advice = f"Perhaps it was requested twice. Its page, or millrace job show {job_id}, shows its present state."
        if now not in ImportJob.ENDED:
            advice += f" If the command that loads it was ended, this one continues: millrace job run {job_id}"
        raise kind(f"The import {STATE_PHRASES.get(now, f'is {now}')} and cannot be {word}.", advice=advice)
