"""Which rows the server would not take as they are, and why.

The server's row numbers name them where it gives any. Where it does not (a duplicate key, a function's warning), the
chunk is halved: what loads cleanly stays, inside the same transaction, until one row is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from importer.engine.connection import LoaderConnection, execute
from importer.engine.dialect import Dialect
from importer.engine.errors import BadRow, RowsRefused
from importer.engine.methods import Report
from importer.engine.plan import ImportPlan
from importer.engine.reasons import DUPLICATE, reason_for
from importer.engine.records import fields, locate
from importer.engine.scanner import ChunkRange, scan
from importer.engine.table import Table, read_table
from importer.engine.warnings import WRONG_COUNT, ServerWarning, read_warnings

# Named one by one in a message; the rest are counted.
NAMED_ROWS = 20

LoadRange = Callable[[ChunkRange], Report]


def clean(report: Report, rows: int) -> bool:
    """Whether the server took every row exactly as it was sent."""
    return report == Report(records=rows)


def refused_rows(
    connection: LoaderConnection,
    fd: int,
    chunk: ChunkRange,
    *,
    dialect: Dialect,
    plan: ImportPlan,
    report: Report,
    load: LoadRange,
) -> RowsRefused:
    """Say which rows of the chunk made `report` unclean.

    Call right after the load, before ROLLBACK: the warnings are still there. Leaves the transaction rolled back.
    """
    warnings = read_warnings(connection)
    execute(connection, "ROLLBACK")
    numbered = _first_per_row(warnings)
    if not numbered or report.skipped:
        unnumbered = _first_by_halving(connection, fd, chunk, dialect, load)
        execute(connection, "ROLLBACK")
    else:
        unnumbered = None
    explain = _Explanation(fd, dialect, plan.fields, read_table(connection, plan.schema, plan.table))
    bad = [explain.row(chunk, warning) for warning in numbered[:NAMED_ROWS]]
    if unnumbered:
        # A value that was cut may make a duplicate of its row: the server then says both, we say the first.
        known = {row.line for row in bad}
        bad = [*(row for row in [explain.row(*unnumbered)] if row.line not in known), *bad]
    return _refusal(bad, max(len(bad), len(numbered), report.skipped), report, chunk)


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
            report = load(piece)
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
            first_row=chunk.first_row,
            end=chunk.offset + chunk.length,
            chunk_bytes=max(1, chunk.length // 2),
            drop_blank_end=False,
        )
    )


def _only_warning(connection: LoaderConnection) -> ServerWarning:
    warnings = read_warnings(connection)
    first = warnings[0] if warnings else ServerWarning(0, "The server counted other records than the file has here.")
    return ServerWarning(first.code, first.reason, 1, first.column)


@dataclass(frozen=True)
class _Explanation:
    """What a warning becomes: a row of the file. `columns` are in the order of its fields, "" for one left out."""

    fd: int
    dialect: Dialect
    columns: Sequence[str]
    table: Table

    def row(self, chunk: ChunkRange, warning: ServerWarning) -> BadRow:
        """The row that the warning is about; its value is the column's, or the whole row where no column is named."""
        record = locate(self.fd, chunk.offset, chunk.length, chunk.first_line, self.dialect, warning.row)
        values = [value.decode(errors="backslashreplace") for value in fields(record.raw, self.dialect)]
        whole = record.raw.rstrip(b"\r\n").decode(errors="backslashreplace")
        position = self._position(warning, len(values))
        value = whole if not warning.column else "" if position is None else values[position]
        reason = self._reason(warning, len(values), blank=not whole)
        return BadRow(record.line, warning.column, value, reason, warning.code)

    def _reason(self, warning: ServerWarning, count: int, *, blank: bool) -> str:
        if warning.code not in WRONG_COUNT:
            return reason_for(warning, self.table)
        if blank:
            return "The line is blank."
        return f"The row has {count} field{'' if count == 1 else 's'} instead of {len(self.columns)}."

    def _position(self, warning: ServerWarning, count: int) -> int | None:
        wanted = warning.column.lower()
        found = [number for number, name in enumerate(self.columns) if wanted and name.lower() == wanted]
        return found[0] if found and found[0] < count else None


def _refusal(bad: list[BadRow], count: int, report: Report, chunk: ChunkRange) -> RowsRefused:
    rows = f"{chunk.rows:,} row{'' if chunk.rows == 1 else 's'}"
    lines = f"the {rows} from line {chunk.first_line:,} on"
    if not bad:
        return RowsRefused(
            f"The server counted {report.records:,} records where the file has {chunk.rows:,}.",
            where=lines,
            advice="Check delimiter, quote and line end: the server and the scan must read the same records.",
        )
    first = bad[0]
    column = f", column {first.column}" if first.column else ""
    return RowsRefused(
        f"{first.reason} ({'value' if first.column else 'row'} {_shortened(first.value)})",
        where=f"line {first.line:,}{column}",
        advice=f"{_advice(first.code)} Nothing was kept of this chunk ({lines}).",
        rows=tuple(bad),
        bad_rows=count,
    )


def _advice(code: int) -> str:
    if code == DUPLICATE:
        return (
            "If these rows were imported before, delete them from the table and retry, or leave them out of the file."
            " If they are new, correct their keys and import the file as a new one."
        )
    if code in WRONG_COUNT:
        return "Check delimiter and quote. If they are right, correct the row and import the file as a new one."
    return (
        "If the table should take this, change the table and retry. If it should not, correct the file and import that"
        " as a new one."
    )


def _shortened(value: str, longest: int = 100) -> str:
    return repr(value if len(value) <= longest else value[:longest] + "…")
