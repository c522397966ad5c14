"""Publishes messages that wake workers. A message may be lost or delivered twice; the database decides."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from importer.engine import failpoints

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
