"""Publishes messages that wake workers, and those who wait for the end of an import.

A message may be lost or delivered twice; the database decides.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from importer.engine import failpoints

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Message:
    """A task's name in importer.tasks and its argument, an id; `delay` in seconds.

    `label`: that of the target that it works on; workers with this label get it. `not_on`: hosts that cannot take it
    (worker/hosts/placement.py). `worker`: the only worker that gets it, "" for any.
    """

    task: str
    id: int
    delay: float = 0
    label: str = ""
    not_on: tuple[str, ...] = ()
    worker: str = ""


# Called after a worker's step with the job's id and the messages to send with a delay.
FollowUp = Callable[[int, Sequence[Message]], None]


_dropped = False


@contextmanager
def dropped(really: bool = True) -> Iterator[None]:
    """Drop the messages of the block: the caller runs the steps itself, and there may be no broker."""
    global _dropped
    _dropped = really
    try:
        yield
    finally:
        _dropped = False


def send(messages: Iterable[Message]) -> None:
    """Publish once the current transaction has committed. Without a broker the sweeper publishes later."""
    if (messages := list(messages)) and not _dropped:
        transaction.on_commit(lambda: _publish(messages))


def is_running() -> bool:
    """Whether there may be a Redis: a private one that runs has a socket."""
    return not settings.REDIS_IS_PRIVATE or settings.REDIS_SOCKET.exists()


@cache
def connection() -> "redis.Redis":
    """A client with short timeouts: a page or a load must never wait for a counter."""
    # Imported on first use: a command that loads a file needs no Redis, and starts sooner.
    import redis

    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)


def announce_end(job_id: int) -> None:
    """Wake those who wait for the end of the import, once the current transaction has committed."""
    transaction.on_commit(lambda: _announce_end(job_id))


def _announce_end(job_id: int) -> None:
    if not is_running():
        return
    import redis

    try:
        connection().publish(_ends(job_id), "")
    except redis.RedisError as error:
        log.info("The end of import %d could not be announced: %s", job_id, error)


@contextmanager
def waiting_for_end(job_id: int) -> Iterator[Callable[[float], bool]]:
    """A function that waits for the end of the import, for the given seconds at most. Without Redis it waits them all.

    It returns whether the end was announced. Look at the import after each call: that may be lost, as messages may.
    """
    import redis

    with connection().pubsub(ignore_subscribe_messages=True) as heard:  # type: ignore[no-untyped-call]

        def wait(seconds: float) -> bool:
            try:
                if not heard.subscribed:
                    heard.subscribe(_ends(job_id))
                return heard.get_message(timeout=seconds) is not None
            except redis.RedisError:
                time.sleep(seconds)
                return False

        yield wait


def _ends(job_id: int) -> str:
    return f"millrace:ended:{job_id}"


def queue_of(task: str, label: str = "") -> str:
    """The queue of a task of importer.tasks that works on a target with this label."""
    routes: Mapping[str, Mapping[str, str]] = settings.CELERY_TASK_ROUTES
    default: str = settings.CELERY_TASK_DEFAULT_QUEUE
    return labelled(routes.get(f"importer.tasks.{task}", {}).get("queue", default), label)


def labelled(queue: str, label: str) -> str:
    """The queue of the same tasks for targets with this label; "" for those without one."""
    return f"{queue}.{label}" if label else queue


def _publish(messages: list[Message]) -> None:
    # Imported with the first message: an import without workers sends none, and importing Celery takes 0.1 s.
    from celery.utils.nodenames import worker_direct
    from kombu.exceptions import OperationalError

    from config.celery import app

    failpoints.reach("outbox.committed")
    try:
        for message in messages:
            shared = queue_of(message.task, message.label)
            to = {"queue": worker_direct(message.worker) if message.worker else shared}
            app.send_task(f"importer.tasks.{message.task}", (message.id,), countdown=message.delay or None, **to)
    except (OperationalError, OSError) as error:
        log.warning("The broker is away, the sweeper will send %d messages later: %s", len(messages), error)
    failpoints.reach("outbox.published")
