"""Deletes the chunks of ended imports, and ended imports. The history's facts stay.

A job and its chunks are deleted in one transaction, and the files that they name after it; the sweep finds a folder of
a job that no longer exists.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from importer.access import audit
from importer.engine.errors import Problem
from importer.history.chunks import timings
from importer.history.chunks.files import read_rows
from importer.history.chunks.map import read_map
from importer.history.chunks.rates import read_rates
from importer.jobs.actions import fixes
from importer.jobs.actions.applying import drop_undecided
from importer.jobs.record import write_record
from importer.jobs.rejects import storage
from importer.models import DiscoveredFile, ImportJob, JobRecord
from importer.models.outcomes.attempts import present_attempt
from importer.retention.needed import CHUNK_OBSTACLES, JOB_OBSTACLES, any_of, can_be_retried, reason, why_job_stays
from importer.retention.policies import before, in_force

log = logging.getLogger(__name__)

# What a page needs of chunks that are deleted, in about 8 KB: squares of the map, and points of the two charts.
KEPT_CELLS, KEPT_RATES, KEPT_TIMINGS = 100, 120, 100
_PICKED = DiscoveredFile.Outcome


def remove_chunks(now: datetime, most: int) -> int:
    """Delete the chunks of at most `most` ended imports. Returns the number of imports."""
    due = _due("chunks", now).filter(chunks_removed_at=None).exclude(any_of(CHUNK_OBSTACLES))
    # The rejected rows are found by their chunks.
    with_rejects, cutoff = Q(rejected_rows__gt=0) | Q(skipped_rows__gt=0), before("rejects", now)
    due = due.exclude(with_rejects if cutoff is None else with_rejects & Q(finished_at__gte=cutoff))
    return _each(lambda pk: _remove_chunks(pk, due, now), due, most)


def drop_staged(now: datetime, most: int) -> int:
    """Let go the staged rows that at most `most` imports have kept for long enough. Returns the number of imports."""
    policy = in_force("staged")
    if (cutoff := policy.before(now)) is None:
        return 0
    kept = ImportJob.objects.filter(status__in=ImportJob.ENDED, staging=ImportJob.Staging.KEPT, finished_at__lt=cutoff)
    return sum(drop_undecided(job, policy.words) for job in kept.order_by("finished_at")[:most])


def remove_jobs(now: datetime, most: int) -> int:
    """Delete at most `most` ended imports. Returns their number."""
    due = _due("jobs", now).exclude(any_of(JOB_OBSTACLES))
    return _each(lambda pk: _remove_job(pk, due), due, most)


def staying(now: datetime, most: int) -> list[ImportJob]:
    """At most `most` imports whose days are over, and which something needs; `why` of each is the reason."""
    late = Q(pk__in=_due("chunks", now).filter(any_of(CHUNK_OBSTACLES), chunks_removed_at=None).values("pk"))
    late |= Q(pk__in=_due("jobs", now).filter(any_of(JOB_OBSTACLES)).values("pk"))
    found = ImportJob.objects.filter(late).annotate(why=reason(JOB_OBSTACLES)).select_related("source", "target")
    return list(found.order_by("finished_at")[:most])


def remove_by_hand(job_id: int) -> None:
    """Delete an ended import on request. Its facts stay in the history, and what it loaded in its table.

    Raises Problem if it cannot be deleted.
    """
    job = ImportJob.objects.select_related("target").filter(pk=job_id).first()
    if job is None:
        raise Problem(f"Import {job_id} is deleted already.")
    audit.about(job)
    if job.ended and job.trial_id is None and not JobRecord.objects.filter(pk=job.pk).exists():
        write_record(job.pk)
    if not _remove_job(job.pk, ImportJob.objects.exclude(any_of(JOB_OBSTACLES))):
        why = why_job_stays(job) or "it has changed since"
        raise Problem(f"The import stays: {why}.", str(job), "Its page shows its present state.")


def remove_history(now: datetime, most: int) -> int:
    """Delete the facts of at most `most` imports whose pages are deleted. Returns their number."""
    cutoff = before("history", now)
    if cutoff is None:
        return 0
    existing = ImportJob.objects.values("pk")
    old = JobRecord.objects.filter(ended_at__lt=cutoff).exclude(pk__in=existing).order_by("ended_at")
    keys = list(old.values_list("pk", flat=True)[:most])
    JobRecord.objects.filter(pk__in=keys).delete()
    return len(keys)


def _due(policy: str, now: datetime) -> QuerySet[ImportJob]:
    """The ended imports that are old enough, have a record, and can no longer be retried."""
    cutoff = before(policy, now)
    if cutoff is None:
        return ImportJob.objects.none()
    old = ImportJob.objects.filter(status__in=ImportJob.ENDED, finished_at__lt=cutoff, record__isnull=False)
    return old.exclude(can_be_retried(now))


def _each(remove: Callable[[int], bool], due: QuerySet[ImportJob], most: int) -> int:
    """Remove something of at most `most` imports, the oldest first. One that makes trouble holds up no other."""
    removed = 0
    for pk in list(due.order_by("finished_at").values_list("pk", flat=True)[:most]):
        try:
            removed += remove(pk)
        except Exception:
            log.exception("import %s: what is due of it could not be deleted", pk)
    return removed


def _locked(pk: int, due: QuerySet[ImportJob]) -> ImportJob | None:
    """The job, locked and still to be deleted: a retry waits for the lock, and then finds no job or no chunks."""
    job = ImportJob.objects.select_for_update().filter(pk=pk).first()
    return job if job and due.filter(pk=pk).exists() else None


def _remove_chunks(pk: int, due: QuerySet[ImportJob], now: datetime) -> bool:
    with transaction.atomic():
        job = _locked(pk, due)
        if job is None:
            return False
        JobRecord.objects.filter(pk=pk).update(**_kept(job))
        job.chunks.all().delete()
        job.seals.all().delete()
        fixes.forget(job)
        ImportJob.objects.filter(pk=pk).update(chunks_removed_at=now)
        storage.forget(job)
    return True


def _kept(job: ImportJob) -> dict[str, Any]:
    """The fields of the record that have what the page shows of the chunks."""
    tried = present_attempt(job)
    kept = {
        "map": read_map(job, KEPT_CELLS).as_json(),
        "rates": read_rates(job, timezone.now(), KEPT_RATES),
        "files": [vars(each) for each in read_rows(job)] if job.files_json else [],
        "loaded": tried.loaded_chunks,
        "failed": tried.failed_chunks,
    }
    return {"kept_chunks": kept, "chunk_timings": timings.read(job, KEPT_TIMINGS).as_json()}


def _remove_job(pk: int, due: QuerySet[ImportJob]) -> bool:
    with transaction.atomic():
        job = _locked(pk, due)
        if job is None:
            return False
        if job.status == ImportJob.Status.SUCCEEDED:
            # Schedules know a file as loaded by its outcome, or by its import.
            job.picked.exclude(outcome=_PICKED.ALREADY_LOADED).update(outcome=_PICKED.LOADED)
        job.chunks.all().delete()
        JobRecord.objects.filter(pk=pk).update(kept_chunks={}, chunk_timings={}, reasons=[])
        # With the row, or not at all: nobody would know the files in a store that is away.
        storage.forget(job)
        job.delete()
    return True
