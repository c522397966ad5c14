"""INSERT IGNORE ... VALUES with many rows in a prepared statement: values are sent unquoted.

In a run of plain records all fields are located at once, and their bytes are sent without a copy.
"""

from contextlib import ExitStack
from functools import partial

from importer.engine.load.methods import Load, Report
from importer.engine.load.methods.inserts import insert_sql
from importer.engine.load.methods.inserts.insert_batches import Inserting
from importer.engine.load.methods.inserts.insert_sql import template
from importer.engine.load.methods.inserts.statement_size import rows_of
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.methods.row_batches import RecordRun, lay_out_run, null_words
from importer.engine.mysql.connection import Feed, LoaderConnection
from importer.engine.mysql.prepared_statements import MOST_PLACEHOLDERS, PreparedStatement
from importer.engine.source.arrays import Mask, Offsets, np

# Bytes that the protocol sends for each text in addition: its length and type.
OVERHEAD = 12


statement, replacing = insert_sql.statement, insert_sql.replacing


def loader(request: LoadRequest) -> Load:
    """The function that inserts the records of a feed."""
    return partial(load, request=request)


def load(connection: LoaderConnection, statement: str, feed: Feed, *, request: LoadRequest) -> Report:
    """Insert the records of `feed`. Arguments and errors are those of insert.load().

    A statement also has fewer records if it would have too many placeholders.
    """
    row_template = template(statement, request.numbers, request.width)
    rows = min(rows_of(connection, row_template, request), MOST_PLACEHOLDERS // len(row_template.fields))
    inserting = Inserting.on(connection, row_template)
    with ExitStack() as closing:
        return inserting.all_of(feed, request.dialect, max(1, rows), _Session(inserting, closing).insert)


class _Session:
    """Keeps the prepared statement of a load. The last run has fewer rows and needs another one."""

    def __init__(self, inserting: Inserting, closing: ExitStack) -> None:
        self._inserting, self._template, self._closing = inserting, inserting.template, closing
        self._prepared: PreparedStatement | None = None
        self._rows = 0

    def insert(self, run: RecordRun) -> bool:
        """Insert the run with one statement; False if the statement would be too long."""
        values = _laid_out(run, self._template.width) or _gathered(run, self._template.width)
        fields = list(self._template.fields)
        lengths = values.lengths[:, fields]
        if int(lengths.sum()) + OVERHEAD * lengths.size >= self._inserting.largest:
            return False
        statement = self._statement(run.count)
        self._inserting.totals.miscounted(values.miscounted, self._template.width)
        addresses = values.addresses[:, fields]
        affected = statement.execute(addresses.ravel(), lengths.ravel(), values.nulls[:, fields].ravel())
        self._inserting.add(run, affected)
        return True

    def _statement(self, rows: int) -> PreparedStatement:
        if self._prepared is None or rows != self._rows:
            if self._prepared:
                self._prepared.close()
            sql = self._template.head + b",\n".join([self._template.prepared] * rows)
            self._prepared = PreparedStatement(self._inserting.connection, sql, rows * len(self._template.fields))
            self._closing.callback(self._prepared.close)
            self._rows = rows
        return self._prepared


class _Values:
    """The addresses and lengths of a run's values in the buffer `held`: arrays of records x fields.

    `miscounted` are the records with a wrong number of fields, and that number.
    """

    def __init__(
        self,
        held: bytes,
        starts: Offsets,
        lengths: Offsets,
        nulls: Mask,
        miscounted: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self._held = np.frombuffer(held, np.uint8)
        self.addresses, self.lengths, self.nulls = self._held.ctypes.data + starts, lengths, nulls
        self.miscounted = miscounted


def _laid_out(run: RecordRun, width: int) -> _Values | None:
    """The values in the run's own bytes; None if a value has to be decoded."""
    quote = run.dialect.quote.encode()
    if quote and quote + quote in run.data:
        return None
    layout = lay_out_run(run, width)
    if layout is None or layout.counts:
        return None
    starts = layout.starts.T
    return _Values(layout.page.data, starts, layout.ends.T - starts, null_words(layout, run.dialect).T)


def _gathered(run: RecordRun, width: int) -> _Values:
    """The values decoded one by one and concatenated."""
    rows = run.rows(width)
    miscounted = tuple((at, len(row)) for at, row in enumerate(rows) if len(row) != width)
    cells = [cell for row in rows for cell in (row + [None] * (width - len(row)))[:width]]
    held = b"".join(cell or b"" for cell in cells)
    lengths = np.fromiter((len(cell or b"") for cell in cells), np.int64, len(cells))
    nulls = np.fromiter((cell is None for cell in cells), bool, len(cells))
    starts = np.cumsum(lengths) - lengths
    shape = (len(rows), width)
    return _Values(held + b"\0", starts.reshape(shape), lengths.reshape(shape), nulls.reshape(shape), miscounted)
