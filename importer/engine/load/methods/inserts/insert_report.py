"""Sums the server's reports about many INSERT statements, in the form of one LOAD DATA."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from importer.engine.load.methods import Report, ServerWarningRow, info_text, read_warning_rows
from importer.engine.mysql.connection import MAX_ERROR_COUNT, Connection

_INFO = re.compile(r"Records: (\d+)\s+Duplicates: (\d+)")
_AT_ROW = re.compile(r"\bat row (\d+)\b(?!.*\bat row \d)", re.DOTALL)
# MySQL's warning about each `:=` in a statement.
DEPRECATED = 1287


@dataclass
class InsertTotals:
    """The totals of the statements so far. `replacing`: they are REPLACE."""

    replacing: bool
    _sent: int = 0
    _records: int = 0
    _others: int = 0
    _warnings: int = 0
    _warning_rows: list[ServerWarningRow] = field(default_factory=list)

    def add(self, connection: Connection, rows: int, affected: int) -> None:
        """Add the statement that the connection has just run. For a single row the server gives no info (manual)."""
        if counted := _INFO.search(info_text(connection)):
            records, others = map(int, counted.groups())
        else:
            records, others = rows, affected - rows if self.replacing else rows - affected
        self._records, self._others = self._records + records, self._others + others
        if count := connection.warning_count():
            self._add_warnings(read_warning_rows(connection), count)
        self._sent += rows

    def miscounted(self, counts: Collection[tuple[int, int]], width: int) -> None:
        """Add LOAD DATA's warnings for rows (from 0) of the next statement whose number of fields is not `width`."""
        for row, fields in counts:
            number = self._sent + row + 1
            few = (1261, f"Row {number} doesn't contain data for all columns")
            many = (1262, f"Row {number} was truncated; it contained more data than there were input columns")
            self._add_warning(("Warning", *(few if fields < width else many)))

    def report(self) -> Report:
        deleted, skipped = (self._others, 0) if self.replacing else (0, self._others)
        return Report(self._records, deleted, skipped, self._warnings, tuple(self._warning_rows))

    def _add_warnings(self, warnings: Collection[ServerWarningRow], count: int) -> None:
        """Keep the warnings, with row numbers through all statements. The server may list fewer than `count`."""
        self._warnings += count - len(warnings)
        for level, code, message in warnings:
            if code != DEPRECATED:
                self._add_warning((level, code, _AT_ROW.sub(self._numbered, message) if self._sent else message))

    def _add_warning(self, line: ServerWarningRow) -> None:
        self._warnings += 1
        if len(self._warning_rows) < MAX_ERROR_COUNT:
            self._warning_rows.append(line)

    def _numbered(self, row: re.Match[str]) -> str:
        return f"at row {self._sent + int(row[1])}"
