"""Finds where the fields of a block's records begin and end, all at once.

A layout exists only if every quote opens or closes a field (as in source/records/boundary/boundaries.py) and no escape
precedes a delimiter, quote, escape or line end. Otherwise the records are read one by one.
"""

from dataclasses import dataclass

from importer.engine.source.arrays import ByteArray, Mask, Offsets, np
from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.blocks import Block
from importer.engine.source.records.boundary.boundaries import ListedEnds
from importer.engine.validation.cell_batch import PADDING, Cells, Page


@dataclass(frozen=True)
class Layout:
    """The fields of all records with the right number of fields.

    `starts` and `ends`: arrays of fields x records with positions in the page, without quotes. `rows`: these records'
    numbers in the block, None for all records. `counts`: the number of fields of each other record, by its number.
    """

    page: Page
    starts: Offsets
    ends: Offsets
    rows: "Offsets | None"
    counts: dict[int, int]
    quoted: bool

    def cells(self, fields: list[int]) -> Cells:
        """The cells of these fields, one field after the other."""
        consecutive = fields == list(range(fields[0], fields[-1] + 1))
        # A slice is not copied.
        index = slice(fields[0], fields[-1] + 1) if consecutive else fields
        return Cells(self.page, self.starts[index].reshape(-1), self.ends[index].reshape(-1))

    def places(self, numbers: Offsets) -> tuple[list[int], list[int]]:
        """For numbers of cells of cells(): the records' numbers in the block, and the index of each cell's field."""
        within, position = np.divmod(numbers, self.starts.shape[1])
        return (position if self.rows is None else self.rows[position]).tolist(), within.tolist()


def lay_out(block: Block, dialect: Dialect, fields: int) -> Layout | None:
    """The layout of a block whose records should have `fields` fields; None if it cannot be found all at once."""
    if len(dialect.delimiter_bytes) != 1:
        return None
    data = block.data
    if dialect.escape and _escapes_a_mark(data[: block.size], dialect):
        return None
    line_ends = (b"\r", b"\n") if dialect.line_end == ANY_LINE_END else (dialect.line_end.encode(),)
    page = Page.of(memoryview(data)[: block.size], b"" if data.endswith(line_ends, 0, block.size) else line_ends[-1])
    newlines = _line_ends(page.view, dialect)
    fields += dialect.trailing_delimiter
    marks = page.view == dialect.delimiter_bytes[0]
    marks |= newlines
    quoted = bool(dialect.quote) and data.find(dialect.quote.encode(), 0, block.size) >= 0
    if quoted:
        quotes = page.view == ord(dialect.quote)
        known = isinstance(block.ends, ListedEnds) and block.ends.regular
        if not known and not _all_at_field_borders(page.view, np.flatnonzero(quotes), dialect):
            return None
        marks &= ~_inside(quotes)
        newlines &= marks
        if np.count_nonzero(newlines) != block.ends.count(0, block.size):
            return None
    ends = np.flatnonzero(marks)
    last = np.count_nonzero(newlines)
    if len(ends) == last * fields and newlines[ends[fields - 1 :: fields]].all():
        return _layout(page, ends.reshape(-1, fields), None, {}, dialect, quoted=quoted)
    return _ragged(page, ends, newlines, fields, dialect, quoted=quoted)


def _line_ends(view: ByteArray, dialect: Dialect) -> Mask:
    """A mask of the last byte of each line end."""
    ends: Mask = view == ord("\r" if dialect.line_end == "\r" else "\n")
    if dialect.line_end == ANY_LINE_END:
        alone = view == ord("\r")
        alone[:-1] &= ~ends[1:]
        ends |= alone
    return ends


def _ragged(page: Page, ends: Offsets, newlines: Mask, fields: int, dialect: Dialect, *, quoted: bool) -> Layout | None:
    """The layout if some records have another number of fields; None in a dialect with a trailing delimiter."""
    last = np.flatnonzero(newlines[ends])
    counts = np.diff(last, prepend=-1)
    right, wrong = np.flatnonzero(counts == fields), np.flatnonzero(counts != fields)
    if dialect.trailing_delimiter:
        return None
    others = dict(zip(wrong.tolist(), counts[wrong].tolist(), strict=True))
    # With the end of the previous record as an additional first field.
    before = np.concatenate(([PADDING - 1], ends))
    index = last[right][:, None] + 1 + np.arange(-fields, 1)
    return _layout(page, before[index], right, others, dialect, quoted=quoted)


def _layout(
    page: Page, ends: Offsets, rows: "Offsets | None", counts: dict[int, int], dialect: Dialect, *, quoted: bool
) -> Layout | None:
    """The layout from the ends of records x fields; with `rows`, each begins with the end of the previous record."""
    if rows is None:
        both = np.empty((ends.shape[1] + 1, len(ends)), ends.dtype)
        both[1:] = ends.T
        both[0, 1:] = both[-1, :-1]
        both[0, :1] = PADDING - 1
    else:
        both = np.ascontiguousarray(ends.T)
    starts, ends = both[:-1] + 1, both[1:]
    if dialect.line_end == "\r\n":
        ends[-1] -= 1
        if not (page.view[ends[-1]] == ord("\r")).all():
            return None
    if dialect.line_end == ANY_LINE_END:
        ends[-1] -= (page.view[ends[-1]] == ord("\n")) & (page.view[ends[-1] - 1] == ord("\r"))
    if dialect.trailing_delimiter:
        if (ends[-1] > starts[-1]).any():
            return None
        starts, ends = starts[:-1], ends[:-1]
    if quoted:
        enclosed = (page.view[starts] == ord(dialect.quote)) & (ends > starts)
        starts, ends = starts + enclosed, ends - enclosed
    return Layout(page, starts, ends, rows, counts, quoted)


def _inside(quotes: Mask) -> Mask:
    """A mask of the bytes with an odd number of quotes up to them, computed 64 at a time."""
    bits = np.packbits(quotes, bitorder="little")
    words = np.frombuffer(bits.tobytes() + b"\0" * (-len(bits) % 8), "<u8").copy()
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    odd = np.bitwise_xor.accumulate(words >> np.uint64(63))
    words[1:] ^= np.uint64(0) - odd[:-1]
    return np.unpackbits(words.view(np.uint8), count=len(quotes), bitorder="little").view(bool)


def _all_at_field_borders(view: ByteArray, quotes: Offsets, dialect: Dialect) -> bool:
    """Whether each opening quote follows the end of a field or record, and each closing quote precedes one."""
    if len(quotes) % 2:
        return False
    quote, delimiter = ord(dialect.quote), dialect.delimiter_bytes[0]
    before = view[quotes[0::2] - 1]
    after = view[quotes[1::2] + 1]
    any_end = dialect.line_end == ANY_LINE_END
    opens = (before == quote) | (before == delimiter) | (before == ord("\n" if any_end else dialect.line_end[-1]))
    opens |= quotes[0::2] == PADDING
    closes = (after == quote) | (after == delimiter) | (after == ord("\n" if any_end else dialect.line_end[0]))
    if any_end:
        opens |= before == ord("\r")
        closes |= after == ord("\r")
    return bool(opens.all() and closes.all())


def _escapes_a_mark(data: bytes, dialect: Dialect) -> bool:
    """Whether an escape in the data precedes a delimiter, quote, escape or line end, or ends the data."""
    if not dialect.escapes_in(data) or dialect.escapes_quotes_only:
        return dialect.escapes_in(data)
    escape = dialect.escape_bytes
    meaningful = (dialect.delimiter_bytes, dialect.quote.encode(), escape, b"\n", b"\r")
    return any(escape + mark in data for mark in meaningful if mark) or data.endswith(escape)
