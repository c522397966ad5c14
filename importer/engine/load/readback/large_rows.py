"""Large values are told from others without being read back, which would make several copies of each.

Texts and bytes are compared by their digests. MySQL writes a JSON value in its own way: it is sent what the file says,
piece by piece, and compares by itself.
"""

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256

from importer.engine.load.readback import expected_rows
from importer.engine.load.readback.value_equality import accepted
from importer.engine.mysql.connection import Connection
from importer.engine.mysql.prepared_statements import Prepared
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.readback import Readback, Reading
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column
from importer.engine.source import encodings
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.oversized_values import LARGE, LargeValue, large_values

EQUAL = b"1"


def matches(connection: Connection, readback: Readback, dialect: Dialect, record: bytes) -> bool:
    """Whether the table has what this record of the file says.

    False may also mean that this cannot be told so: then the row is to be compared as others are.
    """
    if len(record) <= LARGE:
        return False
    values = list(large_values(record, dialect))
    large = {at: each for at, each in enumerate(readback.readings) if _is_large(each, values[each.field])}
    digested = {each.field for each in large.values() if not _is_document(each.column)}
    if any(each.field in digested for each in large.values() if _is_document(each.column)):
        return False
    fields = {each.field for each in large.values()}
    texts = [_text(value, dialect, field in fields, field in digested) for field, value in enumerate(values)]
    (said,) = expected_rows.expected_values(connection, readback, [texts])
    for at, each in large.items():
        value = values[each.field]
        if _is_document(each.column) and value:
            _compare(connection, readback, at, said, _in_utf8(value, dialect.encoding))
    instead = {at: _same(at) if _is_document(each.column) else _digest(each.column) for at, each in large.items()}
    found = expected_rows.stored_values(connection, readback, [said], instead).get(expected_rows.key_of(readback, said))
    return found is not None and all(
        value == other or (at not in large and accepted(reading.column, value, other, readback.rounding))
        for at, (reading, value, other) in enumerate(zip(readback.readings, said, found, strict=True))
    )


def _is_document(column: Column) -> bool:
    """MySQL's JSON; in MariaDB such a column is a LONGTEXT."""
    return column.column_type.family is Family.JSON


def _is_large(reading: Reading, value: LargeValue | None) -> bool:
    fitting = not reading.expression and (reading.column.column_type.is_digested or _is_document(reading.column))
    return fitting and value is not None and value.size > LARGE // 2


def _text(value: LargeValue | None, dialect: Dialect, large: bool, digested: bool) -> bytes | None:
    """The value in UTF-8; of a large one its digest, or that it is the same."""
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
    """SHA-256 of the value in UTF-8, in hexadecimal."""
    name = quote_name(column.name)
    return f"SHA2({f'CONVERT({name} USING utf8mb4)' if column.column_type.has_charset else name}, 256)"


def _same(at: int) -> str:
    return f"@millrace_same_{at}"


def _compare(
    connection: Connection, readback: Readback, at: int, said: expected_rows.Values, document: Iterator[bytes]
) -> None:
    """Have the server say in a variable whether the row's JSON value is this document (1), another (0) or none (NULL).

    As MySQL compares JSON: the order of keys does not count (manual, Comparison and Ordering of JSON Values).
    """
    name = quote_name(readback.readings[at].column.name)
    told = f"SELECT {name} = CAST(CONVERT(? USING utf8mb4) AS JSON) {expected_rows.from_rows(readback, [said])}"
    with closing(Prepared(connection, f"SET {_same(at)} = ({told})".encode(), 1)) as statement:
        statement.execute_in_pieces([document])


def _in_utf8(value: LargeValue, encoding: str) -> Iterator[bytes]:
    return value.pieces() if encoding == encodings.UTF8 else (text.encode() for text in value.texts(encoding))
