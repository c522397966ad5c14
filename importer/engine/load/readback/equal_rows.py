"""Finds the rows of a chunk that the table has already, so that they need not be staged.

The keys of the chunk must ascend. Then the rows of the table between its first and its last key are compared with it by
their hashes, and those that it does not have are missing from the file, unless another chunk reaches into the range.
The finishing step looks at that, and whether the rows of the table are still as they were (finish/left_out.py).

A hash has 32 bits: one changed row in 4,000 million is taken for equal.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.load.readback.digest_sql import StoredDigests
from importer.engine.load.readback.file_digests import PADDING, FileDigests
from importer.engine.mysql.connection import Connection
from importer.engine.plan.readback import Readback
from importer.engine.source import encodings
from importer.engine.source.arrays import Lengths, Offsets, np
from importer.engine.source.dialect import Dialect
from importer.engine.units import MIB

# Bytes of the file whose rows are compared at once: each of them, and of the table, takes about 140 bytes of memory.
PART = MIB
# Rows of a chunk that is compared, each of which takes about 60 bytes of memory.
MOST_ROWS = 1_000_000
# Keys that a chunk does not have, which are noted.
MOST_MISSING = 10_000


@dataclass(frozen=True)
class ComparedRange:
    """The rows of the table between two keys, as a chunk was compared with them.

    `rows` is their number, `digest` the sum of their hashes, with `ascii_only` as in StoredDigests. `missing` are the
    keys that the chunk does not have.
    """

    first: int
    last: int
    rows: int
    digest: int
    ascii_only: bool
    missing: tuple[int, ...]


@dataclass(frozen=True)
class EqualRows:
    """The numbers of the rows of a chunk that are in the table as they are, ascending; `range` is what it has there."""

    rows: Offsets
    range: ComparedRange


@dataclass(frozen=True)
class _Rows:
    """The keys of rows, ascending, and their hashes."""

    keys: Offsets
    hashes: Lengths

    @classmethod
    def joined(cls, parts: "Sequence[_Rows]") -> "_Rows":
        return cls(np.concatenate([each.keys for each in parts]), np.concatenate([each.hashes for each in parts]))


@dataclass(frozen=True)
class _Hashed:
    """A part of a chunk: the numbers of the rows that are to be sent, these, and whether all is ASCII."""

    numbers: Offsets
    rows: _Rows
    ascii_only: bool

    @property
    def keys(self) -> Offsets:
        return self.rows.keys


def find_equal_rows(
    connection: Connection, readback: Readback, dialect: Dialect, rows: ChunkRows, fields: int
) -> EqualRows | None:
    """The rows of a chunk of a file with this number of `fields` that need not be sent.

    The first and the last of those that are to be sent are never among them. None if the rows cannot be compared, or
    fewer than half of them are equal.
    """
    of_file = FileDigests.of(readback, replace(dialect, encoding=encodings.UTF8), fields)
    if len(rows) > MOST_ROWS:
        return None
    parts = _hashed(of_file, readback, dialect, rows) if of_file else []
    if not of_file or not parts or not (np.diff(np.concatenate([each.keys for each in parts])) > 0).all():
        return None
    ascii_only = all(each.ascii_only for each in parts)
    stored = _stored(StoredDigests(connection, readback, of_file.forms, ascii_only), parts)
    if not stored or not len(stored.keys):
        return None
    sent = _Rows.joined([each.rows for each in parts])
    places = np.minimum(np.searchsorted(stored.keys, sent.keys), len(stored.keys) - 1)
    is_there = stored.keys[places] == sent.keys
    equal = is_there & (stored.hashes[places] == sent.hashes)
    equal[[0, -1]] = False
    missing = np.delete(stored.keys, places[is_there])
    if 2 * np.count_nonzero(equal) < len(equal) or len(missing) > MOST_MISSING:
        return None
    first, last, digest = int(sent.keys[0]), int(sent.keys[-1]), int(stored.hashes.sum(dtype=np.int64))
    compared = ComparedRange(first, last, len(stored.keys), digest, ascii_only, tuple(missing.tolist()))
    return EqualRows(np.concatenate([each.numbers for each in parts])[equal], compared)


def _stored(of_table: StoredDigests, parts: "list[_Hashed]") -> "_Rows | None":
    """The rows of the table between the first and the last key of the parts, read part by part, which bounds memory.

    None if there are many more than in a part.
    """
    found, begin = [], int(parts[0].keys[0])
    for part in parts:
        end = int(part.keys[-1])
        if not (rows := of_table.hashes_of_numbers(begin, end, 2 * len(part.keys) + MOST_MISSING)):
            return None
        found.append(_Rows(*rows))
        begin = end + 1
    return _Rows.joined(found)


def _hashed(of_file: FileDigests, readback: Readback, dialect: Dialect, rows: ChunkRows) -> "list[_Hashed]":
    """The parts of the chunk that have rows to be sent; none if the form of a value is not known."""
    ((at, _),) = readback.key_columns
    key = readback.readings[at].field
    parts = [_hashed_part(of_file, key, dialect, rows, *part) for part in rows.parts(PART) if rows.count(*part)]
    known = [each for each in parts if each]
    return known if len(known) == len(parts) else []


def _hashed_part(
    of_file: FileDigests, key: int, dialect: Dialect, rows: ChunkRows, low: int, high: int
) -> _Hashed | None:
    if rows.span(low, high)[1] > 2 * PART:
        return None
    data, sent = rows.sent_bytes(low, high), rows.sent(low, high)
    # Bytes of another encoding would differ on the server, or be refused.
    with suppress(UnicodeDecodeError):
        data = encodings.to_utf8(data, dialect.encoding)
        if found := of_file.hashes(data + PADDING, len(data), len(sent), key):
            return _Hashed(sent, _Rows(*found), data.isascii())
    return None
