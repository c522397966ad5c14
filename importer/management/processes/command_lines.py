"""The command line of each process of Millrace, one function each."""

import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings

from config.environment import private_folder
from importer.management.processes.private_servers import PRIVATE, PrivateRedis
from importer.management.processes.web_address import listening
from importer.queue import labelled
from importer.worker.shutdown import end_with_parent

CELERY = "importer.management.processes.celery_process"


def web() -> list[str]:
    # config/asgi.py has the threads. gunicorn must wait longer for a body than the rule that gives a clear answer.
    # --preload: imported once, before the processes are forked. Imports start no thread and open nothing.
    return [
        *("gunicorn", "config.asgi:application", f"--bind={listening()}"),
        *("--worker-class=config.serving.worker.Worker", "--asgi-lifespan=off", f"--workers={settings.WEB_PROCESSES}"),
        f"--timeout={30 + math.ceil(settings.BODY_GRACE_SECONDS)}",
        *("--graceful-timeout=5", "--no-control-socket", "--preload", "--log-level=warning"),
    ]


def worker_load() -> list[str]:
    return _worker("load", queues="load", concurrency=settings.WORKER_CONCURRENCY)


def worker_control() -> list[str]:
    # Separate from the loads: a sweep must find a free process even while all loading ones wait for a server.
    return _worker("control", queues="control,scan", concurrency=2)


def beat() -> list[str]:
    private_folder(Path(settings.CELERY_BEAT_SCHEDULE_FILENAME).parent)
    return [CELERY, "beat", _log_level()]


def redis() -> list[str]:
    return private_redis().command()


def private_redis() -> PrivateRedis:
    """The private Redis of this VAR_DIR, for use without REDIS_URL."""
    return PrivateRedis(settings.VAR_DIR / "redis", socket=settings.REDIS_SOCKET)


def _worker(name: str, queues: str, concurrency: int) -> list[str]:
    served = ",".join(labelled(queue, label) for queue in queues.split(",") for label in settings.LOADS or [""])
    return [
        *(CELERY, "worker", f"--hostname={name}@%h", f"--queues={served}"),
        *(f"--concurrency={concurrency}", _log_level(), "--without-gossip", "--without-mingle"),
        "--heartbeat-interval=5",
    ]


def _log_level() -> str:
    """That of LOG_LEVEL: Celery gives the root logger the level of its own command line."""
    return f"--loglevel={settings.LOGGING['root']['level']}"


COMMANDS: dict[str, Callable[[], list[str]]] = {
    "web": web,
    "worker-load": worker_load,
    "worker-control": worker_control,
    "beat": beat,
    "redis": redis,
}
PYTHON_MODULES = ("gunicorn", CELERY)


def become(command: Sequence[str]) -> None:
    """Replace this process by the command's."""
    end_with_parent()
    os.umask(PRIVATE)
    os.chdir(settings.BASE_DIR)
    program, *arguments = command
    if program in PYTHON_MODULES:
        # glibc gives each thread a heap of its own, and keeps freed memory in it: 20 MB in a worker that reads S3.
        os.environ.setdefault("MALLOC_ARENA_MAX", "1")
        os.execv(sys.executable, [sys.executable, "-m", program, *arguments])  # noqa: S606 (a shell is not wanted)
    os.execv(program, [program, *arguments])  # noqa: S606
