"""Bounds of a server's answers, and of how slowly it takes a load: connections that are cut beyond them (waits.py)."""

import ctypes
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from typing import Any

import MySQLdb
from MySQLdb.connections import Connection as _Connection
from MySQLdb.constants import CR

from importer.engine.mysql.waits import Pace, moved, shut, until, watched
from importer.engine.units import MIB

SIGN_IN_SECONDS = 20.0  # for all of it, from the first packet to the session's settings
# What may come until a statement is done: columns (4,096 at most) and errors; then the rows of a result that is read
# at once. The largest of these is a file on the database's host (64 MiB).
HEAD_BYTES = 8 * MIB
ROWS_BYTES = 80 * MIB
# Bytes of a load that a server must take in each second, on average over the time that it may be silent. It waits for
# locks and disks, but not for so long.
SLOWEST_LOAD = 100
MOST_RESULTS = 10  # of one statement; none of ours has more than one
FETCHED = 1000  # rows at a time
# The beginning of the texts of errors of connections that were cut.
CUT = "Millrace has cut the connection: "

# This resolves the client library that mysqlclient links, and no other (server-behaviour.md, The local-infile
# callback).
library = ctypes.CDLL(MySQLdb._mysql.__file__)
library.mysql_get_socket.argtypes = [ctypes.c_void_p]
library.mysql_get_socket.restype = ctypes.c_int


@dataclass(eq=False)
class _Wait:
    """A wait for at most `most` bytes until a moment (time.monotonic()), on a MYSQL structure at this address.

    `pace`: how quickly the server must take what the statement sends it, while that is not `ours` to bring.
    """

    handle: int
    until: float
    most: int
    pace: Pace | None = None
    ours: bool = False
    received_before: int | None = None
    cut: str = ""

    def look(self, now: float) -> None:
        """Cut the connection if it has waited too long, received too much, or moves too slowly."""
        number = library.mysql_get_socket(self.handle)
        if self.cut or number < 0:
            return
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as copy:
            if why := self._why(copy, now):
                self.cut = f"{CUT}its server has {why}."
                shut(copy)

    def _why(self, connected: socket.socket, now: float) -> str:
        counted = moved(connected)
        received, taken = (counted.received, counted.sent) if counted else (0, 0)
        if self.received_before is None:
            self.received_before = received
        if now > self.until:
            return "not answered in time"
        if received - self.received_before > self.most:
            return f"sent more than {self.most // MIB} MiB in answer to one statement"
        pace = self.pace
        if counted and pace and not self.ours and pace.is_slow(lambda: taken):
            return f"taken fewer than {pace.least:,} bytes a second for {pace.window:,.0f} s; in all {taken:,} bytes"
        return ""


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
    _pace: Pace | None = None

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
        wait = self._wait = _Wait(handle, min(until(), time.monotonic() + self.answer_seconds), most, self._pace)
        with watched(wait):
            try:
                yield
            except MySQLdb.Error as error:
                if wait.cut:
                    raise _lost(wait.cut) from error
                raise

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Statements in the block send data. The time of the answer begins at its end, and until then its pace counts.

        `ours()` is the time that it takes to bring the data, and `sent()` its end.
        """
        self.answer_seconds, self._pace = inf, Pace(SLOWEST_LOAD, self._read_timeout)
        try:
            yield
        finally:
            self.answer_seconds, self._pace = self._read_timeout, None

    @contextmanager
    def ours(self) -> Iterator[None]:
        """The server waits for us."""
        if self._wait:
            self._wait.ours = True
        try:
            yield
        finally:
            if self._wait:
                self._wait.ours = False

    def sent(self) -> None:
        """The server has all that the statement sends: its answer is due."""
        if self._wait:
            self._wait.until, self._wait.pace = min(until(), time.monotonic() + self._read_timeout), None

    def give_up(self) -> None:
        """End the wait for the server, if there is one; for other threads than the one that waits."""
        if self._wait:
            self._wait.until = -inf

    def cut(self) -> None:
        """Shut the socket, so that nothing more is read from the server."""
        with suppress(OSError), socket.socket(fileno=os.dup(self.fileno())) as copy:
            shut(copy)

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
