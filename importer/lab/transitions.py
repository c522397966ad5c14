"""Compare-and-set updates of labs, on importer.lease: one worker at a time holds a lab."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db.models import QuerySet

from importer import lease
from importer.engine.load.finish import READ_TIMEOUT
from importer.engine.mysql.connection import Connection, connect, kill
from importer.models import Lab
from importer.worker.heartbeat import LeaseKeeper

Status = Lab.Status
LEASE = lease.Lease(Lab)
UNENDED = [Status.WAITING, Status.PREPARING, Status.RUNNING, Status.ENDING]


def change(lab_id: int, old: list[Status], **values: Any) -> bool:
    """Change the lab if it is in one of the `old` states. Returns whether it was."""
    return lease.change(Lab.objects.filter(pk=lab_id, status__in=old), **values)


def claim(lab_id: int) -> Lab | None:
    """Claim the lab for this worker. Returns None if another worker holds it or it has ended."""
    if not LEASE.claim(Lab.objects.filter(LEASE.free(), pk=lab_id, status__in=UNENDED)):
        return None
    return Lab.objects.select_related("target", "source", "sample").get(pk=lab_id)


def held(lab: Lab) -> QuerySet[Lab]:
    """The lab, if this attempt still holds it and its state is unchanged (a cancel changes it); otherwise no row."""
    return LEASE.held(lab).filter(status=lab.status)


def change_held(lab: Lab, **values: Any) -> bool:
    """Change the lab if this attempt still holds it (held()). Returns whether it does."""
    return lease.change(held(lab), **values)


def renew(lab: Lab, connection_id: int | None = None) -> bool:
    """Renew the lease, and store the connection to kill if the worker dies. False: the work is no longer wanted."""
    return LEASE.renew(held(lab), connection_id=connection_id)


def release(lab: Lab) -> None:
    """Give up the lab after a success, unless another worker has claimed it."""
    LEASE.release(lab, connection_id=None, failures=0)


def backoff(lab: Lab) -> int:
    """After a failure: returns the seconds until the lab may be claimed again; they double with each failure."""
    return LEASE.postpone(lab)


def end(lab: Lab, becomes: Status, problem: dict[str, Any] | None = None) -> bool:
    """End the trials. What the lab has made is dropped next, and then the lab `becomes` this state.

    Returns False, and changes nothing, if this attempt does not hold the lab any more, or the lab was ending already.
    """
    if lab.status == Status.ENDING:
        return False
    return change_held(lab, status=Status.ENDING, becomes=becomes, problem=problem or {}, waits_for="")


def lease_keeper(lab: Lab) -> LeaseKeeper:
    """Renews the lab's lease, and kills the work on the target when it is no longer wanted."""
    return LeaseKeeper(str(lab), lab.target, partial(renew, lab), lambda: held(lab).exists())


@contextmanager
def connected(lab: Lab, keeper: LeaseKeeper) -> Iterator[Connection]:
    """A connection to the target, after the connection of the lab's earlier holder was killed."""
    if lab.connection_id:
        kill(lab.target.address, lab.connection_id)
    with connect(lab.target.address, READ_TIMEOUT) as connection:
        keeper.connected(connection.thread_id())
        yield connection
