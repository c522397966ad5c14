"""Bounds of a server's answers: connections that are cut when an answer takes too long, or is too long.

The client library counts its time-outs for each read, keeps in memory everything that a server sends, and cannot be
interrupted. A thread therefore looks at the connections that wait for an answer, and shuts the sockets of those that
wait beyond their time or have received too much. The library then reports a lost connection.
"""

import ctypes
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Any

import MySQLdb
from MySQLdb.connections import Connection as _Connection
from MySQLdb.constants import CR

from importer.engine.units import MIB

SIGN_IN_SECONDS = 20.0  # for all of it, from the first packet to the session's settings
# What may come until a statement is done: columns (4,096 at most) and errors; then the rows of a result that is read
# at once. The largest of these is a file on the database's host (64 MiB).
HEAD_BYTES = 8 * MIB
ROWS_BYTES = 80 * MIB
# For all that a check or a plan asks of a server.
ASKING_SECONDS = 120.0
LOOK_SECONDS = 0.05
IDLE_LOOKS = 100  # without a wait, after which the thread sleeps until there is one
MOST_RESULTS = 10  # of one statement; none of ours has more than one
FETCHED = 1000  # rows at a time
# The beginning of the texts of errors of connections that were cut.
CUT = "Millrace has cut the connection: "
# tcpi_bytes_received in struct tcp_info (linux/tcp.h, since 4.1).
_RECEIVED = struct.Struct("128xQ")

# This resolves the client library that mysqlclient links, and no other (server-behaviour.md, The local-infile
# callback).
library = ctypes.CDLL(MySQLdb._mysql.__file__)
library.mysql_get_socket.argtypes = [ctypes.c_void_p]
library.mysql_get_socket.restype = ctypes.c_int

_UNTIL = ContextVar("until", default=inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let all waits in the block end after this number of seconds from now, or earlier by a deadline around it."""
    token = _UNTIL.set(min(until(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def until() -> float:
    """The moment by which waits end (time.monotonic()); infinite without a deadline."""
    return _UNTIL.get()


@dataclass(eq=False)
class _Wait:
    """A wait for at most `most` bytes until a moment (time.monotonic()), on a MYSQL structure at this address."""

    handle: int
    until: float
    most: int
    received_before: int | None = None
    cut: str = ""

    def look(self, now: float) -> None:
        """Cut the connection if it has waited too long or received too much."""
        number = library.mysql_get_socket(self.handle)
        if self.cut or number < 0:
            return
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as copy:
            received = _received(copy)
            if self.received_before is None:
                self.received_before = received
            if now > self.until:
                self.cut = f"{CUT}its server has not answered in time."
            elif received - self.received_before > self.most:
                self.cut = f"{CUT}its server has sent more than {self.most // MIB} MiB in answer to one statement."
            if self.cut:
                copy.shutdown(socket.SHUT_RDWR)


class _Watch:
    """The waits of this process, and the thread that looks at them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waits: set[_Wait] = set()
        self._idle = False
        self._thread: threading.Thread | None = None

    def add(self, wait: _Wait) -> None:
        with self._changed:
            self._waits.add(wait)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="answers", daemon=True)
                self._thread.start()
            if self._idle:
                self._changed.notify()

    def drop(self, wait: _Wait) -> None:
        with self._changed:
            self._waits.discard(wait)

    def end_thread(self) -> None:
        with self._changed:
            if self._waits or self._thread is None:
                return
            thread, self._thread = self._thread, None
            self._changed.notify()
        thread.join()

    def _run(self) -> None:
        looks = 0
        with self._changed:
            while self._thread is threading.current_thread():
                self._idle = looks > IDLE_LOOKS
                self._changed.wait(None if self._idle else LOOK_SECONDS)
                for wait in self._waits:
                    wait.look(time.monotonic())
                looks = 0 if self._waits else looks + 1


_watch = _Watch()


def end_thread() -> None:
    """End the thread that looks at the waits, if there is no wait: a process with threads is not to be forked.

    The next wait begins another one.
    """
    _watch.end_thread()


def _forget() -> None:
    """Begin again in a child process, which has none of the threads."""
    global _watch
    _watch = _Watch()


os.register_at_fork(after_in_child=_forget)


def _received(connected: socket.socket) -> int:
    """The bytes that a connection has received; 0 where the system does not count them, as for Unix sockets."""
    if connected.family == socket.AF_UNIX or not hasattr(socket, "TCP_INFO"):
        return 0
    counted = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED.size)
    return int(_RECEIVED.unpack(counted)[0]) if len(counted) == _RECEIVED.size else 0


def _lost(why: str) -> MySQLdb.OperationalError:
    return MySQLdb.OperationalError(CR.SERVER_LOST, why)


class Connection(_Connection):
    """A connection whose server has `answer_seconds` for all of the answer to a statement.

    Each method that waits raises OperationalError (2013, CUT) when its bounds are passed. The connection is then cut.
    """

    # Infinite while the server still takes what the statement sends it.
    answer_seconds: float = SIGN_IN_SECONDS
    _results = 0
    _wait: _Wait | None = None

    def __init__(self, **options: Any) -> None:
        """Sign in within SIGN_IN_SECONDS. `read_timeout`: the seconds for each answer after that."""
        self._read_timeout = options["read_timeout"]
        with self._awaited():
            super().__init__(**options)
        self.answer_seconds = self._read_timeout

    @contextmanager
    def _awaited(self, most: int = HEAD_BYTES) -> Iterator[None]:
        # The MYSQL structure follows the head of the object, also before the connection is open.
        handle = id(self) + object.__basicsize__
        wait = self._wait = _Wait(handle, min(until(), time.monotonic() + self.answer_seconds), most)
        _watch.add(wait)
        try:
            yield
        except MySQLdb.Error as error:
            if wait.cut:
                raise _lost(wait.cut) from error
            raise
        finally:
            _watch.drop(wait)

    def sent(self) -> None:
        """The server has all that the statement sends: its answer is due."""
        if self._wait:
            self._wait.until = min(until(), time.monotonic() + self._read_timeout)

    def cut(self) -> None:
        """Shut the socket, so that nothing more is read from the server."""
        with suppress(OSError), socket.socket(fileno=os.dup(self.fileno())) as copy:
            copy.shutdown(socket.SHUT_RDWR)

    def query(self, query: str | bytes | bytearray) -> None:
        """Send a statement and wait for its answer, up to the columns of a result."""
        self._results = 0
        with self._awaited():
            super().query(query)

    def store_result(self) -> Any:
        """All rows of the result."""
        with self._awaited(ROWS_BYTES):
            return super().store_result()

    def next_result(self) -> int:
        """Go to the next result; -1 if there is none."""
        self._results += 1
        if self._results > MOST_RESULTS:
            self.cut()
            raise _lost(f"{CUT}its server has sent more than {MOST_RESULTS} results.")
        with self._awaited():
            return int(super().next_result())

    def discard_result(self) -> None:
        """Read the rows of the result for nothing."""
        with self._awaited(ROWS_BYTES):
            super().discard_result()

    def commit(self) -> None:
        with self._awaited():
            super().commit()

    def rollback(self) -> None:
        with self._awaited():
            super().rollback()

    def ping(self) -> None:
        with self._awaited():
            super().ping()

    def stream(self, sql: str, most: int) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, some at a time. Beyond `most` rows the connection is cut."""
        self.query(sql)
        result, count = self.use_result(), 0
        with self._awaited(ROWS_BYTES):
            while rows := result and result.fetch_row(FETCHED):
                count += len(rows)
                if count > most:
                    self.cut()
                    raise _lost(f"{CUT}its server has sent more than {most:,} rows.")
                yield from rows
