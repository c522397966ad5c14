"""A database of the application with everything in it, in a file of its own, and used by this process."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.db import connections

from importer.connections.protocols.folder import identity
from importer.engine.mysql.connection import Address, connect, execute
from tests.prepared import copy_of_tables

HERE = Path(__file__).parent
ROWS = HERE / "database.sql"
# What lies in VAR_DIR, and the path that stands for it in the rows.
FILES = HERE / "var"
VAR_DIR = "/var/lib/millrace"
# Made for these rows, and for nothing else.
KEY = "b2xkLWR1bXAtdGhyb3ctYXdheS1rZXktMDEyMzQ1Njc="
USER, PASSWORD, DATABASE = "loader", "loader of the old dump", "sales"


@dataclass(frozen=True)
class FilledDatabase:
    """The application's database as a file, and the folder that its paths lead into."""

    file: Path
    var_dir: Path

    def copied_to(self, folder: Path) -> "FilledDatabase":
        """The same in a file of its own; what lies in `var_dir` is as it was again."""
        shutil.copytree(FILES, self.var_dir, dirs_exist_ok=True)
        return FilledDatabase(Path(shutil.copy(self.file, folder)), self.var_dir)


def filled_database(folder: Path, port: int) -> FilledDatabase:
    """Tables as the migrations make them, with the rows; its target listens on this port."""
    base = FilledDatabase(folder / "filled.sqlite3", folder / "var")
    shutil.copytree(FILES, base.var_dir)
    copy_of_tables(base.file)
    with closing(sqlite3.connect(base.file)) as connection:
        connection.executescript(ROWS.read_text().replace(VAR_DIR, str(base.var_dir)))
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
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
    """The target that the imports went into, as they reach it, with its tables and without their rows."""
    with connect(server) as connection:
        execute(connection, f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
        execute(connection, f"CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
        execute(connection, f"GRANT ALL ON *.* TO {USER}@'127.0.0.1'")
    address = replace(server, user=USER, password=PASSWORD, database=DATABASE)
    with connect(address) as connection:
        for statement in filter(str.strip, (HERE / "tables.sql").read_text().split(";\n")):
            execute(connection, statement)
    yield address
    with connect(server) as connection:
        execute(connection, f"DROP DATABASE {DATABASE}")
        execute(connection, f"DROP USER {USER}@'127.0.0.1'")
