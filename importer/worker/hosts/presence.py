"""Which workers are alive, with their versions, slots, queues and load: one JSON value each in Redis, which expires."""

import json
import os
import socket
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from django.conf import settings

from config.version import VERSION
from importer.engine.plan import stored_plan
from importer.engine.plan.stored_plan import FIRST_FORMAT
from importer.engine.stored import from_json
from importer.queue import connection, is_running
from importer.worker import shutdown
from importer.worker.live_progress import redis_read_errors

PREFIX = "millrace:worker:"
# A beat writes when it has sent a task: at least once in each period of `tick`, 5 s or less.
BEAT = "millrace:beat:"
# A worker writes every 5 s (`--heartbeat-interval`, management/processes/command_lines.py).
SILENCE_SECONDS = 20


@dataclass(frozen=True)
class Announcement:
    """What a worker tells of itself: its version, its slots (tasks that it runs at once) and how many are `busy`.

    `labels`: of the targets that it works for; none: it works for those without one. `direct`: it has a queue of its
    own, for messages that no other worker may take. `plan_format`: the newest stored plans that it knows
    (engine/plan/stored_plan.py). `time`: what the clock of its host said, in seconds since 1970; 0: it did not say.
    Those of other versions can be read: unknown names are ignored, and missing ones have a default.
    """

    version: str = ""
    slots: int = 0
    busy: int = 0
    queues: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    direct: bool = False
    plan_format: int = FIRST_FORMAT
    time: float = 0


@dataclass(frozen=True)
class Worker(Announcement):
    """A live worker: its name (load@host, control@host), and the seconds since it was last heard of.

    `ahead`: the seconds by which the clock of its host is ahead of that of this host; 0 if it is not known.
    """

    name: str = ""
    silent: float = 0
    ahead: float = 0

    @property
    def role(self) -> str:
        return self.name.partition("@")[0]

    @property
    def host(self) -> str:
        return self.name.partition("@")[2]

    def works_for(self, label: str) -> bool:
        """Whether it works for targets with the label; "": for those without one."""
        return label in self.labels if label else not self.labels


# The worker that this process belongs to; None in a process of the web server or of a command.
_own: Worker | None = None


def own_host() -> str:
    """The host of the worker that this process belongs to; "" if it belongs to none, and so gets no messages."""
    return _own.host if _own else ""


def announce(name: str, slots: int, queues: Iterable[str] = (), **more: Any) -> None:
    """Record that the worker `name` is alive, and runs up to `slots` tasks at once from the queues.

    `more`: further values of an Announcement.
    """
    own = {"version": VERSION, "plan_format": stored_plan.FORMAT, "time": time.time(), **more}
    values = asdict(Announcement(**own, slots=slots, queues=tuple(queues)))
    connection().set(PREFIX + name, json.dumps(values), ex=SILENCE_SECONDS)


def withdraw(name: str) -> None:
    """Record that the worker `name` has ended."""
    connection().delete(PREFIX + name)


def live_workers() -> list[Worker]:
    """The workers that were announced within SILENCE_SECONDS, by name. What others have written there is left out.

    Raises redis.RedisError if Redis does not answer.
    """
    keys = sorted(cast(Iterable[bytes], connection().scan_iter(match=f"{PREFIX}*")))
    pipeline = connection().pipeline(transaction=False)
    for key in keys:
        pipeline.get(key)
        pipeline.pttl(key)
    answers = pipeline.execute()
    read = map(_read, keys, answers[::2], answers[1::2])
    return [worker for worker in read if worker]


def _read(key: bytes, value: bytes | None, milliseconds_left: int) -> Worker | None:
    """The worker that has announced this. None: the key has expired since, or somebody else has written there."""
    import msgspec

    try:
        values = json.loads(value or b"")
        name = key.decode().removeprefix(PREFIX)
        silent = max(0.0, SILENCE_SECONDS - milliseconds_left / 1000)
        worker = from_json(Worker, {**values, "name": name, "silent": silent})
        return replace(worker, ahead=worker.time + silent - time.time()) if worker.time else worker
    except (ValueError, TypeError, msgspec.ValidationError):
        return None


def served_queues() -> set[str]:
    """The queues that live workers take tasks from. Raises redis.RedisError if Redis does not answer."""
    return {queue for worker in live_workers() for queue in worker.queues}


def parallel_loads(label: str = "") -> int:
    """How many chunks into targets with the label all live workers can load at once; 0 if Redis is away."""
    if not is_running():
        return 0
    try:
        return sum(each.slots for each in live_workers() if each.role == "load" and each.works_for(label))
    except redis_read_errors():
        return 0


def connect_signals() -> None:
    """Connect the handlers of a worker's start, heartbeat and end. Called once, where a worker loads its tasks."""
    from celery.signals import beat_init, celeryd_after_setup, worker_shutdown, worker_shutting_down

    beat_init.connect(_beat_started)
    celeryd_after_setup.connect(_worker_started)
    worker_shutting_down.connect(_worker_shutting_down)
    worker_shutdown.connect(_worker_ended)


def _worker_started(instance: Any, **_: object) -> None:
    from celery.signals import heartbeat_sent
    from celery.utils.nodenames import worker_direct
    from celery.worker import state

    # Its processes are forked later, and so know it.
    global _own
    _own = Worker(name=instance.hostname)

    def renew(**_: object) -> None:
        served = set(instance.app.amqp.queues.consume_from)  # its option --queues, and its own
        shared = sorted(served - {worker_direct(instance.hostname).name})
        direct = len(shared) < len(served)
        more = {"busy": len(state.active_requests), "labels": settings.LOADS, "direct": direct}
        announce(instance.hostname, instance.concurrency, shared, **more)

    heartbeat_sent.connect(renew, weak=False)


def _beat_started(**_: object) -> None:
    from celery.signals import after_task_publish

    def record(**_: object) -> None:
        connection().set(BEAT + socket.gethostname(), VERSION, ex=SILENCE_SECONDS)

    after_task_publish.connect(record, weak=False)


def is_alive(role: str) -> bool:
    """Whether the process of this host with the role load, control or beat works: it was heard of within
    SILENCE_SECONDS. Raises redis.RedisError if Redis does not answer.
    """
    host = socket.gethostname()
    if role == "beat":
        return bool(connection().exists(BEAT + host))
    return f"{role}@{host}" in [worker.name for worker in live_workers()]


def _worker_shutting_down(**_: object) -> None:
    shutdown.request()


def _worker_ended(sender: Any, **_: object) -> None:
    withdraw(sender.hostname)


if __name__ == "__main__":
    # Health check of a container: `python -m importer.worker.hosts.presence load` succeeds while its process works.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(not is_alive(sys.argv[1]))
