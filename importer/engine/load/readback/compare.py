"""Compares the values that the table stores with those of the file (`--verify full`).

Where the digests of a part of the chunk are equal (digest_comparison.py), its values are. All others are read back and
compared one by one, in batches of rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest

from importer.engine.errors import BadRow, RowsRefused
from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.load.readback import expected_rows, large_rows, numbered_rows
from importer.engine.load.readback.canonical_forms import without_digest
from importer.engine.load.readback.digest_comparison import DigestComparison
from importer.engine.load.readback.expected_rows import Values
from importer.engine.load.readback.row_keys import key_of
from importer.engine.load.readback.value_equality import accepted
from importer.engine.mysql.connection import Connection
from importer.engine.plan.readback import Readback
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.fields import LocatedRecord
from importer.engine.source.records.large_values import OVERSIZED_BYTES

ROWS_AT_ONCE = 1000
NAMED_DIFFERENCES = 20
SHOWN_BYTES = 200
NUMBERED_BY_SERVER = "the server gives this row its number, so the row cannot be found again."


def read_back(connection: Connection, readback: Readback, dialect: Dialect, rows: ChunkRows, fields: int) -> None:
    """Raise RowsRefused if a stored value differs from the value of a row that was sent.

    The file has this number of `fields`. The error names the first NAMED_DIFFERENCES differing values.
    """
    different = list(islice(_all_differences(connection, readback, dialect, rows, fields), NAMED_DIFFERENCES))
    if not different:
        return
    first = different[0]
    what = f"Read back from the table, the value {first.value!r} is another one: {first.reason}"
    advice = "Look for triggers, and for others that write to the table now."
    if first.reason == NUMBERED_BY_SERVER:
        what = f"The row cannot be read back: {first.reason}"
        advice = (
            "Give each row of the file a number, leave the column out of the mapping, or load without --verify full."
        )
    raise RowsRefused(
        what,
        where=f"line {first.line:,}, column {first.column}",
        advice=f"Nothing was kept of this chunk. {advice}",
        rows=tuple(different),
        bad_rows=len({row.line for row in different}),
    )


def _all_differences(
    connection: Connection, readback: Readback, dialect: Dialect, rows: ChunkRows, fields: int
) -> Iterator[BadRow]:
    """First the differing values in parts of the chunk whose digests differ, then those in columns without a digest."""
    parts = DigestComparison.of(connection, readback, dialect, rows, fields)
    compare = _differences_in_order if readback.numbered_by else _differences_of
    yield from compare(connection, readback, dialect, rows.located(parts.differing_rows()))
    if parts.equal and (others := without_digest(readback)):
        yield from compare(connection, others, dialect, rows.located(parts.equal_rows()))


def _differences_of(
    connection: Connection, readback: Readback, dialect: Dialect, records: Iterable[LocatedRecord]
) -> Iterator[BadRow]:
    for batch in _batches(records):
        if len(batch) > 1 or not large_rows.matches(connection, readback, dialect, batch[0].raw):
            expected = expected_rows.expected_values(
                connection, readback, [expected_rows.texts(record.raw, dialect) for record in batch]
            )
            yield from differences(connection, readback, [record.line for record in batch], expected)


def _differences_in_order(
    connection: Connection, readback: Readback, dialect: Dialect, records: Iterable[LocatedRecord]
) -> Iterator[BadRow]:
    """The differing values of rows that are found by their numbers, in the order in which they were sent.

    If rows are missing, or others are among them, the values differ from that row on.
    """
    # As many as the batch has, so that they take about as much memory.
    stored = numbered_rows.StoredRows(connection, readback)
    name, line = readback.numbered_by, 0
    for batch in _batches(records):
        texts = [expected_rows.texts(record.raw, dialect) for record in batch]
        expected = expected_rows.expected_values(connection, readback, texts)
        lines = [record.line for record in batch]
        for line, expected_row, stored_row in zip_longest(lines, expected, stored.following(len(batch))):
            if stored_row is None:
                yield BadRow(line, name, "", "the table has fewer rows of this chunk than were sent.")
            else:
                yield from _differing_cells(readback, line, expected_row, stored_row)
    if line and stored.following(1):
        yield BadRow(line, name, "", "the table has more rows of this chunk than were sent.")


def _batches(records: Iterable[LocatedRecord]) -> Iterator[list[LocatedRecord]]:
    """Batches of at most ROWS_AT_ONCE records and about OVERSIZED_BYTES bytes; a record above OVERSIZED_BYTES bytes is
    a batch by itself.

    A batch is emptied when the next one is requested, so that two batches are never in memory.
    """
    batch: list[LocatedRecord] = []
    size = 0
    for record in records:
        if batch and size + len(record.raw) > OVERSIZED_BYTES:
            yield batch
            batch.clear()
            size = 0
        batch.append(record)
        size += len(record.raw)
        del record
        if len(batch) == ROWS_AT_ONCE or size > OVERSIZED_BYTES:
            yield batch
            batch.clear()
            size = 0
    if batch:
        yield batch


def differences(
    connection: Connection, readback: Readback, lines: Sequence[int], expected: Sequence[Values]
) -> Iterator[BadRow]:
    """The stored values that differ from the `expected` rows, and the rows whose key is not in the table.

    `lines` are the lines of the expected rows in the file.
    """
    stored = expected_rows.stored_values(connection, readback, expected)
    for line, expected_row in zip(lines, expected, strict=True):
        stored_row = stored.get(key_of(readback, expected_row))
        if stored_row is None:
            key = ", ".join(_shown(expected_row[at]) for at in readback.key_positions)
            yield BadRow(line, ", ".join(readback.key), key, _why_not_found(readback, expected_row))
        elif stored_row != expected_row:
            yield from _differing_cells(readback, line, expected_row, stored_row)


def _why_not_found(readback: Readback, expected_row: Values) -> str:
    numbered = any(expected_row[at] is None and column.auto_increment for at, column in readback.key_columns)
    return NUMBERED_BY_SERVER if numbered else "there is no row with this key."


def _differing_cells(readback: Readback, line: int, expected_row: Values, stored_row: Values) -> Iterator[BadRow]:
    for compared, expected, stored in zip(readback.readings, expected_row, stored_row, strict=True):
        if expected != stored and not accepted(compared.column, expected, stored, readback.rounding):
            yield BadRow(line, compared.column.name, _shown(expected), f"the table has {_shown(stored)}.")


def _shown(value: bytes | None) -> str:
    return "NULL" if value is None else value[:SHOWN_BYTES].decode(errors="backslashreplace")
