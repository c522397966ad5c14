"""What the present attempt of an import spends its time on: the one declaration of loading time.

An import loads while a worker has its step or one of its chunks; it finishes and verifies likewise. That is without the
time in which all its connections waited for locks of others (importer/jobs/lock_waits.py). The rest of the time in
these statuses is waiting: for the first worker, after an approval or a retry, for slots that other imports have,
without any worker, until a failed load is tried again, or for bytes of the upload.
"""

from collections import defaultdict
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max

from importer.models.chunk import Chunk
from importer.models.job import ImportJob
from importer.models.outcomes.step_kinds import RUNNING

Status = ImportJob.Status

# The statuses in which an import waits whenever no worker works on it.
NEED_WORKERS = (Status.LOADING, Status.FINISHING, Status.VERIFYING)
# Those in which it may wait for locks of others.
LOCKABLE = (*NEED_WORKERS, Status.INDEXING)
# A shorter gap (seconds) is the change from one worker to the next, and part of the work.
LEAST_WAIT = 1.0
# The fields of a job that spent() reads.
TIMED_BY = ("phase_since", "phases_json", "taken_at", "worked_at", "step", "step_lease")


def wait_in(status: str) -> str:
    """The key, in the seconds of an attempt, of the waiting in a status of NEED_WORKERS."""
    return f"waiting in {status}"


def locked_in(status: str) -> str:
    """The key, in the seconds of an attempt, of the waiting for locks of others in a status of LOCKABLE."""
    return f"locked in {status}"


def all_waiting(seconds: defaultdict[str, float]) -> float:
    """The waiting in the seconds of spent(): for an approval, for the table, in NEED_WORKERS, and for locks."""
    names = (Status.WAITING, Status.UNAPPROVED, *map(wait_in, NEED_WORKERS), *map(locked_in, LOCKABLE))
    return sum(seconds[each] for each in names)


def spent(job: ImportJob, now: datetime) -> defaultdict[str, float]:
    """The seconds of the present attempt until `now`, by status and by wait_in(); 0 for others."""
    seconds = defaultdict(float, job.phases_json)
    if job.ended or job.phase_since is None:
        return seconds
    status = Status(job.status)
    worked_until = _worked_until(job, job.phase_since, now) if status in NEED_WORKERS else now
    seconds[status] += _between(job.phase_since, worked_until)
    if worked_until < now:
        # Until the first worker it counts as waiting for the table does: the import has not begun.
        seconds[wait_in(status) if job.taken_at else Status.WAITING] += _between(worked_until, now)
    return seconds


def idle_seconds(job: ImportJob) -> float | None:
    """The seconds in which no worker worked on an ended job while it loaded; None if an older version counted them."""
    if job.phase_since is None or job.worked_at is None:
        return None
    return round(float(job.phases_json.get(wait_in(Status.LOADING), 0.0)), 3)


def waits(job: ImportJob, now: datetime) -> bool:
    """Whether the job needs a worker, and none works on it."""
    if job.status not in NEED_WORKERS or job.phase_since is None:
        return False
    return _worked_until(job, job.phase_since, now) < now


def last_sign(job: ImportJob, now: datetime) -> datetime:
    """When a process last showed that it works on the job, or when the job was created or got its status.

    Signs that are ahead of `now` by more than a lease are from before the clock was set back: they count only if there
    is no other.
    """
    length = timedelta(seconds=settings.LEASE_SECONDS)
    lease = _last_lease(job)
    renewed = lease - length if lease else None
    signs = [each for each in (job.created_at, job.phase_since, job.worked_at, renewed) if each]
    return max((min(each, now) for each in signs if each <= now + length), default=min(signs))


def seconds_ahead(job: ImportJob, now: datetime) -> float:
    """By how much the job's last record lies ahead of `now`; 0 if it does not."""
    return max(_between(now, each) for each in (job.created_at, job.phase_since, job.worked_at) if each)


def _worked_until(job: ImportJob, since: datetime, now: datetime) -> datetime:
    """Until when a worker has worked on the job, from `since` to `now`; `now` if one still does, or none is missed."""
    if job.taken_at is None:
        return since
    if job.worked_at is None:
        return now  # An older version did not keep it.
    last = max(since, job.worked_at)
    if _between(last, now) < LEAST_WAIT:
        return now  # Without a query for the leases: so it is while chunks are loaded.
    last = max(last, _last_lease(job) or last)
    return last if _between(last, now) >= LEAST_WAIT else now


def _last_lease(job: ImportJob) -> datetime | None:
    """When the last of the leases ends under which workers have the job's step and chunks; None without any."""
    found: datetime | None = Chunk.objects.filter(job=job.pk, status=Chunk.Status.LOADING).aggregate(Max("lease"))[
        "lease__max"
    ]
    step = job.step_lease if job.step in RUNNING else None
    return max(step, found) if step and found else step or found


def _between(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds())
