"""The command line of each process of Millrace, one function each.

`python -m scripts.processes NAME` turns into that process; supervision.py and the containers start all of them so.
"""

import math
import os
import sys
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from config.environment import private_folder
from importer.worker.shutdown import end_with_parent
from scripts.servers import PRIVATE, PrivateRedis, private_database


def web() -> list[str]:
    # config/asgi.py has the threads. gunicorn must wait longer for a body than the rule that gives a clear answer.
    return [
        *("gunicorn", "config.asgi:application", f"--bind={settings.BIND}:{settings.PORT}"),
        *("--worker-class=config.serving.worker.Worker", "--asgi-lifespan=off", f"--workers={settings.WEB_PROCESSES}"),
        f"--timeout={30 + math.ceil(settings.BODY_GRACE_SECONDS)}",
        *("--graceful-timeout=5", "--no-control-socket", "--log-level=warning"),
    ]


def worker_load() -> list[str]:
    return _worker("load", queues="load", concurrency=settings.WORKER_CONCURRENCY)


def worker_control() -> list[str]:
    # Separate from the loads: a sweep must find a free process even while all loading ones wait for a server.
    return _worker("control", queues="control,scan", concurrency=2)


def beat() -> list[str]:
    private_folder(Path(settings.CELERY_BEAT_SCHEDULE_FILENAME).parent)
    return ["scripts.celery_process", "beat", "--loglevel=WARNING"]


def redis() -> list[str]:
    return private_redis().command()


def database() -> list[str]:
    return private_database(settings.VAR_DIR / "database").command()


def private_redis() -> PrivateRedis:
    """The private Redis of this VAR_DIR, for use without REDIS_URL."""
    return PrivateRedis(settings.VAR_DIR / "redis", socket=settings.REDIS_SOCKET)


def _worker(name: str, queues: str, concurrency: int) -> list[str]:
    return [
        *("scripts.celery_process", "worker", f"--hostname={name}@%h", f"--queues={queues}"),
        *(f"--concurrency={concurrency}", "--loglevel=INFO", "--without-gossip", "--without-mingle"),
        "--heartbeat-interval=5",
    ]


COMMANDS: dict[str, Callable[[], list[str]]] = {
    "web": web,
    "worker-load": worker_load,
    "worker-control": worker_control,
    "beat": beat,
    "redis": redis,
    "database": database,
}
PYTHON_MODULES = ("gunicorn", "scripts.celery_process")


def become(name: str) -> None:
    """Replace this process by the named one."""
    end_with_parent()
    os.umask(PRIVATE)
    os.chdir(settings.BASE_DIR)
    program, *arguments = COMMANDS[name]()
    if program in PYTHON_MODULES:
        # glibc gives each thread a heap of its own, and keeps freed memory in it: 20 MB in a worker that reads S3.
        os.environ.setdefault("MALLOC_ARENA_MAX", "1")
        os.execv(sys.executable, [sys.executable, "-m", program, *arguments])  # noqa: S606 (a shell is not wanted)
    os.execv(program, [program, *arguments])  # noqa: S606


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m scripts.processes {'|'.join(COMMANDS)}")
    become(sys.argv[1])
