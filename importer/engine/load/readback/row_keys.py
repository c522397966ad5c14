"""The key values of a row, in the one notation in which the server shows them, and SQL for them.

The file may have another notation: `20240102` for a date, `+5` for a number, spaces behind a CHAR. Key columns have one
of the types that finds_row (schema/column_types.py) names.
"""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from importer.engine.load.readback.times import day_of
from importer.engine.mysql.quoting import quote_bytes
from importer.engine.plan.readback import Readback
from importer.engine.schema.charsets import AS_UTF8
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column
from importer.engine.validation.types.texts import WHITE

_WHOLE = re.compile(rb"0|-?[1-9]\d*")
_DAY = re.compile(rb"\d{4}-\d\d-\d\d")


def key_of(readback: Readback, row: Sequence[bytes | None]) -> tuple[bytes, ...]:
    """The row's key values as the server shows them, so that keys from the file and from the server are equal.

    `row` has a value for each compared column.
    """
    return tuple([_as_shown(column, row[at] or b"") for at, column in readback.key_columns])


def key_literals(readback: Readback, row: Sequence[bytes | None]) -> list[str]:
    """SQL for the key's values of a row of the file, which go into their columns as they are."""
    fields = [(column, row[readback.readings[at].field] or b"") for at, column in readback.key_columns]
    return [_literal(column, _as_shown(column, value)) for column, value in fields]


def literals_of(readback: Readback, key: tuple[bytes, ...]) -> list[str]:
    """SQL for the values of a key of key_of()."""
    return [_literal(column, value) for (_, column), value in zip(readback.key_columns, key, strict=True)]


def _literal(column: Column, value: bytes) -> str:
    """SQL for a value as the server shows it.

    A whole number is no text, or it would be compared as a double. A text is in the column's character set: in utf8mb4,
    MariaDB does not find it by `(k, id) IN (...)` with several rows (server-behaviour.md, Functions and patterns).
    """
    if column.column_type.family is Family.INTEGER and _WHOLE.fullmatch(value):
        return value.decode()
    literal = quote_bytes(value)
    own = column.charset and column.charset not in AS_UTF8
    return f"CONVERT({literal} USING {column.charset})" if own else literal


def _as_shown(column: Column, value: bytes) -> bytes:
    """The value as the server shows it; as it is if it is no value of the column's type."""
    try:
        return _AS_SHOWN[column.column_type.family](column, value)
    except (ValueError, ArithmeticError):
        return value


def _whole(_column: Column, value: bytes) -> bytes:
    if _WHOLE.fullmatch(value):
        return value
    number = Decimal(value.decode())
    return b"%d" % int(number) if number == number.to_integral_value() else value


def _day(_column: Column, value: bytes) -> bytes:
    return value if _DAY.fullmatch(value) else day_of(value.decode()).encode()


def _text(column: Column, value: bytes) -> bytes:
    if len(value) <= column.declared_size and not value.endswith(b" "):
        return value
    return kept_text(column, value.decode()).encode()


def _bytes(column: Column, value: bytes) -> bytes:
    return value.ljust(column.declared_size, b"\0") if column.column_type.fixed else value


_AS_SHOWN: dict[Family, Callable[[Column, bytes], bytes]] = {
    Family.INTEGER: _whole,
    Family.DATE: _day,
    Family.CHARACTER: _text,
    Family.BYTES: _bytes,
}


def kept_text(column: Column, text: str) -> str:
    """What CHAR or VARCHAR keeps: without white space beyond its length, CHAR also without spaces at the end.

    A longer text stays as it is: the servers refuse it.
    """
    length = column.declared_size
    if length and not text[length:].strip(WHITE):
        text = text[:length]
    return text.rstrip(" ") if column.column_type.fixed else text
