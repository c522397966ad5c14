"""Read back what was loaded and compare it with the file, value by value: what `verify=full` means.

It happens before COMMIT, in the transaction that loaded the chunk: a chunk with a difference leaves nothing behind.
Rows are found again by a key whose columns come from the file as they are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from importer.engine.connection import Connection
from importer.engine.errors import BadRow, Problem, RowsRefused
from importer.engine.same_value import Sameness, same_value
from importer.engine.sql import quote_name
from importer.engine.table import Column, Key, Table

ROWS_AT_ONCE = 1000
NAMED_DIFFERENCES = 20
SHOWN_BYTES = 200
# A text of these kinds in the file finds the row again, whatever the server makes of it.
KEY_KINDS = frozenset(
    {"tinyint", "smallint", "mediumint", "int", "bigint", "char", "varchar", "binary", "varbinary", "date"}
)

# A text (UTF-8) for each column that is read back, None for NULL.
Values = tuple[bytes | None, ...]
# One record as it should be in the table: its physical line, and its values.
Expected = tuple[int, Values]


@dataclass(frozen=True)
class Readback:
    """What is read back from a table: `columns` in the order of the expected values, found by the columns of `key`."""

    schema: str
    table: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def key_positions(self) -> tuple[int, ...]:
        names = [column.name.lower() for column in self.columns]
        return tuple(names.index(name.lower()) for name in self.key)


def key_for(table: Table, as_they_are: Iterable[str]) -> Key:
    """A unique key by which each row is found again; `as_they_are` are the columns that take a field unchanged.

    Raises Problem if there is none: the rows of the file could then not be told from those that were there before.
    """
    given = {name.lower() for name in as_they_are}
    kinds = {column.name.lower(): column for column in table.columns}
    for key in sorted(table.keys, key=lambda key: key.name != "PRIMARY"):
        columns = [kinds.get(name.lower()) for name in key.columns]
        if key.unique and all(
            column and column.kind in KEY_KINDS and not column.nullable and column.name.lower() in given
            for column in columns
        ):
            return key
    raise Problem(
        f"Rows of {table.schema}.{table.name} cannot be found again to compare them with the file: no primary or unique"
        " key takes all its columns from the file as they are.",
        advice="Verify by counts, or give the table such a key.",
    )


def compare(
    connection: Connection, readback: Readback, expected: Iterable[Expected], *, rounding_allowed: bool
) -> Iterator[BadRow]:
    """The cells of the table that differ from the file, and the rows that are not there."""
    records = iter(expected)
    while some := list(islice(records, ROWS_AT_ONCE)):
        found = _found(connection, readback, [values for _, values in some])
        for line, values in some:
            row = found.get(_key(readback, values))
            if row != values:
                yield from _differences(readback, line, values, row, rounding_allowed)


def refuse_differences(differences: Iterable[BadRow], where: str) -> None:
    """Raise RowsRefused with the first of the differences, if there is any."""
    first = list(islice(differences, NAMED_DIFFERENCES))
    if not first:
        return
    worst = first[0]
    raise RowsRefused(
        f"Read back from the table, column {worst.column or '(the row)'} is not what the file says: {worst.reason}",
        where=f"line {worst.line:,}",
        advice=f"Nothing was kept of this chunk ({where}). Look for triggers or other writers that change the rows.",
        rows=tuple(first),
        bad_rows=len(first),
    )


def _differences(
    readback: Readback,
    line: int,
    wanted: tuple[bytes | None, ...],
    got: tuple[bytes | None, ...] | None,
    rounding: bool,
) -> Iterator[BadRow]:
    if got is None:
        key = ", ".join(_shown(wanted[at]) for at in readback.key_positions)
        yield BadRow(line, ", ".join(readback.key), key, "no row with this key is in the table.")
        return
    for column, said, found in zip(readback.columns, wanted, got, strict=True):
        if said != found and not _accepted(column, said, found, rounding):
            yield BadRow(line, column.name, _shown(said), f"the table has {_shown(found)}.")


def _accepted(column: Column, said: bytes | None, found: bytes | None, rounding: bool) -> bool:
    if said is None or found is None:
        return False
    sameness = same_value(column, said, found)
    return sameness is Sameness.SAME or (rounding and sameness is Sameness.ROUNDED)


def _shown(value: bytes | None) -> str:
    return "NULL" if value is None else value[:SHOWN_BYTES].decode(errors="backslashreplace")


def _found(connection: Connection, readback: Readback, rows: Sequence[Values]) -> dict[tuple[bytes, ...], Values]:
    """The table's rows with the keys of these, by key, every value as the server writes it as text."""
    names = ", ".join(quote_name(name) for name in readback.key)
    wanted = ", ".join(f"({', '.join(map(_literal, _key(readback, row)))})" for row in rows)
    selected = ", ".join(map(_as_text, readback.columns))
    table = f"{quote_name(readback.schema)}.{quote_name(readback.table)}"
    sql = f"SELECT {selected} FROM {table} WHERE ({names}) IN ({wanted})"
    return {_key(readback, row): row for row in _fetch_bytes(connection, sql)}


def _key(readback: Readback, values: Sequence[bytes | None]) -> tuple[bytes, ...]:
    return tuple(_canonical(readback.columns[at], values[at] or b"") for at in readback.key_positions)


def _canonical(column: Column, value: bytes) -> bytes:
    """Whole numbers are the same however they are written; other keys by their bytes."""
    if not column.kind.endswith("int"):
        return value
    try:
        return str(int(value)).encode()
    except ValueError:
        return value


def _literal(value: bytes) -> str:
    return f"_utf8mb4 x'{value.hex()}'" if value else "''"


def _as_text(column: Column) -> str:
    """FLOAT shows six digits only, unless it is made a double (manual, Problems with Floating-Point Values)."""
    return f"{quote_name(column.name)} + 0e0" if column.kind == "float" else quote_name(column.name)


def _fetch_bytes(connection: Connection, sql: str) -> Iterator[Values]:
    """The rows of a query as the server sent them: no value is converted on its way."""
    conversions: dict[Any, Any] = connection.converter
    connection.converter = {}
    try:
        connection.query(sql)
        result = connection.store_result()
        yield from result.fetch_row(0)
    finally:
        connection.converter = conversions
