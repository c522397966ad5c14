"""Renews a worker's lease while it works on a target, and kills its connection when the work must stop.

Beside it, waits for locks of others are noticed while they last.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from types import TracebackType

from django.conf import settings
from django.db import OperationalError, connections
from django.utils import timezone

from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import Connection, connect, kill
from importer.engine.mysql.waits import within
from importer.jobs.steps import chunk_leases
from importer.jobs.steps.scanning import is_scan_wanted, renew_scan
from importer.jobs.steps.staging import is_step_wanted, renew_step
from importer.jobs.steps.target_changes import owns_target_change, renew_target_change
from importer.models import ImportJob, Target
from importer.worker import shutdown

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0  # a cancelled load ends within about this time
KILL_SECONDS = 5.0  # for a server that is asked to kill a connection
# A connection of which nothing moves for this time is looked at; then again after this time.
LOOK_SECONDS = 2.0
ANSWER_SECONDS = 10


class LockWatch(threading.Thread):
    """Looks at the server while nothing of a connection's work moves, and records its waits for locks of others.

    `moves` counts what shows that the work goes on. It has a thread of its own, because a server that does not answer
    must not hold up the renewal of a lease. Where it cannot look, the waits are not known, and nothing else fails.
    """

    def __init__(self, job: ImportJob, moves: Callable[[], int] = lambda: 0) -> None:
        super().__init__(name=f"locks of {job}", daemon=True)
        self._job = job
        self._moves = moves
        self._connection_id: int | None = None
        self._done = threading.Event()

    def connected(self, connection_id: int) -> None:
        """Set the connection to look at."""
        self._connection_id = connection_id

    def __enter__(self) -> "LockWatch":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join(CHECK_SECONDS)

    def run(self) -> None:
        moves, since = self._moves(), timezone.now()
        try:
            while not self._done.wait(LOOK_SECONDS):
                if self._connection_id is None or self._moves() != moves:
                    moves, since = self._moves(), timezone.now()
                    continue
                # For the whole server: looking must not keep the database in use.
                with connect(replace(self._job.target.address, database=""), ANSWER_SECONDS) as server:
                    since = self._look_on(server, moves, since)
        except Exception as error:  # Whatever it is, the work itself is not affected.
            log.info("%s: waits for locks are not recorded: %s", self._job, error)
        finally:
            connections.close_all()

    def _look_on(self, server: Connection, moves: int, since: datetime) -> datetime:
        """Look while nothing moves. Returns the time of the last look."""
        from importer.jobs.lock_waits import look  # Few loads need it.

        while self._moves() == moves and self._connection_id is not None:
            now = timezone.now()
            look(self._job, self._connection_id, server, since)
            since = now
            if self._done.wait(LOOK_SECONDS):
                break
        return since


class LeaseKeeper(threading.Thread):
    """Renews a lease while its holder works on a connection in another thread.

    A call into the client library cannot be interrupted from Python. So when the job is cancelled, or another worker
    was given the work, this thread kills the connection on the server and sets `killed`. A load on it ends even if the
    server does not: the ledger decides whether it counts.

    `renew` takes the connection's id and renews the lease; `is_wanted` only reads. Both return False when the work must
    stop. `yields`: work that is not done GRACE_SECONDS after this worker was asked to stop is ended as well, and sets
    `stopped`: it can be rolled back, and another worker continues it. `locks` looks at the connection.
    """

    def __init__(
        self,
        of: object,
        target: Target,
        renew: Callable[[int | None], bool],
        is_wanted: Callable[[], bool],
        *,
        yields: bool = False,
        locks: LockWatch | None = None,
    ) -> None:
        super().__init__(name=f"lease of {of}", daemon=True)
        self.killed = False
        self.stopped = False
        self._yields = yields
        self._locks = locks
        self._asked_to_stop_at: float | None = None
        self._of = of
        self._target = target
        self._renew = renew
        self._is_wanted = is_wanted
        self._connection_id: int | None = None
        self._give_up: Callable[[], None] = lambda: None
        self._done = threading.Event()
        self._renewed_at = time.monotonic()

    @classmethod
    def for_run(cls, run: chunk_leases.ChunkRun, moves: Callable[[], int]) -> "LeaseKeeper":
        """For the leases of a run's chunks. `moves` counts what is sent of them."""
        renew, is_wanted = partial(chunk_leases.renew_run, run), partial(chunk_leases.is_wanted, run)
        locks = LockWatch(run.job, moves)
        return cls(run, run.job.target, renew, is_wanted, yields=run.job.plan.rolls_back, locks=locks)

    @classmethod
    def for_step(cls, job: ImportJob) -> "LeaseKeeper":
        """For a step of the whole job. Cancelling the job kills it."""
        return cls(job, job.target, partial(renew_step, job), partial(is_step_wanted, job), locks=LockWatch(job))

    @classmethod
    def for_scan(cls, job: ImportJob) -> "LeaseKeeper":
        """For the scan. It has no connection to kill, and looks itself whether it is wanted, after each chunk."""
        return cls(job, job.target, lambda _: renew_scan(job), partial(is_scan_wanted, job))

    @classmethod
    def for_target_change(cls, job: ImportJob) -> "LeaseKeeper":
        """For the steps that change and restore the target. Cancelling the job does not kill them."""
        renew, is_wanted = partial(renew_target_change, job), partial(owns_target_change, job)
        return cls(job, job.target, renew, is_wanted, locks=LockWatch(job))

    def connected(self, connection_id: int, give_up: Callable[[], None] = lambda: None) -> None:
        """Set the connection to kill when the work must stop. Raises Cancelled if the work must not even begin.

        `give_up` ends the work's wait for a server that does not end the connection.
        """
        self._connection_id, self._give_up = connection_id, give_up
        if self._locks:
            self._locks.connected(connection_id)
        self.require(self._renew(connection_id))

    def require(self, held: bool) -> None:
        """Raise Cancelled unless this worker still holds the work."""
        if not held:
            self.killed = True
            raise Cancelled("The load is no longer wanted.", where=str(self._of))

    def __enter__(self) -> "LeaseKeeper":
        self.start()
        if self._locks:
            self._locks.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self.join()
        if self._locks:
            self._locks.__exit__()

    def run(self) -> None:
        try:
            while not self._done.wait(CHECK_SECONDS):
                try:
                    self._look()
                except OperationalError:
                    # Tried again until the work ends. If its lease expires before, the work is given to another worker,
                    # and the ledger keeps the two apart.
                    log.exception("%s: the lease could not be renewed, trying again", self._of)
                    connections.close_all()
        except Exception:
            log.exception("%s: the lease can no longer be renewed", self._of)
        finally:
            connections.close_all()

    def _look(self) -> None:
        """Renew the lease if that is due, and kill the connection if the work must stop."""
        due = time.monotonic() - self._renewed_at >= settings.HEARTBEAT_SECONDS
        wanted = self._renew(self._connection_id) if due else self._is_wanted()
        if due:
            self._renewed_at = time.monotonic()
        if wanted and self._overdue():
            self.stopped = True
        if self.stopped or not wanted:
            self._kill()

    def _overdue(self) -> bool:
        """Whether this worker was asked to stop GRACE_SECONDS ago, and the work can be given up."""
        if not self._yields or not shutdown.requested():
            return False
        now = time.monotonic()
        self._asked_to_stop_at = self._asked_to_stop_at or now
        return now - self._asked_to_stop_at >= shutdown.GRACE_SECONDS

    def _kill(self) -> None:
        if self._connection_id is None:
            return
        if self.killed:
            self._give_up()
        self.killed = True
        try:
            with within(KILL_SECONDS):
                kill(self._target.address, self._connection_id)
        except Problem as problem:
            log.warning("%s: the connection could not be killed, trying again: %s", self._of, problem)
