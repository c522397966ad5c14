"""INSERT IGNORE ... VALUES with many rows in a prepared statement: values go as they are, and nothing is quoted.

Where the fields lie in a run of plain records is found all at once, and their bytes are sent from where they are.
"""

from contextlib import ExitStack
from typing import Any

import numpy as np

from importer.engine.load.methods import Report
from importer.engine.load.methods.inserts.insert_batches import Inserting
from importer.engine.load.methods.inserts.insert_sql import template
from importer.engine.load.methods.inserts.statement_size import rows_of
from importer.engine.load.methods.row_batches import RecordRun, lay_out_run, null_words
from importer.engine.mysql.connection import Feed, LoaderConnection
from importer.engine.mysql.prepared_statements import MOST_PLACEHOLDERS, PreparedStatement
from importer.engine.source.dialect import Dialect

# What the protocol sends besides a text: its length and type.
BESIDES = 12


def load(
    connection: LoaderConnection,
    statement: str,
    feed: Feed,
    *,
    dialect: Dialect,
    numbers: tuple[str, ...],
    width: int,
    rows: int,
) -> Report:
    """Insert the records of `feed`; arguments and what is raised as those of insert.load().

    A statement has `rows` of them, less where it could not have as many placeholders.
    """
    made = template(statement, numbers, width)
    rows = min(rows_of(connection, made, rows), MOST_PLACEHOLDERS // len(made.fields))
    inserting = Inserting.on(connection, made)
    with ExitStack() as closing:
        return inserting.all_of(feed, dialect, max(1, rows), _Session(inserting, closing).insert)


class _Session:
    """The statement that a load has prepared, and prepares anew for the last rows, of which there are fewer."""

    def __init__(self, inserting: Inserting, closing: ExitStack) -> None:
        self._inserting, self._made, self._closing = inserting, inserting.made, closing
        self._prepared: PreparedStatement | None = None
        self._rows = 0

    def insert(self, run: RecordRun) -> bool:
        """Insert the run with one statement; False if that would be too long."""
        values = _laid_out(run, self._made.width) or _gathered(run, self._made.width)
        fields = list(self._made.fields)
        lengths = values.lengths[:, fields]
        if int(lengths.sum()) + BESIDES * lengths.size >= self._inserting.largest:
            return False
        statement = self._statement(run.count)
        self._inserting.sum_.miscounted(values.miscounted, self._made.width)
        addresses = values.addresses[:, fields]
        affected = statement.execute(addresses.ravel(), lengths.ravel(), values.nulls[:, fields].ravel())
        self._inserting.add(run, affected)
        return True

    def _statement(self, rows: int) -> PreparedStatement:
        if self._prepared is None or rows != self._rows:
            if self._prepared:
                self._prepared.close()
            sql = self._made.head + b",\n".join([self._made.prepared] * rows)
            self._prepared = PreparedStatement(self._inserting.connection, sql, rows * len(self._made.fields))
            self._closing.callback(self._prepared.close)
            self._rows = rows
        return self._prepared


class _Values:
    """Where the values of a run lie: arrays of records x fields. `held` are the bytes themselves.

    `miscounted` are the records with another number of fields, and theirs.
    """

    def __init__(
        self, held: bytes, starts: Any, lengths: Any, nulls: Any, miscounted: tuple[tuple[int, int], ...] = ()
    ) -> None:
        self._held = np.frombuffer(held, np.uint8)
        self.addresses, self.lengths, self.nulls = self._held.ctypes.data + starts, lengths, nulls
        self.miscounted = miscounted


def _laid_out(run: RecordRun, width: int) -> _Values | None:
    """The values where they lie in the run; None if they do not lie there as they are."""
    quote = run.dialect.quote.encode()
    if quote and quote + quote in run.data:
        return None
    layout = lay_out_run(run, width)
    if layout is None or layout.counts:
        return None
    starts = layout.starts.T
    return _Values(layout.page.data, starts, layout.ends.T - starts, null_words(layout, run.dialect).T)


def _gathered(run: RecordRun, width: int) -> _Values:
    """The values put together one by one."""
    rows = run.rows(width)
    miscounted = tuple((at, len(row)) for at, row in enumerate(rows) if len(row) != width)
    cells = [cell for row in rows for cell in (row + [None] * (width - len(row)))[:width]]
    held = b"".join(cell or b"" for cell in cells)
    lengths = np.fromiter((len(cell or b"") for cell in cells), np.int64, len(cells))
    nulls = np.fromiter((cell is None for cell in cells), bool, len(cells))
    starts = np.cumsum(lengths) - lengths
    shape = (len(rows), width)
    return _Values(held + b"\0", starts.reshape(shape), lengths.reshape(shape), nulls.reshape(shape), miscounted)
