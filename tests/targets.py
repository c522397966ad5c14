"""Servers that tests load into: one interface for a private MariaDB and for a MySQL that a command starts."""

import os
import resource
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from config.environment import private_folder
from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.management.processes.private_databases import PrivateMariaDB
from importer.management.processes.private_servers import START_TIMEOUT
from importer.models import Target
from tests.prepared import copy_data_folder

# No test simulates a power failure, and the system keeps the writes of a killed server: no wait for the disk.
UNSYNCED = ("--debug-no-sync", "--innodb-flush-method=nosync")
# Undo logs in files of their own, which the server truncates. In ibdata1 they would leave room for ever.
TRUNCATED_UNDO = ("--innodb-undo-tablespaces=2", "--innodb-undo-log-truncate=ON")
SMALL_FILE = 16 * 2**20  # bytes
# For tests with `server` whose result is decided before a server has a say: one kind of it is enough.
on_one_server = pytest.mark.parametrize("server", ["mariadb"], indirect=True)
MYSQL_TEST_PORT = os.environ.get("TEST_MYSQL_PORT", "23098")


class PreparedMariaDB(PrivateMariaDB):
    """A private MariaDB that begins with the copy of a new data folder."""

    def prepare(self) -> None:
        if not self.data.exists():
            private_folder(self.folder)
            copy_data_folder(self)
        super().prepare()


@dataclass
class TestServer:
    """A real server: `start` and `stop` work at any time, `kill` is SIGKILL."""

    __test__ = False

    flavour: str
    address: Address
    start: Callable[[], None]
    stop: Callable[[], None]
    kill: Callable[[], None]

    @contextmanager
    def without_room(self, database: str) -> Iterator[None]:
        """No file becomes larger than the largest one of the server and the database, as on a full disk.

        A limit of the process, so it ends when the server is killed. SIGXFSZ is ignored by servers that Python starts
        with restore_signals=False; then a write fails with EFBIG.
        """
        with connect(self.address) as connection:
            pid_file, folder = fetch_all(connection, "SELECT @@pid_file, @@datadir")[0]
        # A test that failed may have left its database.
        others = {each for each in Path(folder).glob("test_*") if each.name != database}
        sizes = [each.stat().st_size for each in Path(folder).rglob("*") if each.parent not in others]
        pid = int(Path(pid_file).read_text())
        usual = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (max(sizes), usual[1]))
        try:
            yield
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)

    def shrink_files(self) -> None:
        """Make the redo log and the undo logs of a MariaDB smaller than the large tables of tests.

        Room that earlier tests left in them would let work fit in that `without_room` is to refuse. The server does
        so at its next checkpoint and purge, if no transaction is open. A MySQL keeps them small by itself.
        """
        if self.flavour != "mariadb":
            return
        with connect(self.address) as connection:
            folder = Path(fetch_all(connection, "SELECT @@datadir")[0][0])
            execute(connection, f"SET GLOBAL innodb_log_file_size = {SMALL_FILE}")
            execute(connection, "SET GLOBAL innodb_purge_rseg_truncate_frequency = 1")
            deadline = time.monotonic() + START_TIMEOUT
            while large := [each for each in _system_files(folder) if each.stat().st_size > SMALL_FILE]:
                assert time.monotonic() < deadline, f"{large} stay large"
                execute(connection, "SET GLOBAL innodb_log_checkpoint_now = 1")
                time.sleep(0.05)

    @contextmanager
    def fresh_database(self) -> Iterator[Address]:
        name = f"test_{uuid.uuid4().hex[:12]}"
        self.run(f"CREATE DATABASE {name}")
        yield replace(self.address, database=name)
        self.run(f"DROP DATABASE {name}")

    def run(self, sql: str) -> None:
        with connect(self.address) as connection:
            execute(connection, sql)


def _system_files(folder: Path) -> list[Path]:
    """The redo log, the undo logs and the system tablespace of a MariaDB."""
    return [*folder.glob("ib_logfile*"), *folder.glob("undo0*"), folder / "ibdata1"]


def mariadb_server(folder: Path) -> TestServer:
    server = PreparedMariaDB(folder, options=(*UNSYNCED, *TRUNCATED_UNDO), install_options=TRUNCATED_UNDO)
    server.start()
    address = Address("127.0.0.1", server.port, "root", "", "mysql")
    return TestServer("mariadb", address, start=server.start, stop=server.stop, kill=server.kill)


def mysql_server(command: str) -> TestServer:
    def call(verb: str) -> str:
        # Not through a pipe: the server outlives the command and would keep the pipe open.
        arguments = [command, verb, MYSQL_TEST_PORT]
        done = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True, restore_signals=False)
        return done.stdout

    url = urlsplit(call("start").split()[0])
    assert url.hostname
    assert url.port
    address = Address(url.hostname, url.port, url.username or "root", "", "mysql")

    def start() -> None:
        call("start")
        # The command may read the log of the previous run, and return before the server listens.
        deadline = time.monotonic() + START_TIMEOUT
        while not _answers(address):
            assert time.monotonic() < deadline, f"MySQL does not answer at {address}"
            time.sleep(0.05)

    def kill() -> None:
        with connect(address) as connection:
            pid = int(Path(fetch_all(connection, "SELECT @@pid_file")[0][0]).read_text())
        os.kill(pid, signal.SIGKILL)
        # Also wait until its parent has reaped it: the command treats a zombie as a live server.
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.02)

    start()
    return TestServer("mysql", address, start, lambda: void(call("stop")), kill)


def _answers(address: Address) -> bool:
    try:
        with connect(address):
            return True
    except TargetProblem:
        return False


def silent_target(password: str) -> Target:
    """A saved target without a server behind it."""
    made = Target(name="warehouse", host="127.0.0.1", port=1, user="loader", database="osm", tls="off")
    made.set_password(password)
    made.save()
    return made


def saved_target(address: Address, name: str = "warehouse") -> Target:
    """The address as a target that imports can name."""
    target = Target(
        name=name, host=address.host, port=address.port, user=address.user, database=address.database, tls="off"
    )
    target.set_password(address.password)
    target.save()
    return target


def target_with(address: Address, *statements: str, name: str = "warehouse") -> Target:
    """The target with a ledger, after these statements, which make its tables."""
    with connect(address) as connection:
        ledger.create(connection)
        for statement in statements:
            execute(connection, statement)
    return saved_target(address, name)


@pytest.fixture
def on_mariadb(mariadb: Address) -> Address:
    """`database = on_mariadb` in a module or conftest.py: the kind of server does not matter to its tests."""
    return mariadb


def tables_target(request: pytest.FixtureRequest, address: Address, *usual: str) -> Target:
    """A target with a ledger, and with what the statements TABLES of the test's module make, or else the usual ones."""
    return target_with(address, *getattr(request.module, "TABLES", usual))


def count_rows(target: Target) -> int:
    """The rows of the target's table t."""
    with connect(target.address) as connection:
        return int(fetch_all(connection, "SELECT COUNT(*) FROM t")[0][0])


def void(_: object) -> None:
    """Ignore the result of a callable."""
