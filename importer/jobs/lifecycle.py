"""Decides the next step of a job, and ends the job."""

from collections import Counter
from collections.abc import Collection
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Max, Q, QuerySet, Sum
from django.utils import timezone

from importer.engine.errors import Problem
from importer.engine.plan.option_specs import MOST_PARALLELISM
from importer.history import totals
from importer.jobs import approval
from importer.jobs.permission import why_forbidden
from importer.jobs.record import trace_on_commit, write_record_on_commit
from importer.jobs.rejects.counts import COUNTS, Kind, merged
from importer.jobs.rejects.limits import exceeded, final_problem
from importer.jobs.report import equation
from importer.jobs.same_table import others_of_table, why_rows_are_gone
from importer.jobs.sharing.claimants import share_of_target
from importer.jobs.sharing.hosts import left_out_hosts
from importer.jobs.transitions import (
    Status,
    backoff,
    change,
    claim_of,
    claim_step,
    held_step,
    lock,
    no_step,
    step_is_free,
    unqueue,
)
from importer.jobs.uploading import can_scan, first_bytes, why_not_wait
from importer.lease import lease_end
from importer.models import Chunk, DiscoveredFile, ImportJob
from importer.models.outcomes.attempts import measures
from importer.models.outcomes.step_kinds import RUNNING, STEPS
from importer.notifications.import_events import import_ended
from importer.queue import Message, announce_end

# What changes when a job is admitted to its table, or waits for approval.
CHANGED_FIRST = (
    *("status", "phase_since", "phases_json", "version"),
    *("table_claim", "started_at", "attempt_started_at", "approval_asked_at", "awaits_bytes"),
)


def advance(job_id: int) -> list[Message]:
    """Advance the job as far as its state allows. Returns the messages for the steps that workers must take now."""
    with transaction.atomic():
        job = ImportJob.objects.select_for_update().select_related("target").filter(pk=job_id).first()
        if job is None or job.is_newer:
            return []  # A late message: the job was deleted. Or workers of a newer release advance it.
        begins = job.status == Status.WAITING and (_wants_approval(job) or _admit(job))
        if begins:
            job.refresh_from_db(fields=CHANGED_FIRST)
        # While a retry waited for the table, the import that had it may have replaced it.
        if problem := (begins and why_rows_are_gone(job)) or _why_stop(job):
            fail(job.pk, problem)
            return [Message("advance", job.pk)]
        match job.status:
            case Status.UNAPPROVED:
                return [*_release_untouched_table(job), *_steps_before_approval(job)]
            case Status.LOADING | Status.PAUSED if job.awaits_changes:
                return _queue_step(job, "arrange")
            case Status.LOADING if job.stages and job.staging in ImportJob.UNMADE:
                # The types are read from the whole file, or from the plain copy, which the scan makes.
                return _scan_step(job) if job.awaits_whole_file else _queue_step(job, "stage")
            case Status.LOADING:
                return [*_scan_step(job), *_load_steps(job), *_steps_after_load(job)]
            case Status.PAUSED:
                return _scan_step(job)
            case Status.FINISHING | Status.INDEXING | Status.VERIFYING:
                return _queue_status_step(job, Status(job.status))
            case Status.FAILING | Status.CANCELLING:
                return _end_when_idle(job)
            case _ if job.ended and job.leftover:
                return _queue_step(job, "clean")
            case _ if job.ended and job.undo_asked:
                return _queue_step(job, "undo")
            case _ if job.ended:
                return _wake_waiting(job)
        return []


def _why_stop(job: ImportJob) -> Problem | None:
    """The problem that ends the job before its next step."""
    if job.status == Status.LOADING and (problem := why_forbidden(job)):
        return problem
    return why_not_wait(job) if job.status in (Status.UNAPPROVED, Status.LOADING, Status.PAUSED) else None


def _wake_waiting(job: ImportJob) -> list[Message]:
    """Messages to those that wait for the end of this import: its lab, or its schedule runs."""
    if job.trial:
        return [Message("take_lab", job.trial.lab_id)]
    waiting = job.picked.filter(outcome=DiscoveredFile.Outcome.LOADING).values_list("run_id", flat=True)
    return [Message("take_run", run_id) for run_id in waiting]


def _wants_approval(job: ImportJob) -> bool:
    """Let the job wait for another person's approval, if it needs one. False: it may write to the target."""
    if not approval.is_needed(job):
        return False
    return change(job.pk, [Status.WAITING], status=Status.UNAPPROVED, approval_asked_at=None)


def _steps_before_approval(job: ImportJob) -> list[Message]:
    """The steps that complete the plan of a job that waits for approval: the scan, and the types of a new table."""
    if not job.target.needs_approval:
        return [Message("advance", job.pk)] if approval.release(job) else []
    if not job.scan_finished:
        return _scan_step(job)
    if job.approval_asked_at is None and job.new_table_json and job.staging in ImportJob.UNMADE:
        return _queue_step(job, "stage")
    if job.approval_asked_at is None:
        approval.ask(job)
    return []


def _admit(job: ImportJob) -> bool:
    """Claim the table: one job at a time per table. False: another job has it."""
    try:
        with transaction.atomic():
            now = timezone.now()
            values = {"table_claim": claim_of(job), "started_at": job.started_at or now, "attempt_started_at": now}
            values |= {"awaits_bytes": first_bytes(job)}
            return change(job.pk, [Status.WAITING], status=Status.LOADING, **values)
    except IntegrityError:
        return False


def table_owner(job: ImportJob) -> ImportJob | None:
    """The import that has the table, if this one waits for it; otherwise None."""
    if job.status != Status.WAITING:
        return None
    return ImportJob.objects.filter(table_claim=claim_of(job)).first()


def _scan_step(job: ImportJob) -> list[Message]:
    return [] if job.scan_finished or not can_scan(job) else _queue_step(job, "scan")


def _load_steps(job: ImportJob) -> list[Message]:
    label, not_on = job.target.label, left_out_hosts(job)
    return [Message("load_run", pk, label=label, not_on=not_on) for pk in queue_chunks(job)]


def _steps_after_load(job: ImportJob) -> list[Message]:
    """Once all chunks are loaded: start the finishing step if there is one, or else the verification."""
    if not job.scan_finished or job.chunks.filter(status__in=Chunk.NOT_LOADED).exists():
        return []
    finishing = job.stages and not job.finished
    if finishing and (problem := _why_not_finish(job)):
        fail(job.pk, problem)
        return [Message("advance", job.pk)]
    following = Status.FINISHING if finishing else after_all_rows(job)
    # A retry of what is finished loads nothing: the restore of the old table asks which imports came after the load.
    loaded_at = job.loaded_at if job.finished else timezone.now()
    if not change(job.pk, [Status.LOADING], status=following, loaded_at=loaded_at):
        return []
    return _queue_status_step(job, following)


def after_all_rows(job: ImportJob) -> ImportJob.Status:
    """The status that follows when all rows are in the table."""
    return Status.INDEXING if job.unrestored or job.unchecked_json else Status.VERIFYING


def _why_not_finish(job: ImportJob) -> Problem | None:
    """The problem for which the job would fail after its finishing step; found before the rows are in the table."""
    balance = equation(job)
    if balance.balanced:
        return final_problem(job)
    return Problem(f"The rows do not add up: {balance}.", advice="Please report this: it must not happen.")


def _queue_status_step(job: ImportJob, status: ImportJob.Status) -> list[Message]:
    """Queue the step that belongs to a status."""
    tasks = {Status.FINISHING: "finish", Status.INDEXING: "restore", Status.VERIFYING: "verify"}
    return _queue_step(job, tasks[status])


def _queue_step(job: ImportJob, task: str) -> list[Message]:
    """Queue the job's step of this task unless a worker holds one, or the target's password is missing here."""
    if job.target.lacks_password:
        return []
    kind = STEPS[task]
    values: dict[str, Any] = {"step": kind.queued, "step_lease": lease_end()}
    if job.step in RUNNING and job.worked_at and job.step_lease:
        values["worked_at"] = max(job.worked_at, job.step_lease)
    with transaction.atomic(savepoint=False):
        queued = ImportJob.objects.filter(step_is_free(), pk=job.pk).update(**values)
        if queued and job.step in RUNNING:
            totals.count_expired(totals.STEP)  # A worker had it.
    not_on = left_out_hosts(job) if kind.reads_file else ()
    return [Message(task, job.pk, label=job.target.label, not_on=not_on)] if queued else []


def queue_chunks(job: ImportJob, most: int = MOST_PARALLELISM) -> list[int]:
    """Queue the first chunk of a run for each free session. Returns the ids of these chunks, at most `most`.

    None where the target's password is missing: the command that has it queues them, and loads them itself.
    Sessions are limited by the job's parallelism, and by the target's ceiling over all its jobs, of which each has its
    fair share. The caller has locked the rows of job and target. Of an ordered job, only the first chunk that is not
    loaded may be queued, so that no row overtakes an earlier one.
    """
    if job.target.lacks_password or (job.needs_copy and not job.plain_copy):
        return []
    candidates = pending(job).order_by("number")
    if job.plan_json.get("ordered"):
        first = job.chunks.order_by("number").filter(status__in=Chunk.NOT_LOADED).values_list("pk", flat=True)[:1]
        candidates, most = candidates.filter(pk__in=list(first)), 1
    ready = list(candidates.values_list("pk", flat=True)[:most])
    # To count the sessions costs more, and most often nothing is ready.
    room = room_for_sessions(job) if ready else 0
    return [
        pk
        for pk in ready[: max(0, room)]
        if Chunk.objects.filter(pk=pk, status=Chunk.Status.PENDING).update(
            status=Chunk.Status.QUEUED, run=uuid4(), lease=lease_end(), connection_id=None
        )
    ]


def pending(job: ImportJob) -> QuerySet[Chunk]:
    """The chunks that may be claimed now. A failed chunk may be claimed again after its backoff."""
    due = Q(lease=None) | Q(lease__lte=timezone.now())
    return job.chunks.filter(due, status=Chunk.Status.PENDING)


def room_for_sessions(job: ImportJob) -> int:
    """How many more workers may load the job's chunks; negative if there are too many.

    Exact if the rows of job and target are locked: then no other job takes a session of the target at the same time.
    """
    in_flight = Chunk.objects.filter(status__in=Chunk.IN_FLIGHT, job__target=job.target_id)
    # Each run is one worker that loads, or a message to one.
    owners = [owner for owner, _ in in_flight.order_by().values_list("job_id", "run").distinct()]
    most = min(job.parallelism, share_of_target(job, Counter(owners)))
    return min(most - owners.count(job.pk), job.target.ceiling - len(owners))


def _end_when_idle(job: ImportJob) -> list[Message]:
    """End a failing or cancelling job once no worker works on it, its changes are undone and it is cleaned up."""
    delays = job.step in RUNNING and RUNNING[job.step].delays_end
    busy = delays and job.step_lease and job.step_lease > timezone.now()
    if busy or job.chunks.filter(status__in=Chunk.IN_FLIGHT).exists():
        return []
    if job.unrestored:
        return _queue_step(job, "restore")
    if job.leftover and job.step_failures < settings.MAX_ATTEMPTS:
        return _queue_step(job, "clean")
    end = Status.FAILED if job.status == Status.FAILING else Status.CANCELLED
    return [*_end(job, Status(job.status), end), *_wake_waiting(job)]


def _end(job: ImportJob, old: Status, new: Status, **values: Any) -> list[Message]:
    """End the job, release the table, and wake the next job that waits for it. No other worker has it any more."""
    values |= {"status": new, "table_claim": None, "finished_at": timezone.now(), **no_step()}
    with transaction.atomic():
        if not change(job.pk, [old], **values):
            return []
        # What the caller has read of the rest still holds.
        job.refresh_from_db(fields=[*values, "phase_since", "phases_json", "version"])
        measured = measures(job)
        vars(job).update(measured)
        job.save(update_fields=list(measured))
        import_ended(job)
    announce_end(job.pk)
    # First: a worker that ends during the record has then added the attempt.
    trace_on_commit(job)
    write_record_on_commit(job)
    return _wake_next_of_table(job)


def _release_untouched_table(job: ImportJob) -> list[Message]:
    """Release the table of a job that waits for approval, and has done nothing there that must stay or be undone.

    It has had the table if the server refused its method. Not while other workers still load its chunks.
    """
    at_work = job.chunks.filter(status__in=(*Chunk.IN_FLIGHT, Chunk.Status.LOADED)).exists()
    done = at_work or job.leftover or job.unrestored or job.arrangement_json
    if done or not job.table_claim or not change(job.pk, [Status.UNAPPROVED], table_claim=None):
        return []
    return _wake_next_of_table(job)


def _wake_next_of_table(job: ImportJob) -> list[Message]:
    """The message to the import that has waited the longest for the table that the job has released."""
    waiting = others_of_table(job).filter(status=Status.WAITING).order_by("pk")
    return [Message("advance", pk) for pk in waiting.values_list("pk", flat=True)[:1]]


def claim_verify(job_id: int) -> ImportJob | None:
    """The job, for the one worker that may verify it now; None for all others."""
    return claim_step(job_id, "verify")


def planned_rows(job: ImportJob) -> dict[int, int]:
    """The scanned rows of each chunk, by number: what the ledger must hold."""
    return dict(job.chunks.values_list("number", "rows"))


def seconds_since(job: ImportJob, numbers: set[int]) -> float:
    """The seconds since the last of these loaded chunks was recorded."""
    last = job.chunks.filter(number__in=numbers).aggregate(last=Max("finished_at"))["last"]
    return float((timezone.now() - last).total_seconds()) if last else 0.0


def reopen(job: ImportJob, numbers: Collection[int], *, attempt: int = 0) -> None:
    """Load chunks again that were recorded as loaded and are not in the ledger: a fail-over has lost them, or they
    were taken out to be staged as a whole (loader.py), which is a later `attempt` than the first.

    Nothing changes if another worker has taken the step, or the job is ending.
    """
    with transaction.atomic():
        if not lock(job.pk, Status.FINISHING, Status.VERIFYING) or not held_step(job).exists():
            return
        lost = job.chunks.filter(number__in=numbers, status=Chunk.Status.LOADED)
        sums = lost.aggregate(*(Sum(name, default=0) for name in (*COUNTS, "length")))
        lost.update(status=Chunk.Status.PENDING, attempt=attempt, lease=None)
        change(
            job.pk,
            [Status.FINISHING, Status.VERIFYING],
            status=Status.LOADING,
            **no_step(),
            **{name: F(name) - sums[f"{name}__sum"] for name in COUNTS},
            committed_bytes=F("committed_bytes") - sums["length__sum"],
            **_merged_kinds(job),
        )


def _merged_kinds(job: ImportJob) -> dict[str, list[Kind]]:
    """The reject reasons and notices of all loaded chunks, merged."""
    counted = list(job.chunks.filter(status=Chunk.Status.LOADED).values_list("reject_reasons", "notices"))
    return {
        "reject_reasons": merged((kind for reasons, _ in counted for kind in reasons), "rows"),
        "notices": merged((kind for _, notices in counted for kind in notices), "values"),
    }


def step_failed(job: ImportJob, problem: Problem) -> list[Message]:
    """After a failure of the job's step: retry it after a backoff, or fail the job.

    Nothing changes if another worker has taken the step: this failure does not count then.
    """
    with transaction.atomic():
        lock(job.pk)
        if not held_step(job).exists():
            return []
        if problem.retryable and job.step_failures + 1 < settings.MAX_ATTEMPTS:
            return [Message("advance", job.pk, delay=backoff(job))]
        fail(job.pk, problem.after(job.step_failures + 1) if problem.retryable else problem)
        held_step(job).update(step_failures=0, **no_step())
    return []


def succeed(job_id: int) -> list[Message]:
    """End the job after its ledger was verified.

    It has succeeded if its equation balances, no limit is exceeded, and not every row was rejected.
    """
    job = ImportJob.objects.select_related("target", "source").get(pk=job_id)
    if problem := final_problem(job):
        fail(job_id, problem)
        return []
    balance = equation(job)
    if not balance.balanced:
        fail(job_id, Problem(f"The rows do not add up: {balance}.", advice="Please report this: it must not happen."))
        return []
    return _end(job, Status.VERIFYING, Status.SUCCEEDED, balanced=True)


def fail(job_id: int, problem: Problem) -> None:
    """Fail the job: start no more chunks, and end when those in flight have ended."""
    with transaction.atomic():
        active = [Status.UNAPPROVED, Status.LOADING, Status.PAUSED]
        active += [Status.FINISHING, Status.INDEXING, Status.VERIFYING]
        if change(job_id, active, status=Status.FAILING, problem=problem.as_json()):
            unqueue(job_id)


def enforce_limits(job_id: int) -> None:
    """Fail the job if it has rejected more rows than its limits allow."""
    problem = exceeded(ImportJob.objects.select_related("source").get(pk=job_id))
    if problem:
        fail(job_id, problem)


def unended() -> list[int]:
    """Jobs that have not ended, oldest first."""
    return list(ImportJob.objects.exclude(status__in=ImportJob.ENDED).order_by("pk").values_list("pk", flat=True))
