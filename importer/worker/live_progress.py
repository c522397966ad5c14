"""Live counters in Redis: bytes on their way to the server. Lost counters cost nothing but a bar's smoothness."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import cast

import redis
from django.conf import settings

from importer.engine.schema.alter_table import DdlProgress

KEPT_SECONDS = 3600
STAGE_KEPT_SECONDS = 30  # a stage that nobody tells of any more is not shown
INTERVAL = 1.0  # seconds between two updates of one run: pages ask as often


def sent_bytes(job_id: int) -> int:
    """Bytes of chunks in flight that were handed to the server; 0 when Redis is away."""
    try:
        return sum(int(sent) for sent in connection().hvals(_key(job_id)))
    except redis.RedisError:
        return 0


class SentBytes:
    """What a run has sent and nobody has recorded yet; told to Redis at most every INTERVAL."""

    def __init__(self, job_id: int, run: str) -> None:
        self._job_id, self._run = job_id, run
        self._whole = 0
        self._told_at = float("-inf")
        self._told = False
        self._expires = False

    def chunk_progress(self, sent: int) -> None:
        """So many bytes of the chunk in hand are sent."""
        now = time.monotonic()
        if now - self._told_at >= INTERVAL:
            self._told_at = now
            self._tell(self._whole + sent)

    def chunk_committed(self, length: int) -> None:
        """The chunk in hand, so many bytes, is committed."""
        self._whole += length

    def bytes_recorded(self, length: int) -> None:
        """So many bytes of what is committed are in the application's database now."""
        self._whole -= length
        if self._told:
            self._tell(self._whole)

    def clear(self) -> None:
        """The run is no longer in flight."""
        if self._told:
            with suppress(redis.RedisError):
                connection().hdel(_key(self._job_id), self._run)

    def _tell(self, sent: int) -> None:
        self._told = True
        with suppress(redis.RedisError):
            connection().hset(_key(self._job_id), self._run, str(sent))
            # What a killed worker leaves behind goes by itself. Once for each run: a call more takes as long again.
            if not self._expires:
                self._expires = bool(connection().expire(_key(self._job_id), KEPT_SECONDS))


def restore_progress(job_id: int) -> DdlProgress | None:
    """How far the putting back of the job's keys is; None while that does not go on, or when Redis is away."""
    try:
        found = cast(dict[bytes, bytes], connection().hgetall(_stage_key(job_id)))
    except redis.RedisError:
        return None
    values = {name.decode(): value.decode() for name, value in found.items()}
    return DdlProgress(values["words"], float(values["percent"]) if values["percent"] else None) if values else None


@contextmanager
def restoring(job_id: int) -> Iterator[Callable[[DdlProgress], None]]:
    """Gives a function to call with each stage of the putting back; at the end it goes on no longer."""

    def tell(stage: DdlProgress) -> None:
        percent = "" if stage.percent is None else f"{stage.percent:.1f}"
        with suppress(redis.RedisError), connection().pipeline(transaction=False) as pipe:
            pipe.hset(_stage_key(job_id), mapping={"words": stage.words, "percent": percent})
            pipe.expire(_stage_key(job_id), STAGE_KEPT_SECONDS)
            pipe.execute()

    try:
        yield tell
    finally:
        with suppress(redis.RedisError):
            connection().delete(_stage_key(job_id))


def _stage_key(job_id: int) -> str:
    return f"millrace:stage:{job_id}"


def _key(job_id: int) -> str:
    return f"millrace:sent:{job_id}"


@cache
def connection() -> redis.Redis:
    """A client with short timeouts: a page or a load must never wait for a counter."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
