"""Where the fields of a block's records begin and end, found all at once.

Sound where every quote opens or closes a field (as boundaries.py has it) and no escape takes a mark's meaning away;
otherwise there is no layout, and the records are read one by one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from importer.engine.dialect import Dialect
from importer.engine.exactness.cells import PADDING, Cells
from importer.engine.scanner import Block


@dataclass(frozen=True)
class Layout:
    """The fields of all records that have as many as there should be.

    `starts` and `ends` are arrays of records x fields, positions in `data`, quotes taken off. `rows` are those
    records' numbers in the block, None for all of them; `counts` gives the other records' number of fields by theirs.
    """

    data: bytes
    starts: Any
    ends: Any
    rows: Any
    counts: dict[int, int]
    quoted: bool

    def cells(self, columns: list[int]) -> Cells:
        """The cells of these fields, record by record."""
        if len(columns) == 1:
            return Cells(self.data, self.starts[:, columns[0]].copy(), self.ends[:, columns[0]].copy())
        return Cells(self.data, self.starts[:, columns].ravel(), self.ends[:, columns].ravel())

    def record(self, position: Any) -> Any:
        """The number in the block of the record at this position of the arrays; of many, if it is an array."""
        return position if self.rows is None else self.rows[position]


def lay_out(block: Block, dialect: Dialect, fields: int) -> Layout | None:
    """The layout of a block whose records should have so many fields; None if it cannot be told all at once."""
    if len(dialect.delimiter) != 1 or dialect.line_end not in ("\n", "\r\n"):
        return None
    data = block.data[: block.size]
    if dialect.escape and _escapes_a_mark(data, dialect):
        return None
    if not data.endswith(b"\n"):
        data += dialect.line_end.encode()
    padded = b"\0" * PADDING + data + b"\0" * PADDING
    view = np.frombuffer(padded, np.uint8)
    newlines = view == ord("\n")
    marks = view == ord(dialect.delimiter)
    marks |= newlines
    quoted = bool(dialect.quote) and dialect.quote.encode() in data
    if quoted:
        quotes = view == ord(dialect.quote)
        if not _all_at_field_borders(view, np.flatnonzero(quotes), dialect):
            return None
        marks &= ~_inside(quotes)
    ends = np.flatnonzero(marks)
    found = _rows(view, ends, fields)
    if found is None or _records(found, fields) != block.ends.count(0, block.size):
        return None
    return _layout(padded, view, ends, found, fields, dialect, quoted=quoted)


@dataclass(frozen=True)
class _Rows:
    """`index` picks the ends of the records with the right number of fields, None for all; see Layout for the rest."""

    index: Any
    rows: Any
    counts: dict[int, int]
    right: int


def _records(found: _Rows, _fields: int) -> int:
    return found.right + len(found.counts)


def _rows(view: Any, ends: Any, fields: int) -> _Rows | None:
    if len(ends) % fields == 0:
        lasts = view[ends[fields - 1 :: fields]]
        if (lasts == ord("\n")).all() and (fields == 1 or _none_else(view, ends, fields)):
            return _Rows(None, None, {}, len(lasts))
    last = np.flatnonzero(view[ends] == ord("\n"))
    counts = np.diff(last, prepend=-1)
    right = np.flatnonzero(counts == fields)
    wrong = np.flatnonzero(counts != fields)
    index = last[right][:, None] + np.arange(1 - fields, 1)
    return _Rows(index, right, dict(zip(wrong.tolist(), counts[wrong].tolist(), strict=True)), len(right))


def _none_else(view: Any, ends: Any, fields: int) -> bool:
    """Whether no record ends before its last field."""
    return int(np.count_nonzero(view[ends] == ord("\n"))) == len(ends) // fields


def _layout(
    padded: bytes, view: Any, ends: Any, found: _Rows, fields: int, dialect: Dialect, *, quoted: bool
) -> Layout | None:
    starts = np.empty_like(ends)
    starts[:1] = PADDING
    starts[1:] = ends[:-1] + 1
    if found.index is None:
        starts, ends = starts.reshape(-1, fields), ends.reshape(-1, fields)
    else:
        starts, ends = starts[found.index], ends[found.index]
    if dialect.line_end == "\r\n":
        ends[:, -1] -= 1
        if not (view[ends[:, -1]] == ord("\r")).all():
            return None
    if quoted:
        enclosed = (view[starts] == ord(dialect.quote)) & (ends > starts)
        starts, ends = starts + enclosed, ends - enclosed
    return Layout(padded, starts, ends, found.rows, found.counts, quoted)


def _inside(quotes: Any) -> Any:
    """A mask of the bytes that have an odd number of quotes up to them, found 64 at a time."""
    bits = np.packbits(quotes, bitorder="little")
    words = np.frombuffer(bits.tobytes() + b"\0" * (-len(bits) % 8), "<u8").copy()
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    odd = np.bitwise_xor.accumulate(words >> np.uint64(63))
    words[1:] ^= np.uint64(0) - odd[:-1]
    return np.unpackbits(words.view(np.uint8), count=len(quotes), bitorder="little").view(bool)


def _all_at_field_borders(view: Any, quotes: Any, dialect: Dialect) -> bool:
    """Whether each opening quote follows a field's or a record's end, and each closing one comes before it."""
    if len(quotes) % 2:
        return False
    quote, delimiter = ord(dialect.quote), ord(dialect.delimiter)
    before = view[quotes[0::2] - 1]
    after = view[quotes[1::2] + 1]
    opens = (before == quote) | (before == delimiter) | (before == ord("\n"))
    opens |= quotes[0::2] == PADDING
    closes = (after == quote) | (after == delimiter) | (after == ord(dialect.line_end[0]))
    return bool(opens.all() and closes.all())


def _escapes_a_mark(data: bytes, dialect: Dialect) -> bool:
    """Whether an escape stands before something that would mean more without it."""
    escape = dialect.escape.encode()
    if escape not in data:
        return False
    meaningful = (dialect.delimiter.encode(), dialect.quote.encode(), escape, b"\n", b"\r")
    return any(escape + mark in data for mark in meaningful if mark) or data.endswith(escape)
