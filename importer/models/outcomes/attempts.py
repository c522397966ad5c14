"""The attempts of an import: the first one, and one for each retry; how long each took, and the rate of the import.

A retry stores the attempt that it follows. Time in which nobody worked, such as the hours until somebody presses Retry,
is in no attempt. Pages, history, commands and notifications take seconds and rates from here only.
"""

from dataclasses import asdict, dataclass
from datetime import datetime

from django.db.models import prefetch_related_objects
from django.utils import timezone

from importer.models.chunk import Chunk
from importer.models.job import Attempt, ImportJob, PhaseSeconds
from importer.models.outcomes import outcome, phases

Status = ImportJob.Status


@dataclass(frozen=True)
class Speed:
    """The rate of an import: its committed rows, the bytes of them and of bad ones, the seconds of all attempts."""

    rows: int
    bytes: int
    seconds: PhaseSeconds

    @property
    def rows_per_second(self) -> float | None:
        """Rows by loading time: the rate of an import wherever one is shown."""
        return _by(self.rows, self.seconds.loading)

    @property
    def bytes_per_second(self) -> float | None:
        """Bytes by loading time."""
        return _by(self.bytes, self.seconds.loading)

    @property
    def overall_rows_per_second(self) -> float | None:
        """Rows by working time, which includes keys and verification: what settings are compared by."""
        return _by(self.rows, self.seconds.working)


def attempts_of(job: ImportJob, now: datetime | None = None) -> tuple[Attempt, ...]:
    """The attempts of the job, the first one first. Of jobs of older versions only the last one is known."""
    return *past_attempts(job), present_attempt(job, now)


def present_attempt(job: ImportJob, now: datetime | None = None) -> Attempt:
    """The last attempt of the job, which may be under way; not stored."""
    ended = outcome(job)
    loaded, failed = _chunks(job)
    seconds = present_seconds(job, now or timezone.now())
    return Attempt(
        job=job,
        number=job.attempts,
        plan_json=job.plan_json,
        started_at=started_at(job),
        ended_at=job.finished_at,
        outcome=ended.words if ended else "",
        problem=job.problem,
        loaded_chunks=loaded,
        failed_chunks=failed,
        rows=_rows(job),
        **(asdict(seconds) if seconds else {}),
    )


def seconds_of(job: ImportJob, now: datetime | None = None) -> PhaseSeconds | None:
    """The seconds of all attempts together; None if an older version did not keep them."""
    each = [*map(_past_seconds, past_attempts(job)), present_seconds(job, now or timezone.now())]
    known = [seconds for seconds in each if seconds is not None]
    return sum(known, PhaseSeconds()) if len(known) == job.attempts else None


def speed_of(job: ImportJob, now: datetime | None = None) -> Speed | None:
    """The rate of the job, which may be under way; None if the seconds of its attempts are not known."""
    seconds = seconds_of(job, now)
    return Speed(job.committed_rows, job.committed_bytes, seconds) if seconds else None


def step_seconds(job: ImportJob) -> dict[str, float | None]:
    """The seconds of each step, over all attempts; None for steps that have not ended, or whose time is not known.

    Scan and load run in parallel. `verify` includes the finishing step of modes that stage. `total` is the time in
    which the import was worked on: load, index and verify.
    """
    seconds = seconds_of(job)
    loaded = seconds is not None and job.loaded_at is not None
    return {
        "scan": _scan_seconds(job),
        "load": round(seconds.loading, 3) if seconds and loaded else None,
        "index": round(seconds.indexing if seconds else job.index_seconds, 3),
        "verify": round(seconds.verifying, 3) if seconds and loaded and job.finished_at else None,
        "total": round(seconds.working, 3) if seconds and job.started_at and job.finished_at else None,
    }


def measures(job: ImportJob) -> dict[str, float | None]:
    """The fields of a job that has ended by which lists are sorted: its seconds, and its rate if it succeeded."""
    speed = speed_of(job)
    if speed is None:
        return {"rows_per_second": None, "loading_seconds": None, "total_seconds": None}
    return {
        "rows_per_second": speed.rows_per_second if job.status == Status.SUCCEEDED else None,
        "loading_seconds": round(speed.seconds.loading, 3),
        "total_seconds": round(speed.seconds.working, 3),
    }


def past_attempts(job: ImportJob) -> list[Attempt]:
    """The attempts before the present one, the first one first. They are read once for each object of a job."""
    if job.attempts == 1:
        return []
    prefetch_related_objects([job], "earlier_attempts")
    return list(job.earlier_attempts.all())


def _past_seconds(attempt: Attempt) -> PhaseSeconds | None:
    """The seconds of an earlier attempt. An older version kept no phases: all of them count as loading."""
    if attempt.seconds or not (attempt.started_at and attempt.ended_at):
        return attempt.seconds
    return PhaseSeconds(loading=_between(attempt.started_at, attempt.ended_at))


def started_at(job: ImportJob) -> datetime | None:
    """When the present attempt got the table; None before that, and if an older version did not keep it."""
    # Older versions have no time of the attempt; that of the job is the first attempt's.
    return job.attempt_started_at or (job.started_at if job.attempts == 1 else None)


def _rows(job: ImportJob) -> int | None:
    """The rows that the present attempt has settled. A mode that stages settles them when it finishes."""
    past = [attempt.rows for attempt in past_attempts(job)]
    if len(past) != job.attempts - 1 or None in past:
        return None
    if job.stages and not job.finished:
        return 0
    return max(0, job.accounted_rows - sum(rows or 0 for rows in past))


def present_seconds(job: ImportJob, now: datetime) -> PhaseSeconds | None:
    """The seconds of the present attempt until `now`; None if an older version did not keep them."""
    if job.phase_since is None:
        return _seconds_by_moments(job, now)
    spent = phases.spent(job, now)
    # Putting back belongs to other steps than indexing where an import failed or staged.
    indexing = _indexing(job, now)
    elsewhere = max(0.0, indexing - spent[Status.INDEXING])
    return PhaseSeconds(
        waiting=phases.all_waiting(spent) + max(0.0, spent[Status.INDEXING] - indexing),
        loading=spent[Status.LOADING],
        paused=spent[Status.PAUSED],
        indexing=indexing,
        verifying=max(0.0, spent[Status.FINISHING] + spent[Status.VERIFYING] - elsewhere),
    )


def blocked_seconds(job: ImportJob, now: datetime) -> float:
    """The part of the present attempt's waiting in which keys and settings could not be put back, until `now`."""
    if job.phase_since is None:  # Of an older version nothing is known but that it is prevented now.
        since = job.loaded_at if job.status == Status.INDEXING and job.obstacle else None
        return max(0.0, _between(since, now) - job.index_seconds) if since else 0.0
    return max(0.0, phases.spent(job, now)[Status.INDEXING] - _indexing(job, now))


def _indexing(job: ImportJob, now: datetime) -> float:
    """The seconds in which keys and settings were put back, without those in which an obstacle prevented it."""
    at_it = job.status == Status.INDEXING and not job.obstacle and job.phase_since
    return job.index_seconds + (_between(at_it, now) if at_it else 0.0)


def _seconds_by_moments(job: ImportJob, now: datetime) -> PhaseSeconds | None:
    """The seconds of an attempt of an older version, which kept some moments only; None if it did not keep these."""
    started = started_at(job)
    if started is None:
        return PhaseSeconds() if job.started_at is None else None
    ended = job.finished_at or now
    loaded = job.loaded_at if job.loaded_at and job.loaded_at >= started else None
    return PhaseSeconds(
        waiting=_between(job.created_at, started) if job.attempts == 1 else 0.0,
        loading=_between(started, loaded or ended),
        indexing=job.index_seconds,
        verifying=max(0.0, _between(loaded, ended) - job.index_seconds) if loaded else 0.0,
    )


def _scan_seconds(job: ImportJob) -> float | None:
    """The seconds of the scan, from the start of the attempt that ended it; 0 if it ended before the job's approval."""
    if job.scanned_at is None or job.started_at is None:
        return None
    starts = [each.started_at for each in past_attempts(job) if each.started_at]
    starts += [present] if (present := started_at(job)) else []
    before = [start for start in starts if start <= job.scanned_at]
    return round(_between(max(before, default=job.started_at), job.scanned_at), 3)


def _chunks(job: ImportJob) -> tuple[int, int]:
    """The numbers of chunks that the present attempt has loaded, and on which it failed."""
    started = started_at(job)
    if started is None:
        return 0, 0
    if job.chunks_removed_at:
        kept = job.record.kept_chunks
        return kept["loaded"], kept["failed"]
    loaded = job.chunks.filter(status=Chunk.Status.LOADED, finished_at__gte=started)
    return loaded.count(), job.chunks.filter(status=Chunk.Status.FAILED).count()


def _between(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds())


def rounded(rate: float) -> float:
    """A rate as reports and the history have it: to a tenth, and below 1 to three digits, so that only 0 gives 0."""
    return round(rate, 1) if rate >= 1 else float(f"{rate:.3g}")


def rounded_or_none(rate: float | None) -> float | None:
    """As rounded(); None for no rate."""
    return rounded(rate) if rate else None


def _by(amount: int, seconds: float) -> float | None:
    return amount / seconds if seconds else None
