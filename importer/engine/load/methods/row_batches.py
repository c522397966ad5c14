"""The feed's records a few at a time, taken apart as the server would: what the INSERT methods put into statements."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from importer.engine.mysql.connection import Feed
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block
from importer.engine.source.records.boundary.boundaries import find_ends
from importer.engine.source.records.fields import Record, records, sent_values
from importer.engine.source.records.record_stream import whole_records
from importer.engine.units import MIB

NULL_WORD = b"NULL"
# Bytes of the records that are put into one statement: it, and what it is made of, are in memory at the same time.
MOST_BYTES = 2 * MIB


def as_sent(dialect: Dialect) -> Dialect:
    """What the feed's bytes are in: the dialect that LOAD DATA would be told, in UTF-8."""
    return replace(dialect.sent, encoding="utf-8")


@dataclass(frozen=True)
class RecordRun:
    """`count` whole records that lie together, in a dialect as as_sent() has it."""

    data: bytes
    count: int
    dialect: Dialect

    @cached_property
    def has_marks(self) -> bool:
        """Whether a quote, an escape or the word NULL is in it; else a field is what stands between delimiters."""
        marks = [self.dialect.quote.encode(), self.dialect.escape.encode()]
        marks += [NULL_WORD] if self.dialect.quote else []
        return any(mark and mark in self.data for mark in marks)

    @property
    def is_large(self) -> bool:
        """Whether it is one record, of which there should not be several copies."""
        return self.count == 1 and len(self.data) > MOST_BYTES

    @property
    def bare(self) -> bytes:
        """The bytes without the last line end."""
        return self.data.removesuffix(self.dialect.line_end.encode())

    def halves(self) -> tuple["RecordRun", "RecordRun"]:
        """The first and the second half of it; there must be two records or more."""
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


def lay_out_run(run: RecordRun, width: int) -> Any:
    """Where the fields lie (validation/record_layout.py), without quotes; None if it cannot be told all at once."""
    from importer.engine.validation.record_layout import lay_out  # numpy costs 16 MB, and LOAD DATA needs none

    if run.dialect.escape and run.dialect.escape.encode() in run.data:
        return None
    ends = find_ends(run.data, run.dialect, final=True)
    if ends.size < len(run.data) or ends.flaws:
        return None
    return lay_out(Block(0, 1, len(run.data), 0, ends, run.data), run.dialect, width)


def null_words(layout: Any, dialect: Dialect) -> Any:
    """A mask, fields x records, of the bare word NULL, which the server reads as NULL where fields may be quoted."""
    import numpy as np

    view, starts = layout.page.view, layout.starts
    found = (layout.ends - starts == len(NULL_WORD)) & bool(dialect.quote)
    if not found.any():
        return found
    for offset, letter in enumerate(NULL_WORD):
        found &= view[starts + offset] == letter
    return found & ~(layout.quoted & (view[starts - 1] == np.uint8(ord(dialect.quote))))


def runs(feed: Feed, dialect: Dialect, rows: int, most_bytes: int) -> Iterator[RecordRun]:
    """The feed's records, `rows` at a time, of `most_bytes` or MOST_BYTES together; a record may be larger."""
    most_bytes = min(most_bytes, MOST_BYTES)
    held: list[bytes] = []
    count = size = 0

    def run() -> RecordRun:
        return RecordRun(b"".join(held), count, dialect)

    for data, found in whole_records(feed, dialect):
        ends = found.as_array()
        at = low = 0
        while at < len(ends):
            fitting = int(ends.searchsorted(low + most_bytes - size, side="right"))
            stop = max(min(len(ends), at + rows - count, fitting), at if count else at + 1)
            if stop > at:
                high = int(ends[stop - 1])
                held.append(data[low:high])
                count, size = count + stop - at, size + high - low
                at, low = stop, high
            if at < len(ends) or count == rows:
                yield run()
                held, count, size = [], 0, 0
        del data  # A large one, before the next is read.
    if count:
        yield run()
