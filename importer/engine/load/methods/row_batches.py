"""Groups the feed's records into runs and splits them into values as the server would, for the INSERT methods."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from importer.engine.mysql.connection import Feed
from importer.engine.source.arrays import Mask, np
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block
from importer.engine.source.records.boundary.boundaries import find_ends
from importer.engine.source.records.fields import Record, records, sent_values
from importer.engine.source.records.record_stream import whole_records
from importer.engine.units import MIB
from importer.engine.validation.record_layout import Layout, lay_out

NULL_WORD = b"NULL"
# Bytes of the records of one statement. The statement and its parts are in memory at the same time.
MOST_BYTES = 2 * MIB


def as_sent(dialect: Dialect) -> Dialect:
    """The dialect of the feed's bytes: the one that LOAD DATA declares, in UTF-8."""
    return replace(dialect.sent, encoding="utf-8")


@dataclass(frozen=True)
class RecordRun:
    """`count` consecutive whole records in a dialect of as_sent()."""

    data: bytes
    count: int
    dialect: Dialect

    @cached_property
    def has_marks(self) -> bool:
        """Whether a quote, an escape or the word NULL occurs; if not, fields are the bytes between delimiters."""
        marks = [*self.dialect.marks, *([NULL_WORD] if self.dialect.quote else [])]
        return any(mark in self.data for mark in marks)

    @property
    def is_large(self) -> bool:
        """Whether it is one record, too large for several copies in memory."""
        return self.count == 1 and len(self.data) > MOST_BYTES

    @property
    def bare(self) -> bytes:
        """The bytes without the last line end."""
        return self.data.removesuffix(self.dialect.line_end.encode())

    def halves(self) -> tuple["RecordRun", "RecordRun"]:
        """The first and the second half of the records; there must be at least two."""
        ends = [each.end for each in records(self.data, self.dialect)]
        half = self.count // 2
        cut = ends[half - 1]
        return replace(self, data=self.data[:cut], count=half), replace(
            self, data=self.data[cut:], count=self.count - half
        )

    def rows(self, width: int) -> list[list[bytes | None]]:
        """The values of each record, which should have `width`; None is NULL."""
        layout = lay_out_run(self, width) if self.has_marks else None
        if layout is None or layout.counts:
            return [sent_values(self._record(each), self.dialect) for each in records(self.data, self.dialect)]
        starts, ends = layout.starts.T.ravel().tolist(), layout.ends.T.ravel().tolist()
        data = layout.page.data
        cells: list[bytes | None] = [data[low:high] for low, high in zip(starts, ends, strict=True)]
        quote = self.dialect.quote.encode()
        if quote + quote in self.data:
            cells = [cell.replace(quote + quote, quote) if cell else cell for cell in cells]
        for at in null_words(layout, self.dialect).T.ravel().nonzero()[0].tolist():
            cells[at] = None
        return [cells[at : at + width] for at in range(0, len(cells), width)]

    def _record(self, record: Record) -> bytes:
        return self.data[record.start : record.end]


def lay_out_run(run: RecordRun, width: int) -> Layout | None:
    """The positions of the fields without quotes (validation/record_layout.py); None if that needs a full parse."""
    if run.dialect.escapes_in(run.data):
        return None
    ends = find_ends(run.data, run.dialect, final=True)
    if ends.size < len(run.data) or ends.flaws:
        return None
    return lay_out(Block(0, 1, len(run.data), 0, ends, run.data), run.dialect, width)


def null_words(layout: Layout, dialect: Dialect) -> Mask:
    """A mask, fields x records, of the bare word NULL, which the server reads as NULL if fields may be quoted."""
    view, starts = layout.page.view, layout.starts
    is_null: Mask = (layout.ends - starts == len(NULL_WORD)) & bool(dialect.quote)
    if not is_null.any():
        return is_null
    for offset, letter in enumerate(NULL_WORD):
        is_null &= view[starts + offset] == letter
    in_quotes: Mask = layout.quoted & (view[starts - 1] == np.uint8(ord(dialect.quote)))
    return is_null & ~in_quotes


def runs(feed: Feed, dialect: Dialect, rows: int, most_bytes: int) -> Iterator[RecordRun]:
    """The feed's records in runs of `rows` records and at most `most_bytes` or MOST_BYTES; one record may be larger."""
    most_bytes = min(most_bytes, MOST_BYTES)
    parts: list[bytes] = []
    count = size = 0

    def run() -> RecordRun:
        return RecordRun(b"".join(parts), count, dialect)

    for data, record_ends in whole_records(feed, dialect):
        ends = record_ends.as_array()
        at = low = 0
        while at < len(ends):
            fitting = int(ends.searchsorted(low + most_bytes - size, side="right"))
            stop = max(min(len(ends), at + rows - count, fitting), at if count else at + 1)
            if stop > at:
                high = int(ends[stop - 1])
                parts.append(data[low:high])
                count, size = count + stop - at, size + high - low
                at, low = stop, high
            if at < len(ends) or count == rows:
                yield run()
                parts, count, size = [], 0, 0
        del data  # Frees a large record before the next one is read.
    if count:
        yield run()
