"""Compare-and-set updates of runs, on importer.lease: one worker at a time holds a run."""

from datetime import timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from importer import lease
from importer.models import DiscoveredFile, Schedule, ScheduleRun
from importer.worker.heartbeat import LeaseKeeper

Status = ScheduleRun.Status
Outcome = DiscoveredFile.Outcome
LEASE = lease.Lease(ScheduleRun)
LONGEST_PAUSE = 3600 * 6  # seconds between two attempts of a run
UNENDED = [Status.WAITING, Status.FINDING, Status.LOADING]


def change(run_id: int, old: list[Status], **values: Any) -> bool:
    """Change the run if it is in one of the `old` states. Returns whether it was."""
    return lease.change(ScheduleRun.objects.filter(pk=run_id, status__in=old), **values)


def claim(run_id: int) -> ScheduleRun | None:
    """The run, for the one worker that may work on it now; None for all others, and before its next attempt is due."""
    now = timezone.now()
    due = Q(retry_at=None) | Q(retry_at__lte=now) | Q(deadline_at__lte=now)
    if not LEASE.claim(ScheduleRun.objects.filter(LEASE.free(), due, pk=run_id, status__in=UNENDED), retry_at=None):
        return None
    return ScheduleRun.objects.select_related("schedule__target", "schedule__connection").get(pk=run_id)


def held(run: ScheduleRun) -> QuerySet[ScheduleRun]:
    """The run, if this attempt still holds it and its state is unchanged (ending it changes it); otherwise no row."""
    return LEASE.held(run).filter(status=run.status)


def change_held(run: ScheduleRun, **values: Any) -> bool:
    """Change the run if held() has it. Returns whether it has."""
    return lease.change(held(run), **values)


def release(run: ScheduleRun) -> None:
    """Give up the run, unless another worker has claimed it. It counts as woken until the next message."""
    LEASE.release(run, woken_at=timezone.now())


def look_again(run: ScheduleRun, seconds: float, **values: Any) -> None:
    """Give up the run until this many seconds have passed; the next tick after them wakes it."""
    later = timezone.now() + timedelta(seconds=seconds)
    LEASE.release(run, woken_at=None, retry_at=later, version=F("version") + 1, **values)


def lease_keeper(run: ScheduleRun) -> LeaseKeeper:
    """Renews the run's lease while files are listed or fetched."""
    return LeaseKeeper(str(run), run.schedule.target, lambda _: LEASE.renew(held(run)), lambda: held(run).exists())


def touch(schedule_id: int) -> None:
    """Increase the schedule's version, so that its page is read again."""
    Schedule.objects.filter(pk=schedule_id).update(version=F("version") + 1)
