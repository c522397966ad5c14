"""Who may change a lab: one worker at a time, while its attempt is the lab's; as in jobs/transitions.py."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from importer.engine.load.finish import READ_TIMEOUT
from importer.engine.mysql.connection import Connection, connect, kill
from importer.jobs.transitions import LONGEST_BACKOFF, lease_end
from importer.models import Lab
from importer.worker.heartbeat import LeaseKeeper

Status = Lab.Status
UNENDED = [Status.WAITING, Status.PREPARING, Status.RUNNING, Status.ENDING]


def change(lab_id: int, old: list[Status], **values: Any) -> bool:
    """Change the lab if it is in one of the `old` states; whether it was."""
    return bool(Lab.objects.filter(pk=lab_id, status__in=old).update(version=F("version") + 1, **values))


def claim(lab_id: int) -> Lab | None:
    """The lab, for the one worker that may take it further now; None for everybody else."""
    free = Q(lease=None) | Q(lease__lte=timezone.now())
    if not Lab.objects.filter(free, pk=lab_id, status__in=UNENDED).update(attempt=F("attempt") + 1, lease=lease_end()):
        return None
    return Lab.objects.select_related("target", "source", "sample").get(pk=lab_id)


def held(lab: Lab) -> QuerySet[Lab]:
    """The lab, as long as this attempt holds it and nobody has cancelled it."""
    return Lab.objects.filter(pk=lab.pk, attempt=lab.attempt, status=lab.status)


def change_held(lab: Lab, **values: Any) -> bool:
    """Change it as its holder; whether we still are that."""
    return bool(held(lab).update(version=F("version") + 1, **values))


def renew(lab: Lab, connection_id: int | None = None) -> bool:
    """A sign of life, and the connection that is to be killed if it is the last; False if the work is not wanted."""
    return bool(held(lab).update(lease=lease_end(), connection_id=connection_id))


def release(lab: Lab) -> None:
    """Whoever held the lab holds it no longer."""
    Lab.objects.filter(pk=lab.pk, attempt=lab.attempt).update(lease=None, connection_id=None, failures=0)


def backoff(lab: Lab) -> int:
    """A piece has failed: nobody is to try again for so many seconds, twice as many each time."""
    delay: int = min(LONGEST_BACKOFF, 2**lab.failures)
    Lab.objects.filter(pk=lab.pk, attempt=lab.attempt).update(
        lease=timezone.now() + timedelta(seconds=delay), connection_id=None, failures=min(lab.failures + 1, 1000)
    )
    return delay


def end(lab: Lab, becomes: Status, problem: dict[str, Any] | None = None) -> bool:
    """Nothing more is tried: what was made is to be dropped."""
    return change_held(lab, status=Status.ENDING, becomes=becomes, problem=problem or {}, waits_for="")


def lease_keeper(lab: Lab) -> LeaseKeeper:
    """What keeps the lease, and ends the work on the target once it is no longer wanted."""
    return LeaseKeeper(str(lab), lab.target.address, partial(renew, lab), lambda: held(lab).exists())


@contextmanager
def connected(lab: Lab, keeper: LeaseKeeper) -> Iterator[Connection]:
    """A connection to the target, on which nobody who held the lab before does anything any more."""
    if lab.connection_id:
        kill(lab.target.address, lab.connection_id)
    with connect(lab.target.address, READ_TIMEOUT) as connection:
        keeper.connected(connection.thread_id())
        yield connection
