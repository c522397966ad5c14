"""The rows of an application's database in MySQL or MariaDB, as lines of JSON: read in one snapshot, written in one
transaction. Neither needs a client program of the server."""

import base64
import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from MySQLdb.cursors import SSCursor

MIGRATIONS = "django_migrations"
BATCH_BYTES = 2**20  # of JSON
BYTES = "bytes"


def write_rows(path: Path) -> None:
    """Write all rows of all tables of the application to a new file, as they are at this moment."""
    own = connection.copy()  # A session of its own: the snapshot must not be ended by anything else.
    try:
        with own.cursor() as cursor, gzip.open(path, "xb", compresslevel=1) as out:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            for table in _tables(own):
                for line in _lines_of(own, table):
                    out.write(line + b"\n")
            cursor.execute("COMMIT")
    finally:
        own.close()


def replace_rows(path: Path) -> None:
    """Replace all rows of all tables of the application by those of the file. In a transaction: all, or none.

    The tables must be in the state in which the file was written.
    """
    with connection.cursor() as cursor:
        # Each row's parent is in the file, too, but may come after it.
        cursor.execute("SET SESSION foreign_key_checks = 0")
        try:
            for table in _tables(connection):
                cursor.execute(f"DELETE FROM {_quoted(table)}")
            for statement, rows in _batches(path):
                cursor.executemany(statement, rows)
        finally:
            cursor.execute("SET SESSION foreign_key_checks = 1")


def _tables(of: BaseDatabaseWrapper) -> list[str]:
    names = of.introspection.django_table_names(only_existing=True, include_views=False)
    return sorted(set(names) - {MIGRATIONS})


def _lines_of(own: BaseDatabaseWrapper, table: str) -> Iterator[bytes]:
    """A line with the table and its columns, and a line for each row.

    The rows stay on the server until they are read: the usual cursor would hold a whole table in memory.
    """
    columns = _stored_columns(own, table)
    with closing(own.connection.cursor(SSCursor)) as cursor:
        cursor.execute(f"SELECT {', '.join(map(_quoted, columns))} FROM {_quoted(table)}")
        yield json.dumps({"table": table, "columns": columns}).encode()
        for row in cursor:
            yield json.dumps([_as_json(value) for value in row], ensure_ascii=False).encode()


def _stored_columns(of: BaseDatabaseWrapper, table: str) -> list[str]:
    """The columns of a table that an INSERT may name.

    A generated one takes no value: error 3105 in MySQL, 1906 in MariaDB. MySQL gives the other columns an empty
    expression, MariaDB gives them NULL.
    """
    with of.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = %s"
            " AND COALESCE(generation_expression, '') = '' ORDER BY ordinal_position",
            [table],
        )
        return [name for (name,) in cursor.fetchall()]


def _batches(path: Path) -> Iterator[tuple[str, list[list[Any]]]]:
    """Statements with the rows for them, about BATCH_BYTES at once."""
    statement, size = "", 0
    rows: list[list[Any]] = []
    with gzip.open(path, "rb") as lines:
        for line in lines:
            value = json.loads(line)
            if rows and (isinstance(value, dict) or size > BATCH_BYTES):
                yield statement, rows
                rows, size = [], 0
            if isinstance(value, dict):
                columns = ", ".join(map(_quoted, value["columns"]))
                places = ", ".join(["%s"] * len(value["columns"]))
                statement = f"INSERT INTO {_quoted(value['table'])} ({columns}) VALUES ({places})"
            else:
                rows.append(list(map(_from_json, value)))
                size += len(line)
    if rows:
        yield statement, rows


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time | Decimal):
        return str(value)
    if isinstance(value, bytes):
        return {BYTES: base64.b64encode(value).decode()}
    return value


def _from_json(value: Any) -> Any:
    return base64.b64decode(value[BYTES]) if isinstance(value, dict) else value
