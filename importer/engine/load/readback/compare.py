"""Every value that the file says beside the one that the table has, some rows at a time."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from importer.engine.errors import BadRow, RowsRefused
from importer.engine.load.readback import expected_rows, large_rows
from importer.engine.load.readback.expected_rows import Values
from importer.engine.load.readback.value_equality import accepted
from importer.engine.mysql.connection import Connection
from importer.engine.plan.readback import Readback
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.fields import LocatedRecord
from importer.engine.source.records.oversized_values import LARGE

ROWS_AT_ONCE = 1000
NAMED_DIFFERENCES = 20
SHOWN_BYTES = 200


def read_back(connection: Connection, readback: Readback, dialect: Dialect, records: Iterable[LocatedRecord]) -> None:
    """Raise RowsRefused if a value in the table is not what one of these records of the file says."""
    different = list(islice(_all_differences(connection, readback, dialect, records), NAMED_DIFFERENCES))
    if not different:
        return
    first = different[0]
    raise RowsRefused(
        f"Read back from the table, the value {first.value!r} is another one: {first.reason}",
        where=f"line {first.line:,}, column {first.column}",
        advice="Nothing was kept of this chunk. Look for triggers, or for others that write to the table meanwhile.",
        rows=tuple(different),
        bad_rows=len({row.line for row in different}),
    )


def _all_differences(
    connection: Connection, readback: Readback, dialect: Dialect, records: Iterable[LocatedRecord]
) -> Iterator[BadRow]:
    for some in _batches(records):
        if len(some) > 1 or not large_rows.matches(connection, readback, dialect, some[0].raw):
            said = expected_rows.expected_values(
                connection, readback, [expected_rows.texts(record.raw, dialect) for record in some]
            )
            yield from differences(connection, readback, [record.line for record in some], said)


def _batches(records: Iterable[LocatedRecord]) -> Iterator[list[LocatedRecord]]:
    """Some at a time, a large one by itself. The list is emptied when the next is asked for: never are two held."""
    held: list[LocatedRecord] = []
    size = 0
    for record in records:
        if held and size + len(record.raw) > LARGE:
            yield held
            held.clear()
            size = 0
        held.append(record)
        size += len(record.raw)
        del record
        if len(held) == ROWS_AT_ONCE or size > LARGE:
            yield held
            held.clear()
            size = 0
    if held:
        yield held


def differences(
    connection: Connection, readback: Readback, lines: Sequence[int], said: Sequence[Values]
) -> Iterator[BadRow]:
    """The cells of the table that are not as `said`, and the rows that are not there; `lines` are their lines."""
    found = expected_rows.stored_values(connection, readback, said)
    for line, wanted in zip(lines, said, strict=True):
        row = found.get(expected_rows.key_of(readback, wanted))
        if row is None:
            key = ", ".join(_shown(wanted[at]) for at in readback.key_positions)
            yield BadRow(line, ", ".join(readback.key), key, "there is no row with this key.")
        elif row != wanted:
            yield from _differing_cells(readback, line, wanted, row)


def _differing_cells(readback: Readback, line: int, said: Values, found: Values) -> Iterator[BadRow]:
    for reading, value, other in zip(readback.readings, said, found, strict=True):
        if value != other and not accepted(reading.column, value, other, readback.rounding):
            yield BadRow(line, reading.column.name, _shown(value), f"the table has {_shown(other)}.")


def _shown(value: bytes | None) -> str:
    return "NULL" if value is None else value[:SHOWN_BYTES].decode(errors="backslashreplace")
