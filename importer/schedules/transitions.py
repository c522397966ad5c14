"""The guarded updates of runs: each names the state it leaves and looks at the count, as in jobs/transitions.py."""

from datetime import timedelta
from functools import partial
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from importer.jobs.transitions import lease_end
from importer.models import PickedFile, Run, Schedule
from importer.worker.heartbeat import LeaseKeeper

Status = Run.Status
Outcome = PickedFile.Outcome
UNENDED = [Status.WAITING, Status.FINDING, Status.LOADING]


def change(run_id: int, old: list[Status], **values: Any) -> bool:
    """Change the run if it is in one of the `old` states; whether it was."""
    return bool(Run.objects.filter(pk=run_id, status__in=old).update(version=F("version") + 1, **values))


def claim(run_id: int) -> Run | None:
    """The run, for the one worker that may take it further now; None for everybody else, and before its next try."""
    now = timezone.now()
    free = Q(lease=None) | Q(lease__lte=now)
    due = Q(retry_at=None) | Q(retry_at__lte=now) | Q(deadline_at__lte=now)
    mine = Run.objects.filter(free, due, pk=run_id, status__in=UNENDED)
    if not mine.update(attempt=F("attempt") + 1, lease=lease_end(), retry_at=None):
        return None
    return Run.objects.select_related("schedule__target", "schedule__connection").get(pk=run_id)


def held(run: Run) -> QuerySet[Run]:
    """The run, as long as this attempt holds it and nobody has ended it."""
    return Run.objects.filter(pk=run.pk, attempt=run.attempt, status=run.status)


def change_held(run: Run, **values: Any) -> bool:
    """Change it as its holder; whether we still are that."""
    return bool(held(run).update(version=F("version") + 1, **values))


def release(run: Run) -> None:
    """Whoever held the run holds it no longer. Until the next message it has been woken."""
    Run.objects.filter(pk=run.pk, attempt=run.attempt).update(lease=None, woken_at=timezone.now())


def look_again(run: Run, seconds: float, **values: Any) -> None:
    """Nobody is to take it further for so many seconds; then the next tick lets a worker do so."""
    later = timezone.now() + timedelta(seconds=seconds)
    held = Run.objects.filter(pk=run.pk, attempt=run.attempt)
    held.update(lease=None, woken_at=None, retry_at=later, version=F("version") + 1, **values)


def lease_keeper(run: Run) -> LeaseKeeper:
    """What keeps the lease while files are listed or fetched."""
    return LeaseKeeper(str(run), run.schedule.target.address, lambda _: _renewed(run), partial(_is_mine, run))


def _renewed(run: Run) -> bool:
    return bool(held(run).update(lease=lease_end()))


def _is_mine(run: Run) -> bool:
    return held(run).exists()


def touch(schedule_id: int) -> None:
    """Something that its page shows has changed."""
    Schedule.objects.filter(pk=schedule_id).update(version=F("version") + 1)
