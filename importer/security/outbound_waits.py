"""Bounds of what a place of files may take: the time of its answers, and the pace at which a file's bytes come.

Each kind of place has a library of its own, so the bounds are those of the sockets (engine/mysql/waits.py).
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from socket import socket
from time import monotonic

from importer.engine.errors import NoConnection, SourceProblem
from importer.engine.mysql.sign_in import reasons
from importer.engine.mysql.waits import LOOK_SECONDS, Pace, moved, shut, until, watched

# Of waiting for all answers in one check, list or fetch, in which a file's own bytes do not count.
ANSWERS_SECONDS = 600.0
# Bytes of a file that must come in each second, on average over a window of seconds of waiting for them.
SLOWEST, WINDOW_SECONDS = 1000, 60.0


class _Turn(Enum):
    ANSWER = "the place answers"
    FILE = "the place sends a file"
    OURS = "the place waits for us"


@dataclass(eq=False)
class _Talk:
    """All that one operation asks of a place. `answer_by`: the moment (time.monotonic()) for the first answer."""

    where: str
    until: float
    answer_by: float
    turn: _Turn = _Turn.ANSWER
    # Copies of the connections' sockets, by the numbers that the system has for them.
    sockets: dict[int, socket] = field(default_factory=dict)
    pace: Pace = field(default_factory=lambda: Pace(SLOWEST, WINDOW_SECONDS))
    problem: SourceProblem | None = None
    _waited: float = 0.0

    def look(self, now: float) -> None:
        """Cut the connections of a place that is too slow."""
        if not self.problem and self.turn is _Turn.FILE and self.pace.is_slow(self._moved):
            self.problem = self._too_slow()
        if not self.problem and self.turn is _Turn.ANSWER:
            self._waited += LOOK_SECONDS
            if now > min(self.until, self.answer_by) or self._waited > ANSWERS_SECONDS:
                self.problem = self._too_late()
        if self.problem:
            for each in list(self.sockets.values()):
                shut(each)

    def left(self) -> float:
        """Seconds in which a further connection must be there; one for a file's bytes has no moment."""
        if self.problem:
            return 0.0
        return inf if self.turn is _Turn.FILE else min(self.until, self.answer_by) - monotonic()

    def _too_slow(self) -> SourceProblem:
        floor = f"fewer than {self.pace.least:,} a second for {self.pace.window:,.0f} s"
        what = f"The file comes too slowly: {self._moved():,} bytes so far, and {floor}."
        advice = "Try again later, look at the load of the server and of the network, or upload the file."
        return SourceProblem(what, self.where, advice, retryable=True)

    def _too_late(self) -> NoConnection:
        what = f"The answers take too long: {self._moved():,} bytes came in {self._waited:,.0f} s of waiting."
        advice = "Try again later, and look at the load of the server. For a long list, write a more specific pattern."
        return NoConnection(what, self.where, advice, retryable=True)

    def _moved(self) -> int:
        counted = map(moved, list(self.sockets.values()))
        return sum(each.received for each in counted if each)


_TALK: ContextVar[_Talk | None] = ContextVar("talk", default=None)


@contextmanager
def talking(where: str) -> Iterator[None]:
    """Bound all that is asked of a place in the block; a block within another one is a part of it.

    Raises NoConnection if the answers come too late, and SourceProblem if a file's bytes come too slowly. Both are
    retryable, and come in place of the error that the cut connection led to.
    """
    if _TALK.get():
        yield
        return
    talk = _Talk(where, until(), monotonic() + reasons.first_answer_seconds())
    token = _TALK.set(talk)
    try:
        with watched(talk):
            yield
    except Exception as error:
        if talk.problem:
            raise talk.problem from error
        raise
    finally:
        _TALK.reset(token)
        for each in talk.sockets.values():
            each.close()
    if talk.problem:
        raise talk.problem


def seconds_for(wanted: float) -> float:
    """Of these seconds as many as there are for a further connection. Raises TimeoutError if there are none."""
    talk = _TALK.get()
    left = min(wanted, talk.left()) if talk else wanted
    if left <= 0:
        raise TimeoutError("no time is left")
    return left


def bound(connected: socket) -> None:
    """Let the bounds hold for a connection, until the end of the talk."""
    talk, number = _TALK.get(), connected.fileno()
    if talk and (known := os.fstat(number).st_ino) not in talk.sockets:
        # A socket of TLS cannot be copied as such.
        talk.sockets[known] = socket(fileno=os.dup(number))


def answered() -> None:
    """The place has shown what it is: from now on only the bounds for all its answers hold.

    Raises the problem of a place that was cut: what came may look like a whole answer.
    """
    if talk := _TALK.get():
        if talk.problem:
            raise talk.problem
        talk.answer_by = inf


def awaiting_file() -> AbstractContextManager[None]:
    """In the block a file's bytes are waited for."""
    return _turn(_Turn.FILE)


def own_work() -> AbstractContextManager[None]:
    """In the block the place waits for us."""
    return _turn(_Turn.OURS)


@contextmanager
def _turn(turn: _Turn) -> Iterator[None]:
    talk = _TALK.get()
    if not talk:
        yield
        return
    before, talk.turn = talk.turn, turn
    try:
        yield
    finally:
        talk.turn = before
