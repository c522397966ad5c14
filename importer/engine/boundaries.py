"""Where records end in a block of bytes, fast.

Three readings, the quickest that is certain for the block at hand: line ends alone where no quote occurs, the parity of
quotes where every quote stands where RFC 4180 puts it, a pattern for whole records otherwise. Each claims only what
LOAD DATA would read the same way (walk.py says how that is), and stops before the first record of which it is not
certain: a line end of the other kind, a record that the block cuts. The walk then decides about that one.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from importer.engine.dialect import Dialect
from importer.engine.walk import Marks, none_of


@dataclass(frozen=True)
class LineEnds:
    """Record ends of a block where every LF of data[:size] is one, and so is `size` itself."""

    data: bytes
    size: int

    def last(self, low: int, high: int) -> int:
        """The last end in low < end <= high, 0 if there is none."""
        return self.size if high >= self.size else self.data.rfind(b"\n", low, max(low, high)) + 1

    def first(self, low: int) -> int:
        """The first end after `low`, which must lie before `size`."""
        return self.data.find(b"\n", low, self.size) + 1 or self.size

    def count(self, low: int, high: int) -> int:
        """How many records there are between two ends."""
        return self.data.count(b"\n", low, high) + (low < high and self.data[high - 1] != ord("\n"))

    def listed(self) -> Any:
        """All ends as a one-dimensional array, ascending."""
        import numpy as np

        found = np.flatnonzero(np.frombuffer(self.data, np.uint8, self.size) == ord("\n")) + 1
        complete = not self.size or self.data[self.size - 1] == ord("\n")
        return found if complete else np.append(found, self.size)


@dataclass(frozen=True)
class ListedEnds:
    """Record ends of a block one by one, ascending; what is asked of them means the same as in LineEnds."""

    ends: Sequence[int]  # or a one-dimensional array

    @property
    def size(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def last(self, low: int, high: int) -> int:
        found = bisect_right(self.ends, high)
        end = int(self.ends[found - 1]) if found else 0
        return end if end > low else 0

    def first(self, low: int) -> int:
        return int(self.ends[bisect_right(self.ends, low)])

    def count(self, low: int, high: int) -> int:
        return bisect_right(self.ends, high) - bisect_right(self.ends, low)

    def listed(self) -> Any:
        import numpy as np

        return np.asarray(self.ends)


Ends = LineEnds | ListedEnds


def find_ends(data: bytes, dialect: Dialect, *, final: bool) -> Ends:
    """The ends of the records of `data`, which begins with a record. `final`: nothing comes after it."""
    if dialect.escape and _escapes_a_line_end(data, dialect):
        return _ends_by_pattern(data, dialect, final)
    if not dialect.quote or dialect.quote.encode() not in data:
        return _line_ends(data, dialect, final)
    ends = None if dialect.escape else _ends_by_parity(data, dialect, final)
    return _ends_by_pattern(data, dialect, final) if ends is None else ends


def _escapes_a_line_end(data: bytes, dialect: Dialect) -> bool:
    escape = dialect.escape.encode()
    return escape + b"\n" in data or (b"\r" in data and escape + b"\r" in data)


def _line_ends(data: bytes, dialect: Dialect, final: bool) -> LineEnds:
    foreign = _foreign_line_end(data, dialect)
    if foreign >= 0:
        return LineEnds(data, data.rfind(b"\n", 0, foreign) + 1)
    return LineEnds(data, len(data) if final else data.rfind(b"\n") + 1)


def _foreign_line_end(data: bytes, dialect: Dialect) -> int:
    """Where the first line end of the other kind is, -1 if there is none."""
    if dialect.line_end == "\n":
        # A single byte is found ten times faster than two.
        return data.find(b"\r\n") if b"\r" in data else -1
    if data.count(b"\r\n") == data.count(b"\n"):
        return -1
    bare = re.search(rb"(?<!\r)\n", data)
    assert bare is not None
    return bare.start()


def _ends_by_parity(data: bytes, dialect: Dialect, final: bool) -> ListedEnds | None:
    """The ends if every quote opens a field, closes one or is half of a doubled quote; None if not.

    Then a byte is inside an enclosed field exactly if an odd number of quotes comes before it: a doubled quote closes
    the field and opens it again.
    """
    # Not at the top: it costs 16 MB, and a file without quotes does not need it.
    import numpy as np

    view = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(view == ord(dialect.quote))
    if not _all_quotes_at_field_borders(view, quotes, dialect):
        return None
    newlines = np.flatnonzero(view == ord("\n"))
    newlines = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    after_cr = view[newlines - 1] == ord("\r")
    after_cr[newlines == 0] = False
    foreign = np.flatnonzero(after_cr if dialect.line_end == "\n" else ~after_cr)
    if len(foreign):
        return ListedEnds(newlines[: foreign[0]] + 1)
    ends: Any = newlines + 1
    unterminated = len(quotes) % 2 == 0 and not data.endswith(b"\n")
    if final and unterminated:
        ends = np.append(ends, len(data))
    return ListedEnds(ends)


def _all_quotes_at_field_borders(view: Any, quotes: Any, dialect: Dialect) -> bool:
    """Whether each opening quote follows a field's or a record's end, and each closing one comes before it."""
    quote, delimiter = ord(dialect.quote), ord(dialect.delimiter)
    opening, closing = quotes[0::2], quotes[1::2]
    if len(opening) and opening[0] == 0:
        opening = opening[1:]
    if len(closing) and closing[-1] == len(view) - 1:
        closing = closing[:-1]
    before, after = view[opening - 1], view[closing + 1]
    if not _all_among(before, (quote, delimiter, ord("\n"))):
        return False
    if not _all_among(after, (quote, delimiter, ord(dialect.line_end[0]))):
        return False
    if dialect.line_end == "\n":
        return True
    at_cr = closing[after == ord("\r")] + 2
    return bool((at_cr < len(view)).all() and (view[at_cr] == ord("\n")).all())


def _all_among(values: Any, allowed: tuple[int, ...]) -> bool:
    import numpy as np

    table = np.zeros(256, bool)
    table[list(allowed)] = True
    return bool(table[values].all())


def _ends_by_pattern(data: bytes, dialect: Dialect, final: bool) -> ListedEnds:
    """The ends of the records that match the pattern, up to the first that does not."""
    record = _record_pattern(dialect, final)
    ends, position = [], 0
    while position < len(data) and (match := record.match(data, position)):
        position = match.end()
        ends.append(position)
    return ListedEnds(ends)


@lru_cache
def _record_pattern(dialect: Dialect, final: bool) -> re.Pattern[bytes]:
    """One whole record; no match for one that is not complete, or that has a line end of the other kind.

    Possessive throughout, as the servers never look back.
    """
    marks = Marks.of(dialect)
    d, q, e = marks.delimiter, marks.quote, marks.escape
    end = (rb"(?<!\r)\n" if dialect.line_end == "\n" else rb"\r\n") + (rb"|\Z" if final else b"")
    escaped = rb"%b%b" % (e, rb"(?:.|\Z)" if final else b".")
    plain_cr = rb"\r" if dialect.line_end == "\n" else rb"\r(?!\n)"
    plain = rb"(?!%b)(?:%b++|%b|%b)*+" % (q, none_of(dialect.delimiter, dialect.escape, "\r\n"), plain_cr, escaped)
    literal = rb"%b(?!%b|\r?\n|\Z)" % (q, d)
    inside = rb"(?:%b++|%b%b|%b|%b)*+" % (none_of(dialect.quote, dialect.escape), q, q, literal, escaped)
    enclosed = rb"%b%b%b(?=%b|%b)" % (q, inside, q, d, end)
    field = rb"(?:%b|%b)" % (enclosed, plain)
    return re.compile(rb"%b(?:%b%b)*+(?:%b)" % (field, d, field, end), re.DOTALL)
