"""The private server of an experiment: installed on first use, and started with a variant for each trial."""

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.experiments.variants import ServerVariant, Value
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.management.processes.private_databases import (
    PrivateDatabase,
    PrivateMariaDB,
    PrivateMySQL,
    is_mysql,
    path_of,
)
from importer.management.processes.private_servers import ServerDidNotStart, free_port

DATABASE = "experiment"
KINDS: dict[str, type[PrivateDatabase]] = {"MariaDB": PrivateMariaDB, "MySQL": PrivateMySQL}
# A COMMIT is safe from a crash of the machine: the finish line of each load. A variant may have another value.
CRASH_SAFE: dict[str, Value] = {"innodb_flush_log_at_trx_commit": 1}
# What a server writes into its log when it does not take an option.
REFUSALS = ("unknown variable", "Error while setting value")
# The time, and the marks before the text of a line.
_LOG_PREFIX = re.compile(r"^.*?\[ERROR\] (\[[^]]*\] )*")


@dataclass(frozen=True)
class RunningServer:
    """A private server that runs: its database, its name with the version, and the variables of its variant."""

    address: Address
    title: str
    variables: dict[str, str]


@dataclass
class PrivateServers:
    """The private server of an experiment on a target of this flavour, with its data below `folder`.

    `program`: the path of mysqld or mariadbd; "" for the one that this machine has.
    """

    flavour: str
    folder: Path
    program: str = ""
    _port: int = field(default_factory=free_port)

    @contextmanager
    def running(self, variant: ServerVariant) -> Iterator[RunningServer]:
        """Run the server with the variant's variables, and an empty database, until the `with` block ends.

        Raises Problem if this machine has no such server, or if the server does not have the variables.
        """
        options = CRASH_SAFE | variant.options(self.flavour)
        server = self._server(options)
        try:
            self._start(server, variant)
            address = Address(str(server.socket), 0, "root", "", "")
            variables = _as_requested(address, options, variant)
            with connect(address) as connection:
                execute(connection, f"DROP DATABASE IF EXISTS {DATABASE}")
                execute(connection, f"CREATE DATABASE {DATABASE}")
                title = read_server(connection, address).title
            yield RunningServer(replace(address, database=DATABASE), title, variables)
        finally:
            server.stop()

    def remove(self) -> None:
        """Remove the server's folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _server(self, options: Mapping[str, Value]) -> PrivateDatabase:
        kind = KINDS["MariaDB" if self.flavour == "MariaDB" else "MySQL"]
        server = kind(self.folder, port=self._port, program=_found(kind, self.program))
        server.options = (*server.options, *(f"--{name}={value}" for name, value in options.items()))
        server.ends_with_parent = sys.platform == "linux"
        # Its root has no password: nobody else on this machine may reach it.
        server.only_socket = True
        if not server.socket.is_relative_to(self.folder):
            raise Problem(
                "The path of the private server's socket is too long for a Unix socket.",
                str(self.folder / "server.sock"),
                "Set VAR_DIR to a shorter path.",
            )
        return server

    def _start(self, server: PrivateDatabase, variant: ServerVariant) -> None:
        log_before = server.log.stat().st_size if server.log.exists() else 0
        try:
            server.start()
        except ServerDidNotStart as error:
            said = server.log.read_bytes()[log_before:].decode(errors="replace").splitlines()
            refusal = next((line for line in said if any(each in line for each in REFUSALS)), "")
            if not refusal:
                raise
            raise _gone(_LOG_PREFIX.sub("", refusal).rstrip("."), variant) from error


def missing(flavour: str, program: str = "") -> Problem | None:
    """The problem that this machine has no private server of the flavour; None if it has.

    `program`: the path of mysqld or mariadbd; "" for the one that this machine has.
    """
    try:
        _found(KINDS["MariaDB" if flavour == "MariaDB" else "MySQL"], program)
    except Problem as problem:
        return problem
    return None


def _found(kind: type[PrivateDatabase], program: str) -> str:
    """The path of the program. Raises Problem if it is not on this machine, or is another server's."""
    path = path_of(program or kind.program)
    if not path or is_mysql(path) != (kind is PrivateMySQL):
        raise Problem(
            f"This machine has no {kind.program} of {kind.label} for a private server.",
            program,
            "Name its path with --server-program.",
        )
    return path


def _as_requested(address: Address, options: Mapping[str, Value], variant: ServerVariant) -> dict[str, str]:
    """The values of the variables as the server has them. Raises Problem if it does not have one, or another value."""
    with connect(address) as connection:
        names = ", ".join(["%s"] * len(options))
        rows = fetch_all(connection, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})", tuple(options))
    have = {str(name).lower(): str(value) for name, value in rows}
    for name, value in options.items():
        if name not in have:
            raise _gone(f"It has no variable {name}", variant)
        if not _same(have[name], value):
            raise _gone(f"{name} stays {have[name]}", variant)
    return have


def _same(has: str, requested: Value) -> bool:
    """Whether a variable has the value; servers round sizes."""
    if has.isdecimal() and str(requested).isdecimal():
        return abs(int(has) - int(requested)) <= int(requested) // 2
    switches = {"0": "OFF", "1": "ON"}
    return has.upper() == switches.get(str(requested), str(requested)).upper()


def _gone(said: str, variant: ServerVariant) -> Problem:
    return Problem(f"A server of today does not take {variant.words}: {said}.", advice=variant.where_gone)
