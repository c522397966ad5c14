"""`millrace serve` and `make run`: Millrace for daily use, until Ctrl-C."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from django.conf import settings
from django.core.management import call_command
from django.db import connections

from importer.management.processes.command_lines import private_redis
from importer.management.processes.private_servers import PRIVATE, redis_program
from importer.management.processes.supervision import (
    BECOME,
    REDIS,
    Supervisor,
    only_one,
    stopping_on_signals,
    to_terminal,
)
from importer.management.processes.web_address import health, recorded_port, require_free_port

WORKERS = {"load", "control"}
NO_SERVERS: Mapping[str, str] = {}


@contextmanager
def alone() -> Iterator[None]:
    """Be the only one that serves this VAR_DIR, until a stop signal raises Stopped. Raises CannotStart otherwise."""
    os.umask(PRIVATE)
    with stopping_on_signals(), only_one():
        yield


@contextmanager
def serving(
    private: Mapping[str, str] = NO_SERVERS, write: Callable[[str], None] = to_terminal
) -> Iterator[Supervisor]:
    """Start all processes with the `private` servers, wait until they work, and stop them at the end.

    `private`: the command line of each, by its name; a private Redis need not be among them. Raises Problem if they do
    not start.
    """
    require_free_port()
    if settings.REDIS_IS_PRIVATE:
        redis_program()  # Raises Problem if there is none.
    write(f"Preparing {settings.VAR_DIR}: database, static files, account\n")
    call_command("prepare", stdout=_Lines(write))
    connections.close_all()
    servers = {**private, **({REDIS: BECOME.format(name=REDIS)} if settings.REDIS_IS_PRIVATE else {})}
    if REDIS in servers:
        private_redis().prepare()
    supervisor = Supervisor(servers, write)
    with recorded_port(), _stopped_at_the_end(supervisor, write):
        write(f"Starting: {', '.join((*servers, 'web', 'workers', 'beat'))}\n")
        supervisor.start()
        supervisor.wait_for("the web server", lambda: bool(health().get("database")))
        supervisor.wait_for("the workers", lambda: set(health().get("workers", ())) >= WORKERS)
        yield supervisor


@contextmanager
def _stopped_at_the_end(supervisor: Supervisor, write: Callable[[str], None]) -> Iterator[None]:
    try:
        yield
    finally:
        try:
            write("\nStopping ...")
        finally:
            # Even if the terminal is gone and the writing fails.
            supervisor.stop()
        write(" stopped.\n")


class _Lines:
    """A stream for a command's output that writes with `write`."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.write = write
