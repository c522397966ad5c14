"""Large values are compared by their digests: read back as they are, there would be several copies of each."""

from collections.abc import Iterator
from hashlib import sha256

from importer.engine.connection import Connection
from importer.engine.dialect import Dialect
from importer.engine.files import encodings
from importer.engine.readback import Readback, Reading, rows
from importer.engine.readback.same_value import accepted
from importer.engine.records.large_values import LARGE, LargeValue, large_values
from importer.engine.table import TEXTS

# What a column of these kinds has is what the file says, byte for byte.
DIGESTED_KINDS = (TEXTS - {"enum", "set"}) | {"varbinary", "blob", "mediumblob", "longblob"}


def is_same(connection: Connection, readback: Readback, dialect: Dialect, record: bytes) -> bool:
    """Whether the table has what this record of the file says.

    False may also mean that this cannot be told so: then the row is to be compared as others are.
    """
    if len(record) <= LARGE:
        return False
    values = list(large_values(record, dialect))
    digested = {at for at, reading in enumerate(readback.readings) if _is_digested(reading, values[reading.field])}
    fields = {readback.readings[at].field for at in digested}
    texts = [_text(value, dialect, digested=field in fields) for field, value in enumerate(values)]
    (said,) = rows.said(connection, readback, [texts])
    found = rows.found(connection, readback, [said], digested).get(rows.key_of(readback, said))
    return found is not None and all(
        value == other or (at not in digested and accepted(reading.column, value, other, readback.rounding))
        for at, (reading, value, other) in enumerate(zip(readback.readings, said, found, strict=True))
    )


def _is_digested(reading: Reading, value: LargeValue | None) -> bool:
    fitting = not reading.expression and reading.column.kind in DIGESTED_KINDS
    return fitting and value is not None and value.size > LARGE // 2


def _text(value: LargeValue | None, dialect: Dialect, *, digested: bool) -> bytes | None:
    """The value in UTF-8, or its digest."""
    if value is None:
        return None
    pieces = _in_utf8(value, dialect.encoding)
    if not digested:
        return b"".join(pieces)
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest().encode()


def _in_utf8(value: LargeValue, encoding: str) -> Iterator[bytes]:
    return value.pieces() if encoding == encodings.UTF8 else (text.encode() for text in value.texts(encoding))
