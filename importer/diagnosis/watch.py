"""Looks at a target's server every LOOK_SECONDS, while somebody watches an import into it.

A thread of the process that was asked first does it, so that no page waits for a server. What it saw is in Redis, for
all who watch, in any process. WATCHED_SECONDS after the last one asked, the thread ends and closes its connection.
"""

import json
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import MySQLdb

from importer import queue
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, connect
from importer.engine.mysql.diagnosis.counters import Counters
from importer.engine.mysql.diagnosis.snapshot import Snapshot, read_snapshot
from importer.engine.stored import from_json, to_json
from importer.models import Target
from importer.worker import live_progress

LOOK_SECONDS = 2.0
WATCHED_SECONDS = 10
# Looks whose counters are kept, for a chart: ten minutes.
KEPT_LOOKS = 300
READ_TIMEOUT = 10  # seconds
# Longer than a look takes at most, so that no second thread begins during one.
CLAIM_SECONDS = 40


@dataclass(frozen=True)
class Seen:
    """The last look at a server, None before the first, and the counters of the looks before it, the oldest first."""

    snapshot: Snapshot | None = None
    counters: tuple[Counters, ...] = ()

    def before(self, seconds: float) -> Counters | None:
        """The counters of at least `seconds` before the last look; the oldest if there are none; None without two."""
        if self.snapshot is None or len(self.counters) < 2:
            return None
        wanted = self.snapshot.at - seconds
        older = [each for each in self.counters[:-1] if each.at <= wanted]
        return older[-1] if older else self.counters[0]


class Board(Protocol):
    """Where the looks at one server are kept."""

    def claim(self) -> bool:
        """Note that somebody watches; whether the caller must look from now on, because nobody else does."""

    def wanted(self) -> bool:
        """Whether somebody still watches. Called by the one who looks, and keeps the claim."""

    def put(self, snapshot: Snapshot) -> None:
        """Keep a look."""

    def release(self) -> None:
        """Give up the claim."""

    def seen(self) -> Seen:
        """What is kept."""


class MemoryBoard:
    """In this process, for a command that runs without Redis."""

    def __init__(self) -> None:
        self._asked_at = float("-inf")
        self._claimed = False
        self._seen = Seen()

    def claim(self) -> bool:
        self._asked_at = time.monotonic()
        first, self._claimed = not self._claimed, True
        return first

    def wanted(self) -> bool:
        return time.monotonic() - self._asked_at < WATCHED_SECONDS

    def put(self, snapshot: Snapshot) -> None:
        self._seen = Seen(snapshot, (*self._seen.counters, *_counted(snapshot))[-KEPT_LOOKS:])

    def release(self) -> None:
        self._claimed = False

    def seen(self) -> Seen:
        return self._seen


class RedisBoard:
    """In Redis, for all processes. Raises redis.RedisError if Redis does not answer."""

    def __init__(self, name: str) -> None:
        base = f"millrace:server:{name}"
        self._claim, self._asked, self._last, self._counters = (
            f"{base}:{part}" for part in ("looks", "asked", "last", "counters")
        )

    @classmethod
    def of(cls, target: Target) -> "RedisBoard":
        """The one of a target's server."""
        return cls(f"{target.pk}:{target.address}")

    def claim(self) -> bool:
        pipe = queue.connection().pipeline(transaction=False)
        pipe.set(self._asked, 1, ex=WATCHED_SECONDS)
        pipe.set(self._claim, 1, ex=CLAIM_SECONDS, nx=True)
        return bool(pipe.execute()[1])

    def wanted(self) -> bool:
        pipe = queue.connection().pipeline(transaction=False)
        pipe.expire(self._claim, CLAIM_SECONDS)
        pipe.exists(self._asked)
        return bool(pipe.execute()[1])

    def put(self, snapshot: Snapshot) -> None:
        pipe = queue.connection().pipeline(transaction=False)
        pipe.set(self._last, json.dumps(to_json(snapshot)), ex=WATCHED_SECONDS)
        for each in _counted(snapshot):
            pipe.rpush(self._counters, json.dumps(to_json(each)))
            pipe.ltrim(self._counters, -KEPT_LOOKS, -1)
            pipe.expire(self._counters, int(KEPT_LOOKS * LOOK_SECONDS))
        pipe.execute()

    def release(self) -> None:
        queue.connection().delete(self._claim)

    def seen(self) -> Seen:
        pipe = queue.connection().pipeline(transaction=False)
        pipe.get(self._last)
        pipe.lrange(self._counters, 0, -1)
        last, counters = pipe.execute()
        return Seen(from_json(Snapshot, json.loads(last)) if last else None, tuple(_read(counters)))


def _counted(snapshot: Snapshot) -> tuple[Counters, ...]:
    return () if snapshot.problem else (snapshot.counters,)


def _read(texts: Iterable[bytes]) -> Iterable[Counters]:
    return (from_json(Counters, json.loads(each)) for each in texts)


def watch(target: Target, board: Board | None = None) -> Seen:
    """What was seen of the target's server last. From now on it is looked at, until nobody asks any more.

    Empty at first, and while Redis is away.
    """
    with live_progress.ignoring_redis_errors():
        kept = board or RedisBoard.of(target)
        if kept.claim():
            threading.Thread(
                target=_look_on, args=(target.address, kept), name=f"looks at {target}", daemon=True
            ).start()
        return kept.seen()
    return Seen()


def last_seen(target: Target) -> Seen:
    """What was seen of the target's server last, without any further look. Empty while Redis is away."""
    with live_progress.ignoring_redis_errors():
        return RedisBoard.of(target).seen()
    return Seen()


def kept_counters(target: Target) -> tuple[Counters, ...]:
    """The counters of the looks of the last minutes, the oldest first, without any further look."""
    return last_seen(target).counters


def look_twice(target: Target) -> Seen:
    """Two looks at the target's server, LOOK_SECONDS apart: rates need two."""
    board = MemoryBoard()
    try:
        with connect(_without_database(target.address), READ_TIMEOUT) as connection:
            board.put(read_snapshot(connection))
            time.sleep(LOOK_SECONDS)
            board.put(read_snapshot(connection))
    except Problem as problem:
        board.put(unanswered(problem))
    return board.seen()


def _look_on(address: Address, board: Board) -> None:
    """Look at the server until nobody watches it."""
    with live_progress.ignoring_redis_errors():
        try:
            while board.wanted():
                try:
                    with connect(_without_database(address), READ_TIMEOUT) as connection:
                        while board.wanted():
                            shown = read_snapshot(connection)
                            board.put(shown)
                            time.sleep(LOOK_SECONDS)
                            if shown.missing:  # A GRANT for the whole server counts for new connections alone.
                                break
                except Problem as problem:
                    board.put(unanswered(problem))
                    time.sleep(LOOK_SECONDS)
        finally:
            board.release()


def _without_database(address: Address) -> Address:
    """The address without its database: looking must not fail because that was dropped, nor keep it in use."""
    return replace(address, database="")


def unanswered(problem: Problem) -> Snapshot:
    """The look at a server that does not answer."""
    cause: Any = problem.__cause__
    error = cause.args[0] if isinstance(cause, MySQLdb.Error) and cause.args else 0
    return Snapshot(time.time(), problem=problem.as_json(), error=error if isinstance(error, int) else 0)
