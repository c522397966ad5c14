"""Finds the ends of the records in a block of bytes, fast.

There are three methods. The fastest one that is certain for the block is used:

1. Line ends alone, if no quote occurs.
2. Line ends outside quotes, if quotes can be read safely: in C (quoted_boundaries.py); without the library, or in other
   dialects, by the parity of quotes, if each of them is where RFC 4180 puts it.
3. A pattern for whole records.

Each method reports only ends that LOAD DATA would find too (state_machine.py describes its rules, and those for a stray
quote). It stops before the first record of which it is not certain: at a line end of another kind, or at a record that
the block cuts. RecordWalk then decides about that record.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from importer.engine.source.arrays import ByteArray, Offsets, np
from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.boundary.lines import begins_a_line, count_byte, line_ends
from importer.engine.source.records.boundary.patterns import record_pattern
from importer.engine.source.records.boundary.quoted_boundaries import find_regular_ends, is_supported
from importer.engine.source.records.boundary.state_machine import (
    RECORD_ENDS,
    RecordWalk,
    one_of,
)
from importer.engine.source.records.boundary.stray_quotes import (
    MalformedRecord,
    reader_of,
    resolve_ended,
    resolve_quotes,
)

LF, CR = ord("\n"), ord("\r")


@dataclass(frozen=True)
class LineEnds:
    """Record ends of a block in which a record ends at every `mark` of data[:size], and at `size`."""

    data: bytes
    size: int
    mark: bytes = b"\n"
    flaws: tuple[MalformedRecord, ...] = ()

    def last(self, low: int, high: int) -> int:
        """The last end in low < end <= high; 0 if there is none."""
        return self.size if high >= self.size else self.data.rfind(self.mark, low, max(low, high)) + 1

    def first(self, low: int) -> int:
        """The first end after `low`, which must lie before `size`."""
        return self.data.find(self.mark, low, self.size) + 1 or self.size

    def count(self, low: int, high: int) -> int:
        """The number of records between two ends."""
        return count_byte(self.data, self.mark, low, high) + self.is_cut(low, high)

    def is_cut(self, low: int, high: int) -> bool:
        """Whether the last record between two ends has no line end, because the data ends there."""
        return low < high and not self.data.endswith(self.mark, low, high)

    def as_array(self) -> Offsets:
        """All ends, ascending."""
        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8, self.size) == ord(self.mark)) + 1
        complete = not self.size or self.data.endswith(self.mark, 0, self.size)
        return ends if complete else np.append(ends, self.size)


@dataclass(frozen=True)
class ListedEnds:
    """Record ends of a block as an ascending list; the methods are those of LineEnds.

    `flaws` are the records with quotes that cannot be read safely, in order; their line numbers count from the block's
    first line. `regular`: the result of quotes_are_regular(), if it is known to be true.
    """

    ends: "Offsets | Sequence[int]"
    flaws: tuple[MalformedRecord, ...] = ()
    regular: bool = False

    @property
    def size(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def last(self, low: int, high: int) -> int:
        index = bisect_right(self.ends, high)
        end = int(self.ends[index - 1]) if index else 0
        return end if end > low else 0

    def first(self, low: int) -> int:
        return int(self.ends[bisect_right(self.ends, low)])

    def count(self, low: int, high: int) -> int:
        return bisect_right(self.ends, high) - bisect_right(self.ends, low)

    def as_array(self) -> Offsets:
        return np.asarray(self.ends)


Ends = LineEnds | ListedEnds


def find_ends(data: bytes, dialect: Dialect, *, final: bool) -> Ends:
    """The ends of the records of `data`, which begins with a record. `final`: nothing comes after `data`."""
    dialect = dialect if dialect.escapes_in(data) else dialect.unescaped
    quoted = bool(dialect.quote) and dialect.quote.encode() in data
    if dialect.comment and _has_comment_with_marks(data, dialect):
        return _ends_by_pattern(data, dialect, final)
    if not quoted and not (dialect.escapes_all and _escapes_a_line_end(data, dialect)):
        return _line_ends(data, dialect, final)
    ends = _regular_ends(data, dialect, final)
    return _ends_by_pattern(data, dialect, final) if ends is None else ends


def first_record(data: bytes, dialect: Dialect, start: int = 0, *, final: bool) -> tuple[MalformedRecord | None, int]:
    """Read the first record of data[start:] byte by byte: its flaw, or None, and its length in bytes, 0 if it is cut.

    `final`: nothing comes after `data`. The length is also 0 if a quote is never closed, and there is no evidence
    which lines belong to its field.
    """
    walk = RecordWalk(dialect)
    length = walk.feed(data, start, final=final)
    if not length and not final:
        return None, 0
    return resolve_quotes(walk, reader_of(data, start), length, len(data) - start, dialect)


def blank_records(data: bytes, ends: Ends, dialect: Dialect) -> Sequence[int]:
    """The begins of the records of data[:ends.size] that consist of a line end only, ascending."""
    if isinstance(ends, ListedEnds):
        lasts = np.asarray(ends.ends, np.int64)
        lengths = np.diff(lasts, prepend=0)
        if not len(lengths) or lengths.min() > 2:
            return []
        short = lengths <= 2
        line_end = re.compile(RECORD_ENDS[dialect.line_end])
        pairs = zip((lasts - lengths)[short].tolist(), lasts[short].tolist(), strict=True)
        return [low for low, high in pairs if line_end.fullmatch(data, low, high)]
    empty = b"\r\n" if dialect.line_end == "\r\n" else ends.mark
    first = [0] if data.startswith(empty, 0, ends.size) else []
    # Each CR LF ends in the mark.
    if data.find(ends.mark + empty, 0, ends.size) < 0:
        return first
    marks = np.frombuffer(data, np.uint8, ends.size) == ends.mark[0]
    doubled = marks[len(empty) :] & marks[: -len(empty)]
    return first + (np.flatnonzero(doubled) + 1).tolist()


def count_between(positions: Sequence[int], low: int, high: int) -> int:
    """The number of the ascending `positions` in low <= position < high."""
    return bisect_left(positions, high) - bisect_left(positions, low) if positions else 0


def quotes_are_regular(data: bytes, dialect: Dialect) -> bool:
    """Whether every quote of these whole records opens a field, closes one or is half of a doubled quote.

    If so, a byte is inside an enclosed field exactly if an odd number of quotes comes before it. The delimiter must be
    one byte. Nothing may be escaped in `data` (Dialect.escapes_in).
    """
    view = np.frombuffer(data, np.uint8)
    return _all_quotes_at_field_borders(view, np.flatnonzero(view == ord(dialect.quote)), dialect)


def _has_comment_with_marks(data: bytes, dialect: Dialect) -> bool:
    """Whether a line that begins as a comment has a quote or an escape, by which a record could continue after it."""
    return begins_a_line(data, dialect.comment_bytes) and bool(_comment_with_marks(dialect).search(data))


@lru_cache
def _comment_with_marks(dialect: Dialect) -> re.Pattern[bytes]:
    marks = one_of(*dialect.marks)
    return re.compile(rb"(?:\A|(?<=[\r\n]))%b[^\r\n]*?%b" % (re.escape(dialect.comment_bytes), marks))


def _escapes_a_line_end(data: bytes, dialect: Dialect) -> bool:
    escape = dialect.escape_bytes
    return escape in data and (_are_adjacent(data, escape, b"\n") or (b"\r" in data and escape + b"\r" in data))


def _are_adjacent(data: bytes, first: bytes, second: bytes) -> bool:
    """Whether `first` comes right before `second` somewhere; several times faster than a search for both bytes."""
    view = np.frombuffer(data, np.uint8)
    return bool(((view[:-1] == ord(first)) & (view[1:] == ord(second))).any())


def _line_ends(data: bytes, dialect: Dialect, final: bool) -> Ends:
    if dialect.line_end == ANY_LINE_END and b"\r" in data:
        return _listed_ends(_any_line_ends(data, final), data, final)
    mark = b"\r" if dialect.line_end == "\r" else b"\n"
    foreign = _foreign_line_end(data, dialect)
    if foreign >= 0:
        return LineEnds(data, data.rfind(mark, 0, foreign) + 1, mark)
    # A CR at the very end may be followed by an LF, and CR LF would be another line end.
    certain = len(data) - (dialect.line_end == "\r")
    return LineEnds(data, len(data) if final else data.rfind(mark, 0, certain) + 1, mark)


def _foreign_line_end(data: bytes, dialect: Dialect) -> int:
    """The begin of the first line end of another kind; -1 if there is none."""
    if dialect.line_end == "\n":
        # A single byte is found ten times faster than two.
        return data.find(b"\r\n") if b"\r" in data else -1
    if dialect.line_end == "\r":
        lf = data.find(b"\n")
        return lf - (lf > 0 and data[lf - 1] == CR)
    return -1 if dialect.line_end == ANY_LINE_END else _bare_lf(data)


def _bare_lf(data: bytes) -> int:
    """The position of the first LF without a CR before it; -1 if there is none."""
    view = np.frombuffer(data, np.uint8)
    bare = view == LF
    bare[1:] &= view[:-1] != CR
    return int(bare.argmax()) if bare.any() else -1


def _any_line_ends(data: bytes, final: bool) -> Offsets:
    """The ends of each CR LF, LF and CR, ascending."""
    view = np.frombuffer(data, np.uint8)
    feed = view == LF
    carriage = view == CR
    # A CR counts by itself unless an LF follows. At the end of a block the next byte is not known.
    carriage[:-1] &= ~feed[1:]
    carriage[-1:] &= final
    return np.flatnonzero(feed | carriage) + 1


def _listed_ends(ends: Offsets, data: bytes, final: bool) -> ListedEnds:
    if final and (not len(ends) or ends[-1] < len(data)):
        ends = np.append(ends, len(data))
    return ListedEnds(ends)


def _regular_ends(data: bytes, dialect: Dialect, final: bool) -> ListedEnds | None:
    """The ends by method 2; None if quotes cannot be read safely.

    They can if every quote opens a field, closes one or is half of a doubled quote. In C, a quote may also be within a
    field that is not enclosed.
    """
    if not is_supported(dialect):
        known = not dialect.escape and len(dialect.delimiter_bytes) == 1 and dialect.line_end != "\r"
        return _ends_by_parity(data, dialect, final) if known else None
    if not (regular := find_regular_ends(data, dialect)):
        return None
    ends = _listed_ends(regular.ends, data, final and regular.whole)
    return replace(ends, regular=regular.regular and not dialect.escapes_in(data))


def _ends_by_parity(data: bytes, dialect: Dialect, final: bool) -> ListedEnds | None:
    """The ends if every quote opens a field, closes one or is half of a doubled quote; else None.

    In this case a byte is inside an enclosed field exactly if an odd number of quotes comes before it: a doubled quote
    closes the field and opens it again.
    """
    view = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(view == ord(dialect.quote))
    if not _all_quotes_at_field_borders(view, quotes, dialect):
        return None
    any_end = dialect.line_end == ANY_LINE_END
    if any_end:
        ends = _any_line_ends(data, final)
        ends = ends[np.searchsorted(quotes, ends - 1) % 2 == 0]
    else:
        newlines = np.flatnonzero(view == LF)
        ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0] + 1
        after_cr = view[ends - 2] == CR
        after_cr[ends == 1] = False
        foreign = np.flatnonzero(after_cr if dialect.line_end == "\n" else ~after_cr)
        if len(foreign):
            return ListedEnds(ends[: foreign[0]], regular=True)
    return replace(_listed_ends(ends, data, final and len(quotes) % 2 == 0), regular=True)


def _all_quotes_at_field_borders(view: ByteArray, quotes: Offsets, dialect: Dialect) -> bool:
    """Whether each opening quote comes after the end of a field or record, and each closing quote before one."""
    quote, delimiter = ord(dialect.quote), ord(dialect.delimiter)
    opening, closing = quotes[0::2], quotes[1::2]
    if len(opening) and opening[0] == 0:
        opening = opening[1:]
    if len(closing) and closing[-1] == len(view) - 1:
        closing = closing[:-1]
    before, after = view[opening - 1], view[closing + 1]
    ends = (LF, CR) if dialect.line_end == ANY_LINE_END else (LF,)
    if not _all_among(before, (quote, delimiter, *ends)):
        return False
    if not _all_among(after, (quote, delimiter, *(ends if ends[1:] else (ord(dialect.line_end[0]),)))):
        return False
    if dialect.line_end != "\r\n":
        return True
    at_cr = closing[after == CR] + 2
    return bool((at_cr < len(view)).all() and (view[at_cr] == LF).all())


def _all_among(values: ByteArray, allowed: tuple[int, ...]) -> bool:
    table = np.zeros(256, bool)
    table[list(allowed)] = True
    return bool(table[values].all())


def _ends_by_pattern(data: bytes, dialect: Dialect, final: bool) -> ListedEnds:
    """The ends by method 3: of all records up to the first that does not match the pattern."""
    sound, with_stray = record_pattern(dialect, final, stray=False), record_pattern(dialect, final, stray=True)
    ends: list[int] = []
    flaws: list[MalformedRecord] = []
    position, line, line_known_at = 0, 1, 0
    while position < len(data):
        if match := sound.match(data, position):
            position = match.end()
        elif match := with_stray.match(data, position):
            line += line_ends(data, dialect.line_end, line_known_at, position)
            line_known_at = position
            walk = RecordWalk(dialect, line)
            walk.feed(match[0], final=True)
            flaw, length = resolve_ended(walk, reader_of(match[0]), len(match[0]), dialect)
            if not flaw:
                break
            flaws.append(flaw.of_record(len(ends)))
            position += length
        else:
            break
        ends.append(position)
    return ListedEnds(ends, tuple(flaws))
