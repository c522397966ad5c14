"""The sign of life of a running load, and the hand that ends it."""

import logging
import threading
import time
from types import TracebackType

from django.conf import settings
from django.db import connections

from importer import jobs
from importer.engine.connection import kill
from importer.engine.errors import Cancelled, Problem
from importer.models import Chunk

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds; a cancelled load ends about so much later


class Heart(threading.Thread):
    """Renews the chunk's lease while its load runs in another thread.

    A call into the client library cannot be interrupted from Python. So when the job is cancelled, or the chunk has
    been given to somebody else, this kills the load's connection on the server, and `ended_it` says so.
    """

    def __init__(self, chunk: Chunk) -> None:
        super().__init__(name=f"heart of {chunk}", daemon=True)
        self.ended_it = False
        self._chunk = chunk
        self._connection_id: int | None = None
        self._done = threading.Event()

    def connected(self, connection_id: int) -> None:
        """The load's connection: what is to be killed if it must end. Raises Cancelled if it must not even begin."""
        self._connection_id = connection_id
        if not jobs.renew_chunk(self._chunk, connection_id):
            self.ended_it = True
            raise Cancelled("The load is no longer wanted.", where=str(self._chunk))

    def __enter__(self) -> "Heart":
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
                wanted = jobs.renew_chunk(self._chunk, self._connection_id) if due else jobs.wants(self._chunk)
                if due:
                    renewed = time.monotonic()
                if not wanted:
                    self._end_load()
        except Exception:
            # Without its lease the chunk is given to another worker; the ledger keeps the two apart.
            log.exception("%s lost its heart", self._chunk)
        finally:
            connections.close_all()

    def _end_load(self) -> None:
        if self._connection_id is None:
            return
        self.ended_it = True
        try:
            kill(self._chunk.job.target.address, self._connection_id)
        except Problem as problem:
            log.warning("%s could not be ended, tried again: %s", self._chunk, problem)
