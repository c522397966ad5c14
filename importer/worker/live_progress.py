"""Live progress in Redis: bytes sent to the server, and stages of restoring keys. Losing it only makes a bar jump."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, cast

from importer.engine.schema.alter_table import DdlProgress
from importer.queue import connection, is_running

KEPT_SECONDS = 3600
STAGE_KEPT_SECONDS = 30  # a stage that is not updated for this time is not shown
INTERVAL = 1.0  # seconds between two updates of one run: pages are refreshed as often


def redis_read_errors() -> tuple[type[Exception], ...]:
    """The errors of reading a value while Redis is away, or a value that Millrace did not write.

    Pages then show no progress.
    """
    # Imported on first use, here and below: a command that loads a file needs no Redis, and starts sooner.
    import redis

    return (redis.RedisError, ValueError, KeyError)


@contextmanager
def ignoring_redis_errors() -> Iterator[None]:
    """Run the block up to the first error of Redis, which is ignored."""
    try:
        yield
    except Exception as error:
        import redis

        if not isinstance(error, redis.RedisError):
            raise


def sent_bytes(job_id: int) -> int:
    """Bytes of chunks in flight that were sent to the server; 0 if Redis is away or holds something else."""
    try:
        return sum(int(sent) for sent in connection().hvals(_key(job_id)))
    except redis_read_errors():
        return 0


def moved_at(job_id: int) -> float:
    """When a worker last sent bytes of the job (time.time()); 0 if that is not known, or as for sent_bytes()."""
    try:
        return float(cast(bytes, connection().get(_moved_key(job_id))) or 0)
    except redis_read_errors():
        return 0.0


class Times(NamedTuple):
    """Seconds of the clock, and seconds that the calling thread has computed; both from an arbitrary zero."""

    clock: float
    computed: float

    @classmethod
    def now(cls) -> "Times":
        """The present times."""
        return cls(time.monotonic(), time.thread_time())


class SentBytes:
    """Counts the bytes that a run has sent and not recorded yet; writes them to Redis at most every INTERVAL.

    It also writes the share of the time in which the thread that sends them computes; `now` gives both times.
    """

    def __init__(self, job_id: int, run: str, now: Callable[[], Times] = Times.now) -> None:
        self._job_id, self._run, self._now = job_id, run, now
        self._committed = 0
        # How often something was sent or committed.
        self.moves = 0
        self._written_at = float("-inf") if is_running() else float("inf")
        self._written = False
        self._expires = False
        self._interval_began = now()

    def chunk_progress(self, sent: int) -> None:
        """Of the current chunk, `sent` bytes are sent."""
        self.moves += 1
        now = self._now()
        if now.clock - self._written_at >= INTERVAL:
            self._written_at = now.clock
            self._write(self._committed + sent)
            self._write_busy(now)

    def chunk_committed(self, length: int) -> None:
        """The current chunk, of `length` bytes, is committed."""
        self.moves += 1
        self._committed += length

    def bytes_recorded(self, length: int) -> None:
        """Of the committed bytes, `length` are now recorded in the application's database."""
        self._committed -= length
        if self._written:
            self._write(self._committed)

    def clear(self) -> None:
        """Delete the counter: the run is no longer in flight."""
        if self._written:
            with ignoring_redis_errors():
                connection().hdel(_key(self._job_id), self._run)
                connection().hdel(_busy_key(self._job_id), self._run)

    def _write(self, sent: int) -> None:
        self._written = True
        with ignoring_redis_errors():
            connection().hset(_key(self._job_id), self._run, str(sent))
            connection().set(_moved_key(self._job_id), f"{time.time():.1f}", ex=KEPT_SECONDS)
            # So that the counter of a killed worker disappears. Once per run, since each call takes as long as hset().
            if not self._expires:
                self._expires = bool(connection().expire(_key(self._job_id), KEPT_SECONDS))

    def _write_busy(self, now: Times) -> None:
        """Write the share of the last interval in which the loading thread computed."""
        began, self._interval_began = self._interval_began, now
        seconds = now.clock - began.clock
        if seconds < INTERVAL / 2:
            return
        with ignoring_redis_errors():
            connection().hset(_busy_key(self._job_id), self._run, f"{(now.computed - began.computed) / seconds:.3f}")
            connection().expire(_busy_key(self._job_id), STAGE_KEPT_SECONDS)


def busy_share(job_id: int) -> float | None:
    """The share of the time in which the workers that load the job compute, 0 to 1; None if none has written it."""
    if not is_running():
        return None
    try:
        shares = [float(share) for share in connection().hvals(_busy_key(job_id))]
    except redis_read_errors():
        return None
    return sum(shares) / len(shares) if shares else None


def restore_progress(job_id: int) -> DdlProgress | None:
    """The progress of restoring the job's keys; None if that is not under way, or as for sent_bytes()."""
    try:
        stored = cast(dict[bytes, bytes], connection().hgetall(_stage_key(job_id)))
        values = {name.decode(): value.decode() for name, value in stored.items()}
        return DdlProgress(values["words"], float(values["percent"]) if values["percent"] else None) if values else None
    except redis_read_errors():
        return None


@contextmanager
def restoring(job_id: int) -> Iterator[Callable[[DdlProgress], None]]:
    """Yields a function that stores each stage of restoring the job's keys. The stage is deleted at the end."""

    def write(stage: DdlProgress) -> None:
        percent = "" if stage.percent is None else f"{stage.percent:.1f}"
        with ignoring_redis_errors(), connection().pipeline(transaction=False) as pipe:
            pipe.hset(_stage_key(job_id), mapping={"words": stage.words, "percent": percent})
            pipe.expire(_stage_key(job_id), STAGE_KEPT_SECONDS)
            pipe.execute()

    try:
        yield write
    finally:
        with ignoring_redis_errors():
            connection().delete(_stage_key(job_id))


def _stage_key(job_id: int) -> str:
    return f"millrace:stage:{job_id}"


def _busy_key(job_id: int) -> str:
    return f"millrace:busy:{job_id}"


def _moved_key(job_id: int) -> str:
    return f"millrace:moved:{job_id}"


def _key(job_id: int) -> str:
    return f"millrace:sent:{job_id}"
