"""INSERTs as a plain script sends them: it reads the file with Python's csv, and lets mysqlclient write the literals.

Only the standard library is needed here: the benchmark's plain client runs it in a process whose memory is its own.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class CsvRows:
    """The first `count` rows of a file with a header, and where they go: table and columns as SQL has them.

    `hexadecimal` are the positions of fields whose bytes stand there as hexadecimal digits.
    """

    path: str
    separator: str
    count: int
    table: str
    columns: tuple[str, ...]
    hexadecimal: tuple[int, ...] = ()


def insert(
    connection: Any, rows: CsvRows, rows_per_statement: int, commit_every: int, committed: Callable[[], None]
) -> None:
    """INSERTs of so many rows, committed after so many statements (0: once, at the end); tells of each commit.

    The connection must not commit by itself. Raises what mysqlclient does.
    """
    cursor = connection.cursor()
    into = f"INSERT INTO {rows.table} ({', '.join(rows.columns)}) VALUES "
    width = len(rows.columns)
    row = f"({', '.join(['%s'] * width)})"
    for number, values in enumerate(_values(rows, rows_per_statement), start=1):
        cursor.execute(into + ", ".join([row] * (len(values) // width)), values)
        if commit_every and number % commit_every == 0:
            connection.commit()
            committed()
    connection.commit()
    committed()


def _values(rows: CsvRows, rows_per_statement: int) -> Iterator[Sequence[str | bytes]]:
    """The values of each statement, one row after the other."""
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
