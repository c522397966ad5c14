"""One chunk: who may load it, and what became of it."""

from dataclasses import asdict
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from importer.engine.errors import Problem
from importer.engine.outcome import Outcome
from importer.jobs.counted import Kind, merged
from importer.jobs.course import enforce_limits, fail
from importer.jobs.guarded import LONGEST_BACKOFF, Status, lease_end, touch
from importer.models import Chunk, ImportJob
from importer.wake import Step


def claim_chunk(chunk_id: int) -> Chunk | None:
    """The chunk, for the one worker that may load it now; None for everybody else."""
    loading_jobs = ImportJob.objects.filter(status=Status.LOADING)
    claimed = Chunk.objects.filter(pk=chunk_id, status=Chunk.Status.QUEUED, job__in=loading_jobs).update(
        status=Chunk.Status.LOADING,
        attempt=F("attempt") + 1,
        lease=lease_end(),
        started_at=timezone.now(),
        connection_id=None,
    )
    if not claimed:
        return None
    chunk = Chunk.objects.select_related("job__target", "job__source").get(pk=chunk_id)
    touch(chunk.job_id)
    return chunk


def renew_chunk(chunk: Chunk, connection_id: int | None) -> bool:
    """Renew the lease.

    False: the load must end, because the chunk was given to another worker or the job is being cancelled.
    """
    wanted = ImportJob.objects.exclude(status=Status.CANCELLING)
    return bool(_mine(chunk).filter(job__in=wanted).update(lease=lease_end(), connection_id=connection_id))


def wants(chunk: Chunk) -> bool:
    """Whether the load is still wanted from this attempt; changes nothing."""
    return _mine(chunk).exclude(job__status=Status.CANCELLING).exists()


def record_loaded(chunk: Chunk, outcome: Outcome) -> None:
    """The chunk is committed on the target: count, once, what became of its rows; too many rejects end the job."""
    reasons = merged((asdict(each) for each in outcome.reasons), "rows")
    notices = merged((asdict(each) for each in outcome.notices), "values")
    counts = {f"{name}_rows": amount for name, amount in asdict(outcome.tally).items()}
    with transaction.atomic():
        if not _mine(chunk).update(
            status=Chunk.Status.LOADED,
            finished_at=timezone.now(),
            timings=outcome.timings,
            lease=None,
            reject_reasons=reasons,
            notices=notices,
            **counts,
        ):
            return
        ImportJob.objects.filter(pk=chunk.job_id).update(
            **{name: F(name) + amount for name, amount in counts.items()},
            committed_bytes=F("committed_bytes") + chunk.length,
            version=F("version") + 1,
        )
        if reasons or notices:
            _add_kinds(chunk.job_id, reasons, notices)
        if outcome.tally.rejected:
            enforce_limits(chunk.job_id)


def _add_kinds(job_id: int, reasons: list[Kind], notices: list[Kind]) -> None:
    """Add to what the job has counted. The caller's update holds its row, so that nobody else adds meanwhile."""
    job = ImportJob.objects.get(pk=job_id)
    job.reject_reasons = merged([*job.reject_reasons, *reasons], "rows")
    job.notices = merged([*job.notices, *notices], "values")
    job.save(update_fields=["reject_reasons", "notices"])


def record_cancelled(chunk: Chunk) -> None:
    """The load was ended because the job is being cancelled; nothing of the chunk was kept."""
    _mine(chunk).update(status=Chunk.Status.PENDING, lease=None)
    touch(chunk.job_id)


def record_failed(chunk: Chunk, problem: Problem) -> list[Step]:
    """The attempt failed: try it again a little later, or end the job."""
    if problem.retryable and chunk.attempt < settings.MAX_ATTEMPTS:
        delay = min(LONGEST_BACKOFF, 2 ** (chunk.attempt - 1))
        again_at = timezone.now() + timedelta(seconds=delay)
        _mine(chunk).update(status=Chunk.Status.PENDING, lease=again_at, problem=problem.as_json())
        touch(chunk.job_id)
        return [Step("advance", chunk.job_id, delay=delay)]
    if _mine(chunk).update(
        status=Chunk.Status.FAILED, lease=None, finished_at=timezone.now(), problem=problem.as_json()
    ):
        fail(chunk.job_id, problem)
    return []


def _mine(chunk: Chunk) -> QuerySet[Chunk]:
    """The chunk, as long as this attempt is the one that holds it."""
    return Chunk.objects.filter(pk=chunk.pk, status=Chunk.Status.LOADING, attempt=chunk.attempt)


def expired_chunks() -> list[Chunk]:
    """Chunks whose worker has given no sign of life for a lease."""
    late = Chunk.objects.filter(status__in=Chunk.IN_FLIGHT, lease__lte=timezone.now())
    return list(late.select_related("job__target"))


def take_back(chunk: Chunk) -> None:
    """Give up the worker or the message that had the chunk: somebody else may load it, but not for ever."""
    if chunk.status == Chunk.Status.QUEUED:
        Chunk.objects.filter(pk=chunk.pk, status=chunk.status, lease=chunk.lease).update(
            status=Chunk.Status.PENDING, lease=None
        )
        return
    problem = Problem(
        "The worker that loaded it died.",
        where=str(chunk),
        advice="It is tried again."
        if chunk.deaths + 1 < settings.MAX_DEATHS
        else "Look at the worker's log and memory.",
    )
    last = chunk.deaths + 1 >= settings.MAX_DEATHS
    taken = (
        _mine(chunk)
        .filter(lease=chunk.lease)
        .update(
            status=Chunk.Status.FAILED if last else Chunk.Status.PENDING,
            deaths=F("deaths") + 1,
            lease=None,
            problem=problem.as_json(),
        )
    )
    touch(chunk.job_id)
    if taken and last:
        fail(chunk.job_id, problem)
