"""Runs of chunks: claims, leases and results."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from importer.engine.errors import Problem
from importer.engine.load.outcome import Outcome
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.units import MIB
from importer.history import totals
from importer.jobs import approval
from importer.jobs.bulk import update_each
from importer.jobs.lifecycle import enforce_limits, fail, pending, queue_chunks, room_for_sessions
from importer.jobs.permission import why_forbidden
from importer.jobs.rejects.counts import COUNTS, Kind, merged
from importer.jobs.sharing.claimants import others_wait
from importer.jobs.transitions import JobStep, Status, change, lock, not_before, unqueue, wait_ended, worked
from importer.lease import backoff_seconds, holder, lease_end
from importer.models import Chunk, ImportJob, JobSeal
from importer.models.chunk import RANGE
from importer.queue import Message

# The most bytes and chunks of a run: about what loads in five seconds.
RUN_BYTES = 128 * MIB
RUN_CHUNKS = 500
# A chunk of up to this size loads about as fast as another worker could begin with it.
SHORT_BYTES = MIB
# A run takes at most 1/SHARES_LEFT of a session's share of the rest, so that all sessions end at about the same time.
# A job's only session takes all.
SHARES_LEFT = 2


@dataclass(frozen=True)
class ChunkRun:
    """Chunks of a job, in the file's order, that one worker has claimed together; `key` is in each of them."""

    key: UUID
    job: ImportJob
    chunks: list[Chunk]

    def __str__(self) -> str:
        numbers = f"{self.chunks[0].number} to {self.chunks[-1].number}"
        return f"chunks {numbers} of import {self.job.pk}" if len(self.chunks) > 1 else str(self.chunks[0])

    @property
    def log_ids(self) -> dict[str, int]:
        """What a log in JSON has of it: the first chunk (config/telemetry/json_lines.py)."""
        return self.chunks[0].log_ids


@dataclass(frozen=True)
class LoadedChunk:
    """A chunk that is committed on the target: the outcome of its rows, and when its load began and ended."""

    chunk: Chunk
    outcome: Outcome
    began: datetime
    ended: datetime


def claim_run(chunk_id: int) -> ChunkRun | None:
    """A run that begins with this chunk, for the one worker that may load it now; None for all others.

    None as well if a newer release has planned the job, or if this process lacks the target's password. Fails the job
    instead if the person who asked for it may no longer load into its table.
    """
    queued = Chunk.objects.filter(pk=chunk_id, status=Chunk.Status.QUEUED)
    first = queued.values_list("job_id", "number", "length").first()
    if first is None:
        return None
    job_id, number, length = first
    key = uuid4()
    with transaction.atomic():
        job = ImportJob.objects.select_for_update().select_related("target").filter(pk=job_id).first()
        if job is None or job.is_newer or job.target.lacks_password:
            return None
        if problem := why_forbidden(job):
            fail(job.pk, problem)
            return None
        waited = wait_ended(job)
        if job.status != Status.LOADING or not _claim(queued, key):
            return None
        _claim(_next_chunks(job, number, length), key)
        worked(job.pk, **waited)
    return ChunkRun(key, job, _claimed(job, key))


def claim_next_run(run: ChunkRun) -> ChunkRun | None:
    """The next run for a worker that has finished `run`; None if there is none, or if other work waits for workers."""
    if not pending(run.job).exists() or _other_work_waits(run.job, loading=False):
        return None
    with transaction.atomic():
        job = ImportJob.objects.select_for_update().select_related("target").get(pk=run.job.pk)
        queued = queue_chunks(job, most=1) if job.status == Status.LOADING else []
    return claim_run(queued[0]) if queued else None


def extend_run(run: ChunkRun, last: int, connection_id: int) -> list[Chunk]:
    """Extend a run while its last chunk, number `last`, loads on the connection. Returns the claimed chunks.

    Empty if the worker may not stay with the job. Near the end of the file, when a session's share is small, at most
    one chunk, of up to SHORT_BYTES.
    """
    if not pending(run.job).filter(number__gt=last).exists():
        return []
    with transaction.atomic():
        if not _may_continue(run.job):
            return []
        _claim(_next_chunks(run.job, last), run.key, connection_id)
    return _claimed(run.job, run.key, last)


def should_continue(run: ChunkRun) -> bool:
    """Whether a run may keep its remaining chunks. False: other work waits, or a free session has nothing to load."""
    with transaction.atomic():
        if not _may_continue(run.job):
            return False
        return room_for_sessions(run.job) <= 0 or pending(run.job).exists()


def _may_continue(job: ImportJob) -> bool:
    """Whether a worker may stay with the job. Reads the job again and locks its row."""
    if _other_work_waits(job, loading=True):
        return False
    changing = ["status", "parallelism", "asked_by"]
    job.refresh_from_db(fields=changing, from_queryset=ImportJob.objects.select_for_update())
    return job.status == Status.LOADING and room_for_sessions(job) >= 0 and not why_forbidden(job)


def _other_work_waits(job: ImportJob, *, loading: bool) -> bool:
    """Whether the worker is needed for another job: its chunks come first, or its finishing or restoring step waits.

    A step that has failed waits for its next attempt, not for a worker.
    """
    steps = (JobStep.FINISH_QUEUED, JobStep.RESTORE_QUEUED)
    for_same_workers = ImportJob.objects.filter(target__label=job.target.label)
    return others_wait(job, loading=loading) or for_same_workers.filter(step__in=steps, step_failures=0).exists()


def _claim(chunks: QuerySet[Chunk], key: UUID, connection_id: int | None = None) -> int:
    return chunks.update(
        status=Chunk.Status.LOADING,
        run=key,
        attempt=F("attempt") + 1,
        lease=lease_end(),
        started_at=timezone.now(),
        connection_id=connection_id,
        worker=holder(),
    )


def _claimed(job: ImportJob, key: UUID, last: int = -1) -> list[Chunk]:
    """The run's chunks after number `last`, in the file's order."""
    claimed = job.chunks.filter(status=Chunk.Status.LOADING, run=key, number__gt=last)
    return list(claimed.order_by("number").only("job_id", "number", "attempt", *RANGE))


def _next_chunks(job: ImportJob, last: int, size: int = 0) -> QuerySet[Chunk]:
    """The pending chunks after number `last` that belong into one run with the `size` bytes before them.

    Without gaps between them if the job is ordered.
    """
    ordered = job.plan_json.get("ordered")
    after = pending(job).filter(number__gt=last)
    candidates = list(after.order_by("number").values_list("number", "offset", "length")[: RUN_CHUNKS - 1])
    most = _most_bytes(job, candidates[0][1], size) if candidates else 0
    for number, _, length in candidates:
        # Ending a run and starting another would take longer than loading this chunk.
        one_more = not size and length <= SHORT_BYTES
        size += length
        if (size > most and not one_more) or (ordered and number != last + 1):
            break
        last = number
    return after.filter(number__lte=last)


def _most_bytes(job: ImportJob, offset: int, size: int) -> int:
    """The most bytes of a run: a session's share of the bytes from `offset` on and of the run's own `size` bytes.

    Chunks are claimed in the file's order, so the bytes after `offset` are unclaimed. If chunks were released, some of
    them are claimed already, and the share is a little too large.
    """
    left = size + job.read_size - offset
    shares = SHARES_LEFT * job.parallelism if job.parallelism > 1 else 1
    return min(RUN_BYTES, left // shares)


def renew_run(run: ChunkRun, connection_id: int | None) -> bool:
    """Renew the leases of the run's chunks.

    False: the load must end, because another worker was given the chunks or the job is being cancelled.
    """
    wanted = [each for each in Status if each != Status.CANCELLING]
    with transaction.atomic():
        return lock(run.job.pk, *wanted) and bool(_held(run).update(lease=lease_end(), connection_id=connection_id))


def record_seal(run: ChunkRun, seal: int, before: datetime) -> bool:
    """Record the seal (0: none) that loads the run's chunks. False: another worker was given them.

    `before` is a moment before it was opened.
    """
    if seal:
        values = {"opened_at": before}
        JobSeal.objects.get_or_create(job=run.job, key=run.job.key, number=seal, defaults=values)
    return _held(run).exists()


def known_seals(job: ImportJob) -> dict[int, float]:
    """All seals that the job's chunks were loaded with, and the seconds since a moment before each was opened."""
    opened = job.seals.filter(key=job.key).values_list("number", "opened_at")
    return {number: (timezone.now() - at).total_seconds() for number, at in opened}


def is_wanted(run: ChunkRun) -> bool:
    """Whether the load is still wanted from this worker. Only reads."""
    return _held(run).exclude(job__status=Status.CANCELLING).exists()


def is_loading(job_id: int) -> bool:
    """Whether more of the job's chunks may load: it is neither paused nor ending."""
    return ImportJob.objects.filter(pk=job_id, status=Status.LOADING).exists()


def record_loaded(run: ChunkRun, loaded: Sequence[LoadedChunk]) -> None:
    """Record committed chunks and add their counts to the job, once. Too many rejects fail the job."""
    with transaction.atomic():
        lock(run.job.pk)
        held = set(_held(run).select_for_update().values_list("pk", flat=True))
        counted = [each for each in loaded if each.chunk.pk in held]
        if counted:
            update_each(Chunk, {each.chunk.pk: _chunk_values(each) for each in counted}, run=run.key)
            _add_to_job(run.job.pk, counted)
        if any(each.outcome.tally.rejected for each in counted):
            enforce_limits(run.job.pk)
        totals.count_loaded(run.job, ((each.outcome, each.chunk.length) for each in counted))


def _chunk_values(loaded: LoadedChunk) -> dict[str, Any]:
    """The values of a chunk after its load."""
    outcome = loaded.outcome
    return {
        "status": Chunk.Status.LOADED,
        "started_at": loaded.began,
        "finished_at": loaded.ended,
        "timings": outcome.timings,
        "lease": None,
        "reject_reasons": merged((asdict(each) for each in outcome.reasons), "rows"),
        "notices": merged((asdict(each) for each in outcome.notices), "values"),
        **{name: getattr(outcome.tally, name.removesuffix("_rows")) for name in COUNTS},
    }


def _add_to_job(job_id: int, counted: list[LoadedChunk]) -> None:
    sums = {name: sum(getattr(each.outcome.tally, name.removesuffix("_rows")) for each in counted) for name in COUNTS}
    ImportJob.objects.filter(pk=job_id).update(
        **{name: F(name) + amount for name, amount in sums.items()},
        committed_bytes=F("committed_bytes") + sum(each.chunk.length for each in counted),
        worked_at=not_before(max(each.ended for each in counted)),
        version=F("version") + 1,
    )
    reasons = [asdict(reason) for each in counted for reason in each.outcome.reasons]
    notices = [asdict(notice) for each in counted for notice in each.outcome.notices]
    if reasons or notices:
        _add_kinds(job_id, reasons, notices)


def _add_kinds(job_id: int, reasons: list[Kind], notices: list[Kind]) -> None:
    """Merge reasons and notices into the job's. The caller's update has locked its row, so no worker interferes."""
    job = ImportJob.objects.get(pk=job_id)
    job.reject_reasons = merged([*job.reject_reasons, *reasons], "rows")
    job.notices = merged([*job.notices, *notices], "values")
    job.save(update_fields=["reject_reasons", "notices"])


def release_chunks(run: ChunkRun, untouched: list[Chunk]) -> None:
    """Release the chunks whose load has not begun, as if they had never been claimed."""
    if untouched:
        with transaction.atomic():
            lock(run.job.pk)
            _held(run).filter(pk__in=[each.pk for each in untouched]).update(
                status=Chunk.Status.PENDING, attempt=F("attempt") - 1, lease=None
            )
            worked(run.job.pk)


def record_cancelled(run: ChunkRun, chunk: Chunk) -> None:
    """Make the chunk pending after its load was ended by a cancel, with all its rows rolled back."""
    with transaction.atomic():
        lock(run.job.pk)
        _held(run).filter(pk=chunk.pk).update(status=Chunk.Status.PENDING, lease=None)
        worked(run.job.pk)


def record_failed(run: ChunkRun, chunk: Chunk, problem: Problem) -> list[Message]:
    """After a failure of the chunk's load: retry it after a backoff, or fail the job."""
    held = _held(run).filter(pk=chunk.pk)
    if problem.retryable and chunk.attempt < settings.MAX_ATTEMPTS:
        delay = backoff_seconds(chunk.attempt - 1)
        again_at = timezone.now() + timedelta(seconds=delay)
        with transaction.atomic():
            lock(run.job.pk)
            if held.update(status=Chunk.Status.PENDING, lease=again_at, problem=problem.as_json()):
                totals.count_retry(totals.CHUNK)
        worked(run.job.pk)
        return [Message("advance", run.job.pk, delay=delay)]
    problem = problem.after(chunk.attempt) if problem.retryable else problem
    with transaction.atomic():
        lock(run.job.pk)
        ended = {"status": Chunk.Status.FAILED, "lease": None, "finished_at": timezone.now()}
        if held.update(**ended, problem=problem.as_json()):
            # In the same transaction: a job that loads never ends while one of its chunks has failed.
            fail(run.job.pk, problem)
    return []


def fall_back(run: ChunkRun, chunk: Chunk, plan: ImportPlan) -> list[Message]:
    """After the server refused the method of the run's plan: continue the job with `plan`, and make the chunk pending.

    The chunk's rows were rolled back. If several workers do this, the first one's plan is used. Where another person
    must approve plans, it is approved first.
    """
    old = run.job.plan.statements.method
    with transaction.atomic():
        lock(run.job.pk)
        ImportJob.objects.filter(pk=run.job.pk, plan_json__method=old).update(plan_json=plan_to_json(plan))
        _held(run).filter(pk=chunk.pk).update(status=Chunk.Status.PENDING, lease=None)
        job = ImportJob.objects.select_related("target").get(pk=run.job.pk)
        if approval.is_needed(job):
            change(job.pk, [Status.LOADING, Status.PAUSED], status=Status.UNAPPROVED, approval_asked_at=None)
            unqueue(job.pk)
    worked(run.job.pk)
    return [Message("advance", run.job.pk)]


def _held(run: ChunkRun) -> QuerySet[Chunk]:
    """The run's chunks that its worker still holds. Another claim gives a chunk another key."""
    return Chunk.objects.filter(job=run.job, status=Chunk.Status.LOADING, run=run.key)
