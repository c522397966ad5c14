"""Sends INSERTs as a plain script does: Python's csv module reads the file, and mysqlclient writes the literals.

Imports only the standard library, because the benchmark's plain client runs this module in a process of its own to
measure its memory.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class CsvRows:
    """The first `count` rows of a file with a header, and the table and columns (as SQL) that they are inserted into.

    `hexadecimal`: positions of fields whose bytes the file has as hexadecimal digits. `verb`: the statement's first
    words.
    """

    path: str
    separator: str
    count: int
    table: str
    columns: tuple[str, ...]
    hexadecimal: tuple[int, ...] = ()
    verb: str = "INSERT"


def insert(
    connection: Any, rows: CsvRows, rows_per_statement: int, commit_every: int, committed: Callable[[], None]
) -> None:
    """Insert the rows in statements of `rows_per_statement` rows, with a commit after `commit_every` statements.

    `commit_every` 0 commits once, at the end. Calls `committed` after each commit. Autocommit must be off. Raises
    mysqlclient's exceptions.
    """
    cursor = connection.cursor()
    for number, (sql, values) in enumerate(statements(rows, rows_per_statement), start=1):
        cursor.execute(sql, values)
        if commit_every and number % commit_every == 0:
            connection.commit()
            committed()
    connection.commit()
    committed()


def statements(rows: CsvRows, rows_per_statement: int) -> Iterator[tuple[str, Sequence[str | bytes]]]:
    """The statements, each with placeholders and their values."""
    into = f"{rows.verb} INTO {rows.table} ({', '.join(rows.columns)}) VALUES "
    width = len(rows.columns)
    row = f"({', '.join(['%s'] * width)})"
    for values in _values(rows, rows_per_statement):
        yield into + ", ".join([row] * (len(values) // width)), values


def _values(rows: CsvRows, rows_per_statement: int) -> Iterator[Sequence[str | bytes]]:
    """Yield the values of each statement, row after row in one list."""
    with Path(rows.path).open(newline="") as file:
        reader = islice(csv.reader(file, delimiter=rows.separator), 1, rows.count + 1)
        while records := list(islice(reader, rows_per_statement)):
            values: list[str | bytes] = []
            for record in records:
                row: list[str | bytes] = [*record]
                for position in rows.hexadecimal:
                    row[position] = bytes.fromhex(record[position])
                values += row
            yield values
