"""Provides the servers to measure: named by URL, or private ones started for the benchmark."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.server_info import is_loopback
from importer.management.processes.private_databases import PrivateDatabase, PrivateMariaDB, PrivateMySQL, is_mysql
from importer.management.processes.private_servers import free_port, is_free

DATABASE = "millrace_bench"
DEFAULT_MYSQL_PORT = "23097"
FIRST_OPTION = "--no-defaults"
# The variables that decide the speed of a load and the safety of its end; kept with every result.
SETTINGS = (
    "version", "version_comment", "innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "innodb_doublewrite",
    "innodb_flush_method", "innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_log_file_size",
    "innodb_log_buffer_size", "innodb_autoinc_lock_mode", "innodb_io_capacity", "innodb_io_capacity_max",
    "innodb_page_size", "innodb_write_io_threads", "innodb_use_native_aio", "innodb_ddl_threads",
    "innodb_ddl_buffer_size", "innodb_sort_buffer_size", "innodb_change_buffering", "innodb_adaptive_hash_index",
    "innodb_max_dirty_pages_pct", "performance_schema", "unique_checks", "foreign_key_checks", "tmpdir",
)  # fmt: skip


@dataclass(frozen=True)
class Server:
    """A server with the benchmark's database. `private`: started by the benchmark, without other users."""

    name: str
    address: Address
    private: bool = False

    @property
    def pid(self) -> int | None:
        """The pid of the server, if it runs on this machine and its /proc is readable; else None."""
        if not is_loopback(self.address.host):
            return None
        with connect(self.address) as connection:
            data, file = fetch_all(connection, "SELECT @@datadir, @@pid_file")[0]
        try:
            pid = int((Path(data) / file).read_text())
            Path(f"/proc/{pid}/io").read_bytes()
        except (OSError, ValueError):
            return None
        return pid

    def program(self, folder: Path) -> Path | None:
        """Write a program into the folder that starts a server of this kind, with the options that it is given.

        It is the server's own command line up to --no-defaults, the first option. None if the server does not run on
        this machine, or has no such option.
        """
        if not (pid := self.pid):
            return None
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        if FIRST_OPTION not in line:
            return None
        words = line[: line.index(FIRST_OPTION)]
        program = folder / Path(words[-1]).name
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)
        return program

    def variables(self) -> dict[str, str]:
        """The values of those SETTINGS that the server has."""
        with connect(self.address) as connection:
            variables = dict(fetch_all(connection, "SHOW GLOBAL VARIABLES"))
        return {name: variables[name] for name in SETTINGS if name in variables}

    def status(self) -> dict[str, int]:
        """InnoDB's counters, those that are numbers."""
        with connect(self.address) as connection:
            rows = fetch_all(connection, "SHOW GLOBAL STATUS LIKE 'Innodb%'")
        return {name: int(value) for name, value in rows if value.isdecimal()}


def address_of(url: str) -> Address:
    """The benchmark's database on a server given as mysql://USER:PASSWORD@HOST:PORT/."""
    parts = urlsplit(url)
    assert parts.hostname, f"{url} names no host: write it as mysql://USER:PASSWORD@HOST:PORT/"
    user, password = unquote(parts.username or "root"), unquote(parts.password or "")
    return Address(parts.hostname, parts.port or 3306, user, password, DATABASE)


def make_database(server: Server) -> None:
    """Create the benchmark's database on the server, if it does not exist."""
    with connect(replace(server.address, database="")) as connection:
        execute(connection, f"CREATE DATABASE IF NOT EXISTS {DATABASE}")


@contextmanager
def servers_to_measure(named: Sequence[str], folder: Path, options: Sequence[str]) -> Iterator[list[Server]]:
    """The servers given as NAME=URL or URL; without any, private ones in `folder` with these server options.

    Private servers are a MariaDB and, where this machine has one, a MySQL: mysqld, or the program TEST_MYSQL_COMMAND,
    whose `start PORT` starts a server with the options in MYSQLD_ARGS and whose `stop PORT` stops it. Private servers
    are stopped at the end.
    """
    with ExitStack() as stack:
        servers = [_named(each) for each in named] or list(_started(stack, folder, options))
        assert servers, "No server is named, and this machine has none to start: use --server NAME=mysql://..."
        for server in servers:
            make_database(server)
        yield servers


def _started(stack: ExitStack, folder: Path, options: Sequence[str]) -> Iterator[Server]:
    for private in _private(folder, options):
        private.start()
        stack.callback(private.stop)
        yield Server(private.label.lower(), address_of(private.url), private=True)
    if command := os.environ.get("TEST_MYSQL_COMMAND"):
        yield stack.enter_context(_from_command(command, options))


def _named(text: str) -> Server:
    name, equals, url = text.partition("=")
    if not equals:
        name, url = "", text
    return Server(name or url.rpartition("@")[2].strip("/"), address_of(url))


def _private(folder: Path, options: Sequence[str]) -> Iterator[PrivateDatabase]:
    kinds: list[type[PrivateDatabase]] = []
    if shutil.which("mariadbd"):
        kinds.append(PrivateMariaDB)
    if is_mysql(shutil.which("mysqld")):
        kinds.append(PrivateMySQL)
    for kind in kinds:
        server = kind(folder / kind.label.lower(), port=free_port())
        files = folder / f"{kind.label.lower()}-files"
        files.mkdir(parents=True, exist_ok=True)
        server.options = (*server.options, f"--secure-file-priv={files}", *options)
        yield server


@contextmanager
def _from_command(command: str, options: Sequence[str]) -> Iterator[Server]:
    port = os.environ.get("TEST_MYSQL_PORT", DEFAULT_MYSQL_PORT)
    assert is_free(int(port)), f"Port {port} is taken: name another one in TEST_MYSQL_PORT, or the server with --server"
    environment = {**os.environ, "MYSQLD_ARGS": shlex.join(options)}
    # To a file and not through a pipe: the server outlives the command and would keep the pipe open.
    done = subprocess.run([command, "start", port], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    try:
        yield Server("mysql", address_of(done.stdout.split()[0]), private=True)
    finally:
        subprocess.run([command, "stop", port], check=True)
