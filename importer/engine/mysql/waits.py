"""Waits for servers of others. A thread cuts those that take too long, that get too much, or that get too little.

The libraries count their time-outs for each read and write, keep in memory everything that a server sends, and cannot
be interrupted. A thread therefore looks at all waits of the process, and shuts the sockets of those beyond their
bounds. The library then reports a lost connection; who waits says why.
"""

import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Protocol

# For all that a check or a plan asks of a server, or of a place of files.
ASKING_SECONDS = 120.0
LOOK_SECONDS = 0.05
IDLE_LOOKS = 100  # without a wait, after which the thread sleeps until there is one
# tcpi_bytes_acked and tcpi_bytes_received in struct tcp_info (linux/tcp.h, since 4.1).
_MOVED = struct.Struct("120xQQ")

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


@dataclass(frozen=True)
class Moved:
    """The bytes that a connection has sent, as far as the other side has taken them, and received."""

    sent: int
    received: int


def moved(connected: socket.socket) -> Moved | None:
    """What a connection has moved; None where the system does not count it, as for Unix sockets."""
    if connected.family == socket.AF_UNIX or not hasattr(socket, "TCP_INFO"):
        return None
    counted = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _MOVED.size)
    return Moved(*_MOVED.unpack(counted)) if len(counted) == _MOVED.size else None


def shut(connected: socket.socket) -> None:
    """Let nothing more be read from the connection, nor written to it."""
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


@dataclass
class Pace:
    """Whether at least `least` bytes a second move, in each `window` of seconds in which the other side is waited for.

    Looks are counted and not the clock: a process that was stopped has not waited.
    """

    least: int
    window: float
    _waited: float = 0.0
    _before: int | None = None

    def is_slow(self, moved_bytes: Callable[[], int]) -> bool:
        """Count a look at the wait, whose connections have moved so many bytes."""
        if self._before is None:
            self._before = moved_bytes()
        self._waited += LOOK_SECONDS
        if self._waited < self.window:
            return False
        now = moved_bytes()
        slow = now - self._before < self.least * self.window
        self._waited, self._before = 0.0, now
        return slow


class Wait(Protocol):
    """What the thread looks at."""

    def look(self, now: float) -> None:
        """Cut the connections if they are beyond their bounds. `now`: time.monotonic()."""


class _Watch:
    """The waits of this process, and the thread that looks at them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waits: set[Wait] = set()
        self._idle = False
        self._thread: threading.Thread | None = None

    def add(self, wait: Wait) -> None:
        with self._changed:
            self._waits.add(wait)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="waits", daemon=True)
                self._thread.start()
            if self._idle:
                self._changed.notify()

    def drop(self, wait: Wait) -> None:
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


@contextmanager
def watched(wait: Wait) -> Iterator[None]:
    """Have the wait looked at in the block, and not any more at its end."""
    _watch.add(wait)
    try:
        yield
    finally:
        _watch.drop(wait)


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
