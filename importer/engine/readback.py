"""Read back what was loaded and compare it with the file, value by value: what `verify=full` means.

It happens before COMMIT, in the transaction that loaded the chunk: a chunk with a difference leaves nothing behind.
Rows are found again by a key whose columns come from the file as they are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from importer.engine.connection import Connection
from importer.engine.dialect import Dialect
from importer.engine.errors import BadRow, Problem, RowsRefused
from importer.engine.expressions import expression
from importer.engine.files import encodings
from importer.engine.mapping import ColumnMapping
from importer.engine.records.fields import LocatedRecord, values
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


@dataclass(frozen=True)
class Reading:
    """A column that is compared, and the field (from 0) that goes into it.

    `expression` is SQL for its value over the field's text, `said.f<field>`; "" where the text goes in as it is, or as
    NULL if it is one of `null_markers`.
    """

    column: Column
    field: int
    null_markers: tuple[str, ...]
    expression: str

    @cached_property
    def null_bytes(self) -> frozenset[bytes]:
        return frozenset(marker.encode() for marker in self.null_markers)


@dataclass(frozen=True)
class Readback:
    """What is read back from a table. Rows are found by the columns of `key`; `rounding`: lost digits are no fault."""

    schema: str
    table: str
    readings: tuple[Reading, ...]
    key: tuple[str, ...]
    rounding: bool

    @classmethod
    def of(cls, table: Table, mapping: Sequence[ColumnMapping], rounding: str) -> "Readback":
        """For every column that a field goes into. Raises Problem if the rows cannot be found again."""
        readings = tuple(
            _reading(number, each, table.column(each.column)) for number, each in enumerate(mapping) if each.column
        )
        as_they_are = [each.column.name for each in readings if not (each.expression or each.null_markers)]
        key = key_for(table, as_they_are)
        return cls(table.schema, table.name, readings, key.columns, rounding == "notice")

    @cached_property
    def key_positions(self) -> tuple[int, ...]:
        names = [each.column.name.lower() for each in self.readings]
        return tuple(names.index(name.lower()) for name in self.key)

    @cached_property
    def key_kinds(self) -> tuple[tuple[int, str], ...]:
        """Where the key's values stand among the readings, and of which kind they are."""
        return tuple((at, self.readings[at].column.kind) for at in self.key_positions)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> "Readback":
        readings = tuple(
            Reading(Column(**each["column"]), each["field"], tuple(each["null_markers"]), each["expression"])
            for each in saved["readings"]
        )
        return cls(**{**saved, "readings": readings, "key": tuple(saved["key"])})


def _reading(number: int, mapping: ColumnMapping, column: Column) -> Reading:
    asked = mapping.transforms or mapping.datetime_format
    sql = expression(f"said.f{number}", mapping, column) if asked else ""
    return Reading(column, number, () if sql else mapping.null_markers, sql)


def key_for(table: Table, as_they_are: Iterable[str]) -> Key:
    """A unique key by which each row is found again; `as_they_are` are the columns that take a field unchanged.

    Raises Problem if there is none: the rows of the file could then not be told from those that were there before.
    """
    given = {name.lower() for name in as_they_are}
    known = {column.name.lower(): column for column in table.columns}
    for key in sorted(table.keys, key=lambda key: key.name != "PRIMARY"):
        columns = [known.get(name.lower()) for name in key.columns]
        if key.unique and all(column and _finds(column) and column.name.lower() in given for column in columns):
            return key
    raise Problem(
        f"Rows of {table.schema}.{table.name} cannot be found again to compare them with the file: no primary or unique"
        " key takes all its columns from the file as they are.",
        advice="Verify by counts, or give the table such a key.",
    )


def _finds(column: Column) -> bool:
    return column.kind in KEY_KINDS and not column.nullable


def read_back(connection: Connection, readback: Readback, dialect: Dialect, records: Iterable[LocatedRecord]) -> None:
    """Raise RowsRefused if a value in the table is not what one of these records of the file says."""
    found = list(islice(_all_differences(connection, readback, dialect, iter(records)), NAMED_DIFFERENCES))
    if not found:
        return
    first = found[0]
    raise RowsRefused(
        f"Read back from the table, the value {first.value!r} is another one: {first.reason}",
        where=f"line {first.line:,}, column {first.column}",
        advice="Nothing was kept of this chunk. Look for triggers, or for others that write to the table meanwhile.",
        rows=tuple(found),
        bad_rows=len({row.line for row in found}),
    )


def _all_differences(
    connection: Connection, readback: Readback, dialect: Dialect, records: Iterator[LocatedRecord]
) -> Iterator[BadRow]:
    while some := list(islice(records, ROWS_AT_ONCE)):
        said = _said(connection, readback, [_texts(record.raw, dialect) for record in some])
        yield from differences(connection, readback, [record.line for record in some], said)


def _texts(raw: bytes, dialect: Dialect) -> list[bytes | None]:
    """The fields of a record in UTF-8, as the server reads them."""
    found = values(raw, dialect)
    if dialect.encoding == encodings.UTF8:
        return found
    return [value and value.decode(dialect.encoding).encode() for value in found]


def _said(connection: Connection, readback: Readback, rows: list[list[bytes | None]]) -> list[Values]:
    """What the file says for each column of each row, transforms applied: the server applies them, as in a load."""
    transformed = [each for each in readback.readings if each.expression]
    answers = _transformed(connection, transformed, rows) if transformed else [()] * len(rows)
    result = []
    for texts, answer in zip(rows, answers, strict=True):
        coming = iter(answer)
        result.append(
            tuple(next(coming) if each.expression else _marked(texts[each.field], each) for each in readback.readings)
        )
    return result


def _marked(text: bytes | None, reading: Reading) -> bytes | None:
    return None if text in reading.null_bytes else text


def _transformed(connection: Connection, readings: list[Reading], rows: list[list[bytes | None]]) -> list[Values]:
    """One round trip for all rows."""
    numbers = [each.field for each in readings]
    lines = (
        f"SELECT {at} AS place, " + ", ".join(f"{_literal(texts[number])} AS f{number}" for number in numbers)
        for at, texts in enumerate(rows)
    )
    selected = ", ".join(each.expression for each in readings)
    sql = f"SELECT {selected} FROM ({' UNION ALL '.join(lines)}) AS said ORDER BY said.place"
    return list(_fetch_bytes(connection, sql))


def differences(
    connection: Connection, readback: Readback, lines: Sequence[int], said: Sequence[Values]
) -> Iterator[BadRow]:
    """The cells of the table that are not as `said`, and the rows that are not there; `lines` are their lines."""
    found = _found(connection, readback, said)
    for line, wanted in zip(lines, said, strict=True):
        row = found.get(_key(readback, wanted))
        if row is None:
            key = ", ".join(_shown(wanted[at]) for at in readback.key_positions)
            yield BadRow(line, ", ".join(readback.key), key, "there is no row with this key.")
        elif row != wanted:
            yield from _differing_cells(readback, line, wanted, row)


def _differing_cells(readback: Readback, line: int, said: Values, found: Values) -> Iterator[BadRow]:
    for reading, value, other in zip(readback.readings, said, found, strict=True):
        if value != other and not _accepted(reading.column, value, other, readback.rounding):
            yield BadRow(line, reading.column.name, _shown(value), f"the table has {_shown(other)}.")


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
    selected = ", ".join(_as_text(each.column) for each in readback.readings)
    table = f"{quote_name(readback.schema)}.{quote_name(readback.table)}"
    sql = f"SELECT {selected} FROM {table} WHERE ({names}) IN ({wanted})"
    return {_key(readback, row): row for row in _fetch_bytes(connection, sql)}


def _key(readback: Readback, row: Values) -> tuple[bytes, ...]:
    return tuple([_canonical(kind, row[at] or b"") for at, kind in readback.key_kinds])


def _canonical(kind: str, value: bytes) -> bytes:
    """Numbers and dates are the same however they are written; other keys by their bytes."""
    if kind.endswith("int"):
        return b"%d" % int(float(value)) if b"." in value else b"%d" % int(value)
    if kind == "date" and value.count(b"-") == 2:
        return b"%04d-%02d-%02d" % tuple(map(int, value[:10].split(b"-")))
    return value


def _literal(value: bytes | None) -> str:
    if value is None:
        return "NULL"
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
