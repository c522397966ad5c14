"""Compares rows with large values without reading those values back, which would make several copies of each.

Texts and bytes are compared by SHA-256. MySQL stores JSON in its own notation, so the file's document is sent in
pieces and the server compares it with the stored one.
"""

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256

from importer.engine.load.readback import expected_rows
from importer.engine.load.readback.row_keys import key_of
from importer.engine.load.readback.value_equality import accepted
from importer.engine.mysql.connection import Connection
from importer.engine.mysql.prepared_statements import PreparedStatement
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column
from importer.engine.source import encodings
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.large_values import OVERSIZED_BYTES, LargeValue, large_values

EQUAL = b"1"


def matches(connection: Connection, readback: Readback, dialect: Dialect, record: bytes) -> bool:
    """Whether the table stores the values of this record of the file.

    False also if the record is not above OVERSIZED_BYTES bytes or cannot be compared in this way: the caller then
    compares the row value by value.
    """
    if len(record) <= OVERSIZED_BYTES:
        return False
    values = list(large_values(record, dialect))
    large = {at: each for at, each in enumerate(readback.readings) if _is_large(each, values[each.field])}
    digested = {each.field for each in large.values() if not _is_document(each.column)}
    if any(each.field in digested for each in large.values() if _is_document(each.column)):
        return False
    fields = {each.field for each in large.values()}
    texts = [_text(value, dialect, field in fields, field in digested) for field, value in enumerate(values)]
    (expected_row,) = expected_rows.expected_values(connection, readback, [texts])
    for at, each in large.items():
        value = values[each.field]
        if _is_document(each.column) and value:
            _compare(connection, readback, at, expected_row, _in_utf8(value, dialect.encoding))
    instead = {
        at: _equality_variable(at) if _is_document(each.column) else _digest(each.column) for at, each in large.items()
    }
    stored_rows = expected_rows.stored_values(connection, readback, [expected_row], instead)
    stored_row = stored_rows.get(key_of(readback, expected_row))
    return stored_row is not None and all(
        expected == stored or (at not in large and accepted(compared.column, expected, stored, readback.rounding))
        for at, (compared, expected, stored) in enumerate(zip(readback.readings, expected_row, stored_row, strict=True))
    )


def _is_document(column: Column) -> bool:
    """Whether the type is MySQL's JSON. In MariaDB a JSON column is a LONGTEXT."""
    return column.column_type.family is Family.JSON


def _is_large(compared: ComparedColumn, value: LargeValue | None) -> bool:
    comparable = not compared.expression and (compared.column.column_type.is_digested or _is_document(compared.column))
    return comparable and value is not None and value.size > OVERSIZED_BYTES // 2


def _text(value: LargeValue | None, dialect: Dialect, large: bool, digested: bool) -> bytes | None:
    """The value in UTF-8; for a large one its SHA-256 in hexadecimal if `digested`, else EQUAL."""
    if value is None:
        return None
    if large and not digested:
        return EQUAL
    pieces = _in_utf8(value, dialect.encoding)
    if not large:
        return b"".join(pieces)
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest().encode()


def _digest(column: Column) -> str:
    """SQL for the SHA-256 of the stored value in UTF-8, in hexadecimal."""
    name = quote_name(column.name)
    return f"SHA2({f'CONVERT({name} USING utf8mb4)' if column.column_type.has_charset else name}, 256)"


def _equality_variable(at: int) -> str:
    return f"@millrace_same_{at}"


def _compare(
    connection: Connection, readback: Readback, at: int, expected_row: expected_rows.Values, document: Iterator[bytes]
) -> None:
    """Set the variable of column `at` on the server: 1 if the row's JSON value is `document`, 0 if not, NULL if none.

    MySQL ignores the order of keys when it compares JSON (manual, Comparison and Ordering of JSON Values).
    """
    name = quote_name(readback.readings[at].column.name)
    rows = expected_rows.from_rows(readback, [expected_row])
    comparison = f"SELECT {name} = CAST(CONVERT(? USING utf8mb4) AS JSON) {rows}"
    with closing(
        PreparedStatement(connection, f"SET {_equality_variable(at)} = ({comparison})".encode(), 1)
    ) as statement:
        statement.execute_in_pieces([document])


def _in_utf8(value: LargeValue, encoding: str) -> Iterator[bytes]:
    return value.pieces() if encoding == encodings.UTF8 else (text.encode() for text in value.texts(encoding))
