"""The sign of life of a running load, and the hand that ends it."""

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from types import TracebackType

from django.conf import settings
from django.db import connections

from importer import jobs
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import Address, kill
from importer.models import ImportJob

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds; a cancelled load ends about so much later


class LeaseKeeper(threading.Thread):
    """Renews a lease while its holder works on a connection in another thread.

    A call into the client library cannot be interrupted from Python. So when the job is cancelled, or the work has been
    given to somebody else, this kills the connection on the server, and `ended_it` says so.

    `renew` takes the connection's id, `wanted` only looks; both tell whether the work is to go on.
    """

    def __init__(
        self, name: str, address: Address, renew: Callable[[int | None], bool], wanted: Callable[[], bool]
    ) -> None:
        super().__init__(name=f"heart of {name}", daemon=True)
        self.ended_it = False
        self._of = name
        self._address = address
        self._renew = renew
        self._wanted = wanted
        self._connection_id: int | None = None
        self._done = threading.Event()

    @classmethod
    def of_run(cls, run: jobs.ChunkRun) -> "LeaseKeeper":
        """The heart of a run of chunks."""
        return cls(str(run), run.job.target.address, partial(jobs.renew_run, run), partial(jobs.wants, run))

    @classmethod
    def of_step(cls, job: ImportJob) -> "LeaseKeeper":
        """The heart of a step that is taken for the whole job."""
        return cls(str(job), job.target.address, partial(jobs.renew_step, job), partial(jobs.wants_step, job))

    @classmethod
    def of_duty(cls, job: ImportJob) -> "LeaseKeeper":
        """The heart of a step that no cancel ends, because it leaves the target as it was."""
        return cls(str(job), job.target.address, partial(jobs.renew_duty, job), partial(jobs.has_duty, job))

    def connected(self, connection_id: int) -> None:
        """The connection that is to be killed if the work must end. Raises Cancelled if it must not even begin."""
        self._connection_id = connection_id
        if not self._renew(connection_id):
            self.ended_it = True
            raise Cancelled("The load is no longer wanted.", where=self._of)

    def __enter__(self) -> "LeaseKeeper":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        renewed = time.monotonic()
        try:
            while not self._done.wait(LOOK_EVERY):
                due = time.monotonic() - renewed >= settings.HEARTBEAT_SECONDS
                wanted = self._renew(self._connection_id) if due else self._wanted()
                if due:
                    renewed = time.monotonic()
                if not wanted:
                    self._end_work()
        except Exception:
            # Without its lease the work is given to another worker; the ledger keeps the two apart.
            log.exception("%s lost its heart", self._of)
        finally:
            connections.close_all()

    def _end_work(self) -> None:
        if self._connection_id is None:
            return
        self.ended_it = True
        try:
            kill(self._address, self._connection_id)
        except Problem as problem:
            log.warning("%s could not be ended, tried again: %s", self._of, problem)
