"""Private database servers on this machine: for the demo, published experiments, the tests and the benchmark."""

import os
import shutil
import subprocess
import tempfile
from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

import MySQLdb

from importer.management.processes.private_servers import PrivateServer, ServerDidNotStart, free_port


@dataclass
class PrivateDatabase(PrivateServer):
    """A database server with default durability; its only account is root from this machine, without a password.

    With `only_socket` it is reached by its Unix socket alone, which only this account of the machine may use.
    """

    port: int = field(default_factory=free_port)
    options: tuple[str, ...] = ()
    install_options: tuple[str, ...] = ()

    # The server's program, by name or path.
    program: str = ""
    only_socket: bool = field(default=False, init=False)

    label = ""

    host = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"mysql://root@{self.host}:{self.port}/"

    @property
    def socket(self) -> Path:
        return _short_socket(self.folder, self.port)

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
            *(["--skip-networking"] if self.only_socket else ["--bind-address=127.0.0.1"]),
            "--skip-name-resolve",
            f"--socket={self.socket}",
            f"--pid-file={self.folder / 'server.pid'}",
            # Not shared: a MariaDB that starts removes the temporary tables of servers with the same tmpdir.
            f"--tmpdir={self.folder / 'tmp'}",
            "--local-infile=1",
            *_as_root(),
            *self.options,
        ]

    def answers(self) -> bool:
        place = {"unix_socket": str(self.socket)} if self.only_socket else {"host": self.host, "port": self.port}
        try:
            # With none stated, the client library takes that of the variable MYSQL_PWD.
            MySQLdb.connect(**place, user="root", passwd="", connect_timeout=2).close()
        except MySQLdb.Error:
            return False
        return True


@dataclass
class PrivateMariaDB(PrivateDatabase):
    """MariaDB."""

    program: str = "mariadbd"
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
    program: str = "mysqld"
    label = "MySQL"

    def install(self, data: Path) -> list[str]:
        # MySQL's own root is root@localhost, which matches an address only if host names are resolved.
        accounts = self.folder / "accounts.sql"
        accounts.write_text(
            "CREATE USER root@'127.0.0.1' IDENTIFIED BY '';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n"
        )
        return [
            _program(self.program),
            "--no-defaults",
            "--initialize-insecure",
            f"--init-file={accounts}",
            f"--datadir={data}",
            *_as_root(),
        ]


def path_of(name: str) -> str | None:
    """The path of a server's program; None if it is not on this machine."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def _program(name: str) -> str:
    path = path_of(name)
    if not path:
        raise ServerDidNotStart(f"{name} is not installed; `make setup` installs it.")
    return path


def _as_root() -> list[str]:
    return ["--user=root"] if os.getuid() == 0 else []


def _short_socket(folder: Path, port: int) -> Path:
    path = folder / "server.sock"
    return path if len(os.fsencode(path)) < 104 else Path(tempfile.gettempdir()) / f"millrace-database-{port}.sock"


def is_mysql(program: str | None) -> bool:
    """Whether the program is there and is MySQL's: Debian calls MariaDB's mysqld, too."""
    if not program:
        return False
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return "MariaDB" not in version
