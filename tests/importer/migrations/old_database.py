"""The old version's database: the dump read into a file, migrated as an upgrade does it, and used by this process."""

import csv
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.db import connections

from importer.connections.protocols.folder import identity
from importer.engine.mysql.connection import Address, Connection, connect, execute
from tests.stack import ROOT

HERE = Path(__file__).parent
DUMP = HERE / "before_rename.sql"
# What lay in the old version's VAR_DIR, as far as it is still read, and the path that stands for it in the dump.
FILES = HERE / "before_rename"
VAR_DIR = "/var/lib/millrace"
# Made for the dump, and for nothing else.
KEY = "b2xkLWR1bXAtdGhyb3ctYXdheS1rZXktMDEyMzQ1Njc="
USER, PASSWORD, DATABASE = "loader", "loader of the old dump", "sales"


@dataclass(frozen=True)
class OldDatabase:
    """The application's database as a file, and the folder that its paths lead into."""

    file: Path
    var_dir: Path

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        with closing(sqlite3.connect(self.file)) as base:
            names = base.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            tables = [name for (name,) in names]
            return {name: base.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in tables}

    @property
    def broken_references(self) -> list[tuple]:
        """Rows that name another one which is not there."""
        with closing(sqlite3.connect(self.file)) as base:
            return base.execute("PRAGMA foreign_key_check").fetchall()

    def copied_to(self, folder: Path) -> "OldDatabase":
        """The same in a file of its own; what lies in `var_dir` is as it was again."""
        shutil.copytree(FILES, self.var_dir, dirs_exist_ok=True)
        return OldDatabase(Path(shutil.copy(self.file, folder)), self.var_dir)


def read_dump(folder: Path, port: int) -> OldDatabase:
    """As the old version left it, but for where its files lie and on which port its target listens."""
    base = OldDatabase(folder / "old.sqlite3", folder / "var")
    shutil.copytree(FILES, base.var_dir)
    with closing(sqlite3.connect(base.file)) as connection:
        connection.executescript(DUMP.read_text().replace(VAR_DIR, str(base.var_dir)))
        connection.execute("UPDATE importer_target SET port = ? WHERE name = 'warehouse'", (port,))
        _find_again(connection)
        connection.commit()
    return base


def _find_again(connection: sqlite3.Connection) -> None:
    """A file of a connection is known by its place on the disk and its time, which the copy does not have."""
    found = connection.execute("SELECT id, path FROM importer_sourcefile WHERE found_etag <> ''").fetchall()
    for number, path in ((number, Path(path)) for number, path in found):
        if path.exists():
            etag = identity(path.stat())
            connection.execute("UPDATE importer_sourcefile SET found_etag = ? WHERE id = ?", (etag, number))


def migrate(base: OldDatabase) -> None:
    """What an upgrade runs, in a process of its own."""
    own = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"sqlite:///{base.file}",
        "VAR_DIR": str(base.var_dir),
        "ENCRYPTION_KEYS": KEY,
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env={**os.environ, **own}, capture_output=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


@contextmanager
def used_by_the_application(file: Path) -> Iterator[None]:
    """Every query of this process, in any thread, goes to this SQLite database in this context."""
    usual, usual_connection = connections.settings["default"], connections["default"]
    usual_connection.close()
    other = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(file), "OPTIONS": settings.SQLITE["OPTIONS"]}
    connections.settings["default"] = {**usual, **other}
    del connections["default"]
    try:
        yield
    finally:
        connections["default"].close()
        connections.settings["default"] = usual
        connections["default"] = usual_connection


@contextmanager
def warehouse(server: Address) -> Iterator[Address]:
    """The target that the old imports went into, as they reach it, with its tables and without their rows."""
    with connect(server) as connection:
        execute(connection, f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
        execute(connection, f"CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
        execute(connection, f"GRANT ALL ON *.* TO {USER}@'127.0.0.1'")
    address = replace(server, user=USER, password=PASSWORD, database=DATABASE)
    with connect(address) as connection:
        _run_file(connection, "tables.sql")
    yield address
    with connect(server) as connection:
        execute(connection, f"DROP DATABASE {DATABASE}")
        execute(connection, f"DROP USER {USER}@'127.0.0.1'")


def put_back_half_loaded(address: Address) -> None:
    """What the failed import 4 and the paused import 15 had brought into the target, and the ledger about that."""
    with connect(address) as connection:
        execute(connection, "DROP TABLE IF EXISTS millrace_ledger")
        _run_file(connection, "ledger.sql")
        for table in ("orders", "orders_copy", "customers"):
            execute(connection, f"DELETE FROM {table}")
        for number in range(1, 61):
            _insert(connection, "customers (id, name)", (str(number), "somebody"))
        _insert_first(connection, "orders", "broken_orders.csv", 48)
        _insert_first(connection, "orders_copy", "orders.csv", 194)
        connection.commit()


def _insert_first(connection: Connection, table: str, file: str, rows: int) -> None:
    with (FILES / "files" / file).open(newline="") as lines:
        for values in list(csv.reader(lines))[1 : rows + 1]:
            _insert(connection, table, values)


def _insert(connection: Connection, table: str, values: Sequence[str]) -> None:
    execute(connection, f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(values))})", tuple(values))


def _run_file(connection: Connection, name: str) -> None:
    for statement in filter(str.strip, (HERE / name).read_text().split(";\n")):
        execute(connection, statement)
