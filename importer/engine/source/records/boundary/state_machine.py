"""Finds the end of one record exactly as LOAD DATA does: slow, simple, and correct for every byte.

The servers' rules (READ_INFO::read_field in sql/sql_load.cc, equal in MySQL and MariaDB):

- A field is enclosed only if its very first byte is the quote; elsewhere in an unenclosed field a quote is literal.
- In an enclosed field two quotes stand for one. A single quote closes the field if the delimiter, the line end or the
  end of the data follows.
- The delimiter and the line end count outside enclosed fields only. Of a delimiter of several characters the first
  occurrence counts: `|||` is `||` and `|`.
- The escape character makes the next byte data, whichever byte it is, in both kinds of field. An escape that only
  counts in quotes (Dialect.escape) does so in enclosed fields; the servers do not know it.
- A comment (Dialect.comment), which is never sent, ends with its line, also if a quote is in it.
- Only the dialect's own line end ends a record: with CR LF, a bare LF is data; with LF, the CR before it is data.

There is one exception. A single quote in an enclosed field that does not close it, as in `"5" disk",`, is literal for
the servers, and the field continues, maybe over many lines, without a warning. Here this *stray quote* closes its
field. The rest, up to the next delimiter or line end, is read as unenclosed, as in Python's csv module. The record is
bad and ends with its line. It is never sent, so the servers never read a stray quote.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.boundary.lines import line_ends


@dataclass(frozen=True)
class Quote:
    """A quote in a record: its byte offset from the record's start, its physical line, its field's number from 1."""

    offset: int
    line: int
    field: int


class RecordWalk:
    """Reads one record, piece by piece, in constant memory.

    - `fields`: the number of its fields so far.
    - `opened`: the last quote that opened a field. `is_open`: whether that field is still open at the end of the last
      piece.
    - `stray`: the first stray quote. `opened_astray`: the quote that opened the stray quote's field.
    - `longest`: the quote that opened the longest closed field, of `longest_length` bytes.
    - `foreign_line`: the first line that ends, outside quotes, in another line end than the dialect's; 0 if none does.

    With `literal`, a quote at the very start is read as a plain character.
    """

    def __init__(self, dialect: Dialect, line: int = 1, *, literal: bool = False) -> None:
        self._dialect = dialect
        self._quote = dialect.quote.encode()
        self._stop_bytes = _stop_bytes(dialect)
        self._line = line
        self._counted = 0  # position in the current piece up to which lines are counted
        self._before = b""
        self._length = 0
        self._start = 0  # position in the current piece from which on it is read
        self._undecided = b""
        # "start" of a field, then "plain" or "enclosed"; "begin" of a record that may be a comment, then "comment".
        self._state = "plain" if literal else "begin" if dialect.comment else "start"
        self.longest_length = 0
        self.fields = 1
        self.opened: Quote | None = None
        self.stray: Quote | None = None
        self.opened_astray: Quote | None = None
        self.longest: Quote | None = None
        self.foreign_line = 0

    @property
    def is_open(self) -> bool:
        """Whether the last piece ended in an enclosed field."""
        return self._state == "enclosed"

    def feed(self, data: bytes, start: int = 0, *, final: bool = False) -> int:
        """Read the next piece, data[start:]. Returns the record's length in bytes if its end is found, else 0.

        `final`: nothing comes after `data`, so the record ends there, unless a quote is open.
        """
        if self._undecided:
            data, start = self._undecided + data[start:], 0
        self._start = self._counted = start
        end, is_end = self._read(data, start, final)
        self._length += end - start
        if is_end or (final and not self.is_open):
            return self._length
        self._line_at(data, end)
        self._before = data[end - 1 : end] or self._before
        # The next piece decides whether these bytes are a closing quote, a line end, a delimiter or an escape.
        self._undecided = data[end:]
        return 0

    def _read(self, data: bytes, start: int, final: bool) -> tuple[int, bool]:
        """The position up to which the data could be read, and whether the record ends there."""
        events = _events(self._dialect, final)
        position = start
        while position < len(data):
            if self._state == "begin" and not self._begins(data, position, final):
                return position, False
            if self._state == "start":
                enclosed = bool(self._quote) and data.startswith(self._quote, position)
                self._state = "enclosed" if enclosed else "plain"
                if enclosed:
                    self.opened = self._quote_at(data, position)
                    position += 1
            stop = self._stop_bytes[self._state].search(data, position)
            if not stop:
                return len(data), False
            event = events[self._state].match(data, stop.start())
            if not event:
                position = stop.end()
                continue
            if event.lastgroup == "unsure":
                return event.start(), False
            position = event.end()
            if self._ends_record(event.lastgroup, data, event.start()):
                return position, True
        return position, False

    def _begins(self, data: bytes, at: int, final: bool) -> bool:
        """Decide whether the record is a comment. Returns whether the data suffices for that."""
        comment = self._dialect.comment_bytes
        begin = data[at : at + len(comment)]
        if len(begin) < len(comment) and comment.startswith(begin) and not final:
            return False
        self._state = "comment" if begin == comment else "start"
        return True

    def _ends_record(self, kind: str | None, data: bytes, at: int) -> bool:
        """Handle an event of this kind at data[at]. Returns whether the record ends with it."""
        if kind in ("foreign", "foreign_record") and not self.foreign_line:
            self.foreign_line = self._line_at(data, at)
        if kind in ("field", "record", "closed") and self.is_open:
            self._close(at)
        if kind == "stray":
            self._go_astray(data, at)
        if kind == "field":
            self.fields += 1
            self._state = "start"
        if kind == "closed":
            self._state = "plain"
        return kind in ("record", "foreign_record")

    def _close(self, at: int) -> None:
        assert self.opened
        length = self._length + at - self._start - self.opened.offset
        if length > self.longest_length:
            self.longest_length, self.longest = length, self.opened

    def _go_astray(self, data: bytes, at: int) -> None:
        self._state = "plain"
        if not self.stray:
            self.stray, self.opened_astray = self._quote_at(data, at), self.opened

    def _quote_at(self, data: bytes, at: int) -> Quote:
        return Quote(self._length + at - self._start, self._line_at(data, at), self.fields)

    def _line_at(self, data: bytes, at: int) -> int:
        before = self._before if self._counted == self._start else b""
        self._line += line_ends(data, self._dialect.line_end, self._counted, at, before)
        self._counted = at
        return self._line


@dataclass(frozen=True)
class MarkPatterns:
    """Patterns for a dialect's marks; the pattern of a mark that the dialect does not have matches nothing.

    `cut_delimiter` matches the first part of a delimiter at the end of the data. `escape` counts in enclosed fields,
    `plain_escape` in others.
    """

    delimiter: bytes
    cut_delimiter: bytes
    quote: bytes
    escape: bytes
    plain_escape: bytes

    @classmethod
    def of(cls, dialect: Dialect) -> "MarkPatterns":
        quote, escape = (re.escape(each) or NOTHING for each in (dialect.quote.encode(), dialect.escape_bytes))
        delimiter = dialect.delimiter_bytes
        parts = [re.escape(delimiter[:length]) for length in range(1, len(delimiter))]
        cut = rb"(?:%b)\Z" % b"|".join(parts) if parts else NOTHING
        return cls(re.escape(delimiter), cut, quote, escape, escape if dialect.escapes_all else NOTHING)


def plain_escape(dialect: Dialect) -> bytes:
    """The escape that counts in fields that are not enclosed; b"" without one."""
    return dialect.escape_bytes if dialect.escapes_all else b""


NOTHING = rb"(?!)"


def one_of(*characters: bytes) -> bytes:
    """A pattern for one byte of these characters; without any, a pattern that matches nothing."""
    return rb"[%b]" % re.escape(b"".join(characters)) if any(characters) else NOTHING


def none_of(*characters: bytes) -> bytes:
    """A pattern for one byte that is none of these characters."""
    return rb"[^%b]" % re.escape(b"".join(characters)) if any(characters) else b"."


@lru_cache
def _stop_bytes(dialect: Dialect) -> dict[str, re.Pattern[bytes]]:
    """Patterns for the bytes at which an event may begin, in an unenclosed and in an enclosed field; found fast."""
    return {
        "plain": re.compile(one_of(dialect.delimiter_bytes[:1], plain_escape(dialect), b"\r\n")),
        "comment": re.compile(rb"[\r\n]"),
        "enclosed": re.compile(one_of(dialect.quote.encode(), dialect.escape_bytes)),
    }


# Patterns for the line ends that end a record outside quotes, and for line ends of another kind. _FOREIGN_RECORD is
# tried first, because the dialect's own line end is a part of it.
_FOREIGN_RECORD = {"\n": rb"\r\n", "\r": rb"\r(?=\n)"}
RECORD_ENDS = {"\n": rb"\n", "\r\n": rb"\r\n", "\r": rb"\r", ANY_LINE_END: rb"\r\n|\n|\r"}
_FOREIGN = {"\r\n": rb"\n", "\r": rb"\n"}


@lru_cache
def _events(dialect: Dialect, final: bool) -> dict[str, re.Pattern[bytes]]:
    """Patterns for events, by the field's state; the group is the event's kind.

    `unsure`: bytes at the end of a piece, which only the next piece can decide.
    """
    marks = MarkPatterns.of(dialect)
    d, q, e = marks.delimiter, marks.quote, marks.escape
    foreign_record, record, foreign = (
        each.get(dialect.line_end, NOTHING) for each in (_FOREIGN_RECORD, RECORD_ENDS, _FOREIGN)
    )
    cut = rb"\r\Z|%b" % marks.cut_delimiter
    unsure_plain = NOTHING if final else rb"%b|%b\Z" % (cut, marks.plain_escape)
    unsure_enclosed = NOTHING if final else rb"%b(?:%b|\Z)|%b\Z" % (q, cut, e)
    unsure_comment = NOTHING if final else rb"\r\Z"
    ends = rb"(?P<foreign_record>%b)|(?P<record>%b)|(?P<foreign>%b)" % (foreign_record, record, foreign)
    closes = rb"(?P<foreign>%b(?:%b|%b))|(?P<record>%b(?:%b))" % (q, foreign_record, foreign, q, record)
    patterns = {
        "comment": rb"(?P<unsure>%b)|%b" % (unsure_comment, ends),
        "plain": rb"(?P<skip>%b.)|(?P<field>%b)|(?P<unsure>%b)|%b" % (marks.plain_escape, d, unsure_plain, ends),
        "enclosed": rb"(?P<skip>%b.|(?:%b%b)++)|(?P<field>%b%b)|(?P<unsure>%b)|%b|(?P<closed>%b\Z)|(?P<stray>%b)"
        % (e, q, q, q, d, unsure_enclosed, closes, q, q),
    }
    return {state: re.compile(pattern, re.DOTALL) for state, pattern in patterns.items()}
