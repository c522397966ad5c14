"""Recovers chunks whose lease has expired: their worker died, or their message was lost."""

from datetime import timedelta
from itertools import groupby
from operator import attrgetter

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from importer.engine.errors import Problem
from importer.history import totals
from importer.jobs.lifecycle import fail
from importer.jobs.steps.chunk_leases import ChunkRun
from importer.jobs.steps.staging import CLEAN_AGAIN
from importer.jobs.transitions import lock, not_before, worked
from importer.lease import LONGEST_BACKOFF, shorten
from importer.models import Chunk, ImportJob


def expired_runs(of: ImportJob | None = None) -> list[ChunkRun]:
    """The unfinished chunks of runs whose leases have expired. Chunks of lost messages become pending at once.

    `of`: only those of this job. Those of jobs that a newer release has planned are left to its workers.
    """
    _shorten(of)
    late = Chunk.objects.filter(status__in=Chunk.IN_FLIGHT, lease__lte=timezone.now())
    late = late.filter(job=of) if of else late
    if not late.exists():
        return []
    late.filter(status=Chunk.Status.QUEUED).update(status=Chunk.Status.PENDING, lease=None)
    loading = late.filter(status=Chunk.Status.LOADING).select_related("job__target").order_by("job", "run", "number")
    return [
        ChunkRun(key, chunks[0].job, chunks)
        for (_, key), group in groupby(loading, key=attrgetter("job_id", "run"))
        if not (chunks := list(group))[0].job.is_newer
    ]


def _shorten(of: ImportJob | None) -> None:
    """Shorten leases, and times until the next attempt, that lie too far ahead: see lease.shorten().

    An ended job is cleaned up every CLEAN_AGAIN.
    """
    chunks = Chunk.objects.filter(job=of) if of else Chunk.objects.all()
    jobs = ImportJob.objects.filter(step_lease__isnull=False)
    shorten(chunks.filter(status__in=Chunk.IN_FLIGHT), "lease", timedelta(seconds=settings.LEASE_SECONDS))
    shorten(chunks.filter(status=Chunk.Status.PENDING), "lease", timedelta(seconds=LONGEST_BACKOFF))
    jobs = jobs.filter(pk=of.pk) if of else jobs
    shorten(jobs.exclude(step=ImportJob.Step.CLEAN_QUEUED), "step_lease")
    shorten(jobs, "step_lease", CLEAN_AGAIN)


def expire_run(run: ChunkRun) -> None:
    """Make the chunks of a dead worker's run pending.

    The worker was loading the first chunk when it died: that one fails after MAX_DEATHS deaths.
    """
    for number, chunk in enumerate(run.chunks):
        if not number:
            _record_death(run, chunk)
        else:
            _release(run, chunk, status=Chunk.Status.PENDING)
    leases = [each.lease for each in run.chunks if each.lease]
    worked(run.job.pk, worked_at=not_before(max(leases, default=timezone.now())))


def _record_death(run: ChunkRun, chunk: Chunk) -> None:
    last = chunk.deaths + 1 >= settings.MAX_DEATHS
    problem = Problem(
        "The worker that loaded it died.", where=str(chunk), advice="Look at the worker's log and memory."
    )
    problem = problem.after(chunk.deaths + 1) if last else problem
    status = Chunk.Status.FAILED if last else Chunk.Status.PENDING
    with transaction.atomic():
        lock(run.job.pk)
        if _release(run, chunk, status=status, deaths=F("deaths") + 1, problem=problem.as_json()) and last:
            fail(run.job.pk, problem)


def _release(run: ChunkRun, chunk: Chunk, **values: object) -> int:
    """Take the chunk from its worker, unless the worker has renewed the lease since."""
    expired = Chunk.objects.filter(pk=chunk.pk, status=Chunk.Status.LOADING, run=run.key, lease=chunk.lease)
    with transaction.atomic():
        released = expired.update(lease=None, **values)
        if released:
            totals.count_expired(totals.CHUNK)
    return released
