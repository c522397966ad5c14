"""`make run`: Millrace for daily use, until Ctrl-C."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from importer.engine.errors import Problem
from scripts.processes import private_redis
from scripts.servers import PRIVATE, ServerDidNotStart, is_free
from scripts.supervision import (
    CannotStart,
    Stopped,
    Supervisor,
    health,
    only_one,
    stopping_on_signals,
)

WORKERS = {"load", "control"}


def main() -> None:
    with serving() as supervisor:
        print(f"\nMillrace serves {address()}   (Ctrl-C stops it; logs: {settings.VAR_DIR / 'log'})", flush=True)
        supervisor.wait_for_stop()


@contextmanager
def serving(*private: str) -> Iterator[Supervisor]:
    """Start all processes with the `private` servers, wait until they work, and stop them at the end."""
    require_free_port()
    print(f"Preparing {settings.VAR_DIR}: database, static files, account", flush=True)
    call_command("prepare")
    connections.close_all()
    servers = (*private, *(("redis",) if settings.REDIS_IS_PRIVATE else ()))
    if "redis" in servers:
        private_redis().prepare()
    supervisor = Supervisor(servers)
    try:
        print("Starting: " + ", ".join((*servers, "web", "workers", "beat")), flush=True)
        supervisor.start()
        supervisor.wait_for("the web server", lambda: bool(health().get("database")))
        supervisor.wait_for("the workers", lambda: set(health().get("workers", ())) >= WORKERS)
        yield supervisor
    finally:
        try:
            print("\nStopping ...", end="", flush=True)
        finally:
            # Even if the terminal is gone and print fails.
            supervisor.stop()
        print(" stopped.", flush=True)


def require_free_port() -> None:
    if not is_free(settings.PORT, settings.BIND):
        raise CannotStart(
            f"Port {settings.PORT} is taken by another program. Choose another one: make run PORT={settings.PORT + 1}"
        )


def address() -> str:
    host = "127.0.0.1" if settings.BIND in ("0.0.0.0", "::") else settings.BIND  # noqa: S104 (compared, not bound)
    return f"http://{host}:{settings.PORT}/"


def run_script(main: Callable[[], None]) -> None:
    """Run `main` until it ends or is stopped by a signal; a failed start is reported without a traceback."""
    os.umask(PRIVATE)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    with stopping_on_signals():
        try:
            with only_one():
                main()
        except Stopped:
            return
        except (CannotStart, ServerDidNotStart, Problem) as problem:
            sys.exit(f"\n{problem}")


if __name__ == "__main__":
    run_script(main)
