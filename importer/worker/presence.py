"""Which workers are alive, and how much they do at once: each writes a key to Redis that runs out by itself."""

import os
import socket
import sys

import redis

from importer.worker.live_progress import connection

PREFIX = "millrace:worker:"
# A worker writes every 5 s (`--heartbeat-interval`, scripts/processes.py).
SILENCE_SECONDS = 20


def sign_of_life(name: str, processes: int) -> None:
    """Say that the worker `name` (load@host, control@host) is alive, and does so many tasks at once."""
    connection().set(PREFIX + name, processes, ex=SILENCE_SECONDS)


def farewell(name: str) -> None:
    """Say that the worker `name` ends."""
    connection().delete(PREFIX + name)


def living() -> list[str]:
    """Names of the workers that gave a sign of life lately. Raises redis.RedisError if Redis does not answer."""
    return sorted(key.decode().removeprefix(PREFIX) for key in connection().scan_iter(match=f"{PREFIX}*"))


def loads_at_once() -> int:
    """How many chunks all living workers together load at once; 0 if nobody knows."""
    try:
        names = [PREFIX + name for name in living() if name.startswith("load@")]
        # Between the two questions a key may have run out.
        return sum(int(processes or 0) for processes in connection().mget(names)) if names else 0
    except redis.RedisError:
        return 0


if __name__ == "__main__":
    # A container's health check: `python -m importer.workers load` succeeds while this host's load worker lives.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(f"{sys.argv[1]}@{socket.gethostname()}" not in living())
