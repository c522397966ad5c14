"""Live counters in Redis: bytes on their way to the server. Lost counters cost nothing but a bar's smoothness."""

import time
from collections.abc import Callable
from functools import cache

import redis
from django.conf import settings

KEPT_SECONDS = 3600
INTERVAL = 0.25  # seconds between two updates of one chunk


def sent_bytes(job_id: int) -> int:
    """Bytes of chunks in flight that were handed to the server; 0 when Redis is away."""
    try:
        return sum(int(sent) for sent in connection().hvals(_key(job_id)))
    except redis.RedisError:
        return 0


def reporter(job_id: int, chunk_number: int) -> Callable[[int], None]:
    """A function to call with the bytes of the chunk sent so far; it tells Redis at most every INTERVAL."""
    last = 0.0

    def report(sent: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= INTERVAL:
            last = now
            _record(job_id, chunk_number, sent)

    return report


def forget(job_id: int, chunk_number: int) -> None:
    """The chunk is no longer in flight."""
    try:
        connection().hdel(_key(job_id), str(chunk_number))
    except redis.RedisError:
        return


def _record(job_id: int, chunk_number: int, sent: int) -> None:
    try:
        with connection().pipeline(transaction=False) as pipe:
            pipe.hset(_key(job_id), str(chunk_number), sent)
            pipe.expire(_key(job_id), KEPT_SECONDS)
            pipe.execute()
    except redis.RedisError:
        return


def _key(job_id: int) -> str:
    return f"millrace:sent:{job_id}"


@cache
def connection() -> redis.Redis:
    """A client with short timeouts: a page or a load must never wait for a counter."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
