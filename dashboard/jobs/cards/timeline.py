"""The timeline of an import: each attempt with its phases, on one scale, so that a pause between two takes no room."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from dashboard.formatting import duration
from importer import models
from importer.models import ImportJob
from importer.models.outcomes import attempts
from importer.models.outcomes.phases import LEAST_WAIT, locked_in, spent, wait_in

# The units across the timeline, of which a phase has at least LEAST_UNITS.
WIDTH = 1000
LEAST_UNITS = 3

Status = ImportJob.Status


@dataclass(frozen=True)
class Phase:
    """A phase of an attempt. `start` and `width` are its place on the timeline, in units of WIDTH."""

    name: str
    kind: str
    began: datetime
    ended: datetime
    runs: bool
    start: int = 0
    width: int = 0
    # The seconds of it during which the import was paused, and those in which it waited for a worker, and for locks.
    paused: float = 0
    waited: float = 0
    locked: float = 0

    @property
    def seconds(self) -> float:
        return (self.ended - self.began).total_seconds()

    @property
    def pauses(self) -> str:
        """The parts of it in which nothing was done, in words; "" without one."""
        parts = (("paused", self.paused), ("waiting", self.waited), ("waiting for locks", self.locked))
        return ", ".join(f"{what} {duration(seconds)}" for what, seconds in parts if seconds)

    @property
    def took(self) -> str:
        """Its duration in words; of one that runs in whole seconds, as the page's clocks count them."""
        return duration(float(int(self.seconds)) if self.runs else self.seconds)


@dataclass(frozen=True)
class Attempt:
    """An attempt with its phases, in order; of an earlier one, `past`, one follows on the other."""

    number: int
    phases: tuple[Phase, ...]
    past: models.Attempt | None = None

    @property
    def began(self) -> datetime | None:
        """When its first phase began, or when an earlier attempt got the table; None before that."""
        if self.past:
            return self.past.started_at
        return self.phases[0].began if self.phases else None

    @property
    def ended(self) -> datetime | None:
        """When it ended, or its last phase; None while one runs."""
        if self.past:
            return self.past.ended_at
        return self.phases[-1].ended if self.phases and not self.phases[-1].runs else None


def timeline(job: ImportJob, now: datetime) -> tuple[Attempt, ...]:
    """The attempts of an import, the first one first."""
    past = attempts.past_attempts(job)
    shown = [Attempt(each.number, tuple(_past_phases(each, job)), each) for each in past]
    # A phase that the end of the import cut short has no end of its own, but it no longer runs.
    present = (replace(each, runs=each.runs and not job.ended) for each in _phases(job, now))
    shown.append(Attempt(job.attempts, tuple(present)))
    longest = max(_span(each.phases) for each in shown)
    return tuple(replace(each, phases=tuple(_placed(each.phases, longest))) for each in shown)


def _past_phases(attempt: models.Attempt, job: ImportJob) -> Iterable[Phase]:
    """The phases of an earlier attempt; of one that an older version kept, the whole is one phase."""
    began, ended = attempt.started_at, attempt.ended_at
    if not (began and ended):
        return
    seconds = attempt.seconds
    if seconds is None:
        yield Phase("All phases", "past", began, ended, runs=False)
        return
    load = ("Load", "load", seconds.loading + seconds.paused, seconds.paused)
    for name, kind, took, paused in (
        load,
        ("Index", "index", seconds.indexing, 0),
        (_verify(job), "verify", seconds.verifying, 0),
    ):
        if took:
            then = began + timedelta(seconds=took)
            yield Phase(name, kind, began, then, runs=False, paused=paused)
            began = then


def _phases(job: ImportJob, now: datetime) -> Iterable[Phase]:
    """The phases of the present attempt that have begun. Scan and load overlap."""
    end = job.finished_at or now
    began = _began(job)
    if job.attempts == 1:
        yield _phase("Wait", "wait", min(job.created_at, began or now), began, end)
    scan = began if not job.scanned_at or (began and job.scanned_at > began) else job.taken_at
    if scan and (job.attempts == 1 or scan == began):
        yield _phase("Scan", "scan", scan, job.scanned_at, end)
    if began is None:
        return
    again = job.status in (Status.UNAPPROVED, Status.WAITING, Status.LOADING, Status.PAUSED)
    loaded = job.loaded_at if job.loaded_at and job.loaded_at >= began and not again else None
    seconds = spent(job, now)
    paused, waited = seconds[Status.PAUSED], seconds[wait_in(Status.LOADING)]
    locked = seconds[locked_in(Status.LOADING)]
    since = job.phase_since if job.status == Status.PAUSED else None
    if since:
        paused -= (now - since).total_seconds()  # The present pause has a bar of its own.
    yield replace(_phase("Load", "load", began, loaded or since, end), paused=paused, waited=waited, locked=locked)
    yield from _lock_waits(job, Status.LOADING)
    if since:
        yield _phase("Paused", "wait", since, None, end)
    if loaded is None:
        return
    yield from _phases_after_load(job, loaded, end)


def _phases_after_load(job: ImportJob, loaded: datetime, end: datetime) -> Iterable[Phase]:
    indexing = job.status == Status.INDEXING
    locked = spent(job, end)[locked_in(Status.INDEXING)]
    blocked = attempts.blocked_seconds(job, end) + locked
    if blocked >= LEAST_WAIT:
        waits = indexing and job.obstacle
        unblocked = loaded + timedelta(seconds=blocked)
        yield _phase("Wait to put keys back", "wait", loaded, None if waits else unblocked, end)
        if waits:
            return
        loaded = min(unblocked, end)
    built = loaded + timedelta(seconds=job.index_seconds)
    if job.index_seconds or indexing:
        yield _phase("Index", "index", loaded, None if indexing else built, end)
    if not indexing:
        seconds = spent(job, end)
        waited = seconds[wait_in(Status.FINISHING)] + seconds[wait_in(Status.VERIFYING)]
        locked = seconds[locked_in(Status.FINISHING)] + seconds[locked_in(Status.VERIFYING)]
        verifying = _phase(_verify(job), "verify", min(built, end), job.finished_at, end)
        yield replace(verifying, waited=waited, locked=locked)
        yield from _lock_waits(job, Status.FINISHING, Status.VERIFYING)


def _lock_waits(job: ImportJob, *during: str) -> Iterable[Phase]:
    """The waits for locks of the present attempt in these statuses."""
    for each in job.lock_waits_json or []:
        if each["attempt"] == job.attempts and each["during"] in during:
            began, ended = (datetime.fromisoformat(each[name]) for name in ("since", "until"))
            yield Phase("Wait for a lock", "wait", began, ended, runs=False)


def _verify(job: ImportJob) -> str:
    return "Finish and verify" if job.stages else "Verify"


def _began(job: ImportJob) -> datetime | None:
    """When the present attempt had its table and, of a first one, a worker; None before that."""
    got_table = attempts.started_at(job)
    if got_table is None or job.attempts > 1 or job.phase_since is None:
        return got_table
    return job.taken_at and max(got_table, job.taken_at)


def _phase(name: str, kind: str, began: datetime, ended: datetime | None, otherwise: datetime) -> Phase:
    """A phase, which has ended before `otherwise`, or continues until then."""
    return Phase(name, kind, began, max(began, ended or otherwise), runs=ended is None)


def _placed(phases: tuple[Phase, ...], longest: timedelta) -> Iterable[Phase]:
    """The phases of an attempt on a scale that `longest` fills; none is too narrow to see, and none leaves it."""
    per_unit = max(longest.total_seconds(), 0.001) / WIDTH
    for each in phases:
        width = min(WIDTH, max(LEAST_UNITS, round(each.seconds / per_unit)))
        start = round((each.began - phases[0].began).total_seconds() / per_unit)
        yield replace(each, start=min(start, WIDTH - width), width=width)


def _span(phases: tuple[Phase, ...]) -> timedelta:
    return max(each.ended for each in phases) - phases[0].began if phases else timedelta()
