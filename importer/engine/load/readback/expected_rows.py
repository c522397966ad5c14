"""The values that the file gives for a row, and the values that the table stores for it."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from importer.engine.load.readback.row_keys import key_of, literals_of
from importer.engine.mapping.lookups import expanded
from importer.engine.mysql.connection import Connection
from importer.engine.mysql.quoting import quote_bytes, quote_name, quote_table
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.schema.table import Column
from importer.engine.source import encodings
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.fields import values

# One text (UTF-8) for each column that is read back, None for NULL.
Values = tuple[bytes | None, ...]
Texts = list[bytes | None]
NOTHING: Mapping[int, str] = MappingProxyType({})


def texts(raw: bytes, dialect: Dialect) -> Texts:
    """The fields of a record in UTF-8, as the server reads them, and raw fields as they are; None for NULL."""
    fields = values(raw, dialect)
    if dialect.encoding == encodings.UTF8:
        return fields
    return [
        value if number in dialect.raw_fields else value and value.decode(dialect.encoding).encode()
        for number, value in enumerate(fields)
    ]


def expected_values(connection: Connection, readback: Readback, rows: list[Texts]) -> list[Values]:
    """The value that the file gives for each column of each row. The server applies the transforms, as in a load."""
    transformed_columns = [each for each in readback.readings if each.expression]
    transformed_rows = _transform(connection, transformed_columns, rows) if transformed_columns else [()] * len(rows)
    result = []
    for row, transformed_row in zip(rows, transformed_rows, strict=True):
        transformed = iter(transformed_row)
        result.append(
            tuple(
                next(transformed) if each.expression else _null_if_marker(row[each.field], each)
                for each in readback.readings
            )
        )
    return result


def _null_if_marker(text: bytes | None, compared: ComparedColumn) -> bytes | None:
    return None if text in compared.null_bytes else text


def _transform(connection: Connection, columns: list[ComparedColumn], rows: list[Texts]) -> list[Values]:
    """The values of the columns' expressions for each row, in one round trip. Expressions refer to `said.f<field>`."""
    numbers = [each.field for each in columns]
    lines = (
        f"SELECT {at} AS place, " + ", ".join(f"{quote_bytes(row[number])} AS f{number}" for number in numbers)
        for at, row in enumerate(rows)
    )
    selected = expanded(", ".join(each.expression for each in columns))
    sql = f"SELECT {selected} FROM ({' UNION ALL '.join(lines)}) AS said ORDER BY said.place"
    return list(fetch_bytes(connection, sql))


def stored_values(
    connection: Connection, readback: Readback, rows: Sequence[Values], instead: Mapping[int, str] = NOTHING
) -> dict[tuple[bytes, ...], Values]:
    """The table's rows that have the keys of `rows`, by key; every value as the text that the server makes of it.

    `instead` is SQL that is selected instead of a column, by its number among the compared ones.
    """
    sql = f"SELECT {selected_columns(readback, instead)} {from_rows(readback, rows)}"
    return {key_of(readback, row): row for row in fetch_bytes(connection, sql)}


def selected_columns(readback: Readback, instead: Mapping[int, str] = NOTHING) -> str:
    """SQL for the columns that are read back, as texts; `instead` as in stored_values()."""
    columns = [each.column for each in readback.readings]
    return ", ".join(instead.get(at) or as_text(each, quote_name(each.name)) for at, each in enumerate(columns))


def from_rows(readback: Readback, rows: Sequence[Values]) -> str:
    """FROM and WHERE clause that select the table's rows with the keys of `rows`."""
    return from_keys(readback, [literals_of(readback, key_of(readback, row)) for row in rows])


def from_keys(readback: Readback, keys: Sequence[Sequence[str]]) -> str:
    """FROM and WHERE clause that select the table's rows with these keys, each as SQL of its values."""
    names = ", ".join(quote_name(name) for name in readback.key)
    wanted = ", ".join(f"({', '.join(key)})" for key in keys)
    return f"{from_table(readback)} WHERE ({names}) IN ({wanted})"


def from_table(readback: Readback) -> str:
    """FROM clause of the table."""
    return f"FROM {quote_table(readback.schema, readback.table)}"


def as_text(column: Column, name: str) -> str:
    """SQL for the column of this quoted name as text. A FLOAT is converted to double, or it would show only six digits
    (manual, Problems with Floating-Point Values).
    """
    return f"{name} + 0e0" if column.column_type.is_single else name


def fetch_bytes(connection: Connection, sql: str) -> Iterator[Values]:
    """The rows of a query as the server sent them, without any conversion to Python types."""
    conversions: dict[Any, Any] = connection.converter
    connection.converter = {}
    try:
        connection.query(sql)
        result = connection.store_result()
        yield from result.fetch_row(0)
    finally:
        connection.converter = conversions
