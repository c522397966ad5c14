"""Which rows the server would not take as they are, and why.

The server's row numbers name them where it gives any. Where it does not (a duplicate key, a function's warning), the
chunk is halved: what loads cleanly stays, inside the same transaction, until one row is left.
"""

from collections.abc import Callable, Sequence

from importer.engine.connection import LoaderConnection, execute
from importer.engine.dialect import Dialect
from importer.engine.errors import BadRow, RowsRefused
from importer.engine.feed import ByteRange
from importer.engine.methods import Report
from importer.engine.records import fields, locate
from importer.engine.scanner import ChunkRange, scan
from importer.engine.warnings import WRONG_COUNT, ServerWarning, read_warnings

# Named one by one in a message; the rest are counted.
NAMED_ROWS = 20

LoadRange = Callable[[ByteRange], Report]


def clean(report: Report, rows: int) -> bool:
    """Whether the server took every row exactly as it was sent."""
    return report == Report(records=rows)


def refused_rows(
    connection: LoaderConnection,
    fd: int,
    chunk: ChunkRange,
    *,
    dialect: Dialect,
    columns: Sequence[str],
    report: Report,
    load: LoadRange,
) -> RowsRefused:
    """Say which rows of the chunk made `report` unclean.

    Call right after the load, before ROLLBACK: the warnings are still there. Leaves the transaction rolled back.
    `columns` are the table's columns in the order of the file's fields, "" for a field left out.
    """
    warnings = read_warnings(connection)
    execute(connection, "ROLLBACK")
    numbered = _first_per_row(warnings)
    if not numbered or report.skipped:
        unnumbered = _first_by_halving(connection, fd, chunk, dialect, load)
        execute(connection, "ROLLBACK")
    else:
        unnumbered = None
    bad = [_bad_row(fd, chunk, dialect, columns, warning) for warning in numbered[:NAMED_ROWS]]
    if unnumbered:
        piece, warning = unnumbered
        bad.insert(0, _bad_row(fd, piece, dialect, columns, warning))
    return _refusal(bad, report, chunk)


def _first_per_row(warnings: Sequence[ServerWarning]) -> list[ServerWarning]:
    by_row: dict[int, ServerWarning] = {}
    for warning in warnings:
        # A wrong count of fields explains the other warnings about its row.
        if warning.row and (warning.row not in by_row or warning.code in WRONG_COUNT):
            by_row[warning.row] = warning
    return [by_row[row] for row in sorted(by_row)]


def _first_by_halving(
    connection: LoaderConnection, fd: int, chunk: ChunkRange, dialect: Dialect, load: LoadRange
) -> tuple[ChunkRange, ServerWarning] | None:
    """The first record that does not load cleanly, as a range of its own, and the server's first word about it.

    Costs at most two loads of the chunk: each half is loaded once, and stays loaded if it is clean.
    """
    execute(connection, "START TRANSACTION")
    while True:
        for piece in _halves(fd, chunk, dialect):
            execute(connection, "SAVEPOINT piece")
            report = load(ByteRange(fd, piece.offset, piece.length))
            if clean(report, piece.rows):
                continue
            if piece.rows == 1:
                return piece, _only_warning(connection)
            execute(connection, "ROLLBACK TO SAVEPOINT piece")
            chunk = piece
            break
        else:
            return None


def _halves(fd: int, chunk: ChunkRange, dialect: Dialect) -> list[ChunkRange]:
    return list(
        scan(
            fd,
            dialect,
            start=chunk.offset,
            first_line=chunk.first_line,
            end=chunk.offset + chunk.length,
            chunk_bytes=max(1, chunk.length // 2),
            drop_blank_end=False,
        )
    )


def _only_warning(connection: LoaderConnection) -> ServerWarning:
    warnings = read_warnings(connection)
    first = warnings[0] if warnings else ServerWarning(0, "The server counted other records than the file has here.")
    return ServerWarning(first.code, first.reason, 1, first.column)


def _bad_row(fd: int, chunk: ChunkRange, dialect: Dialect, columns: Sequence[str], warning: ServerWarning) -> BadRow:
    record = locate(fd, chunk.offset, chunk.length, chunk.first_line, dialect, warning.row)
    values = [value.decode(errors="backslashreplace") for value in fields(record.raw, dialect)]
    position = _position(warning, columns, len(values))
    reason = warning.reason
    if warning.code in WRONG_COUNT:
        reason = (
            f"The row has {len(values)} fields, expected are {len(columns)}."
            if record.raw.strip(b"\r\n")
            else "The line is blank."
        )
    return BadRow(
        line=record.line,
        column=warning.column,
        value=values[position] if position is not None else "",
        reason=reason,
        code=warning.code,
    )


def _position(warning: ServerWarning, columns: Sequence[str], count: int) -> int | None:
    wanted = warning.column.lower()
    found = [number for number, name in enumerate(columns) if wanted and name.lower() == wanted]
    return found[0] if found and found[0] < count else None


def _refusal(bad: list[BadRow], report: Report, chunk: ChunkRange) -> RowsRefused:
    last_line = f"the {chunk.rows:,} rows from line {chunk.first_line:,} on"
    if not bad:
        return RowsRefused(
            f"The server counted {report.records:,} records where the file has {chunk.rows:,}.",
            where=last_line,
            advice="Check delimiter, quote and line end: the server and the scan must read the same records.",
        )
    first = bad[0]
    where = f"line {first.line:,}" + (f", column {first.column}" if first.column else "")
    value = f" (value {_shortened(first.value)})" if first.column else ""
    return RowsRefused(
        f"{first.reason}{value}",
        where=where,
        advice="If the table is at fault, mend it and retry; if the file is, mend it and import it anew."
        " Nothing of this chunk was kept.",
        rows=tuple(bad),
        bad_rows=max(len(bad), report.skipped),
    )


def _shortened(value: str, longest: int = 100) -> str:
    return repr(value if len(value) <= longest else value[:longest] + "…")
