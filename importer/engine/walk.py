"""Where one record ends, exactly as LOAD DATA reads it: slow, plain, and right about every byte.

What the servers do (READ_INFO::read_field in sql/sql_load.cc, the same in MySQL and MariaDB):

- A field is enclosed only if its very first byte is the quote; elsewhere in an unenclosed field a quote is literal.
- In an enclosed field two quotes stand for one. A single quote closes the field only if the delimiter, the line end or
  the end of the data follows; otherwise it is literal and the field goes on.
- The delimiter and the line end count outside enclosed fields only.
- The escape character takes the next byte with it, whatever that is, in both kinds of field.
- Only the dialect's own line end ends a record: with CR LF, a bare LF is data; with LF, the CR before it is data.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from importer.engine.dialect import Dialect


class RecordWalk:
    """Reads one record, piece by piece, in constant memory.

    `open_line` is the line of the quote that is open where the last piece ended, 0 if none is. `foreign_line` is the
    first line that ends, outside quotes, in another line end than the dialect's, 0 if none does.
    """

    def __init__(self, dialect: Dialect, line: int = 1) -> None:
        self._quote = dialect.quote.encode()
        self._stops, self._events = _stops(dialect), _events(dialect)
        self._line = line
        self._length = 0
        self._held = b""
        self._state = "start"  # of a field; then "plain" or "enclosed"
        self.open_line = 0
        self.foreign_line = 0

    def feed(self, data: bytes, start: int = 0, *, final: bool = False) -> int:
        """Read on in data[start:]. The record's length in bytes if its end has been found, else 0.

        `final` says that nothing comes after `data`: then the record ends there, unless it is in an open quote.
        """
        if self._held:
            data, start = self._held + data[start:], 0
        end, found = self._read(data, start, final)
        self._length += end - start
        if found or (final and self._state != "enclosed"):
            return self._length
        self._line += data.count(b"\n", start, end)
        # Whether these bytes are a closing quote, a line end or an escape shows in the next piece.
        self._held = data[end:]
        return 0

    def _read(self, data: bytes, start: int, final: bool) -> tuple[int, bool]:
        """How far it could be read, and whether that is the record's end."""
        position, opened = start, -1
        while position < len(data):
            if self._state == "start":
                enclosed = bool(self._quote) and data.startswith(self._quote, position)
                self._state = "enclosed" if enclosed else "plain"
                opened = position if enclosed else -1
                position += enclosed
            stop = self._stops[self._state].search(data, position)
            if not stop:
                position = len(data)
                break
            event = self._events[self._state].match(data, stop.start())
            if not event:
                position = stop.end()
                continue
            position, kind = event.end(), event.lastgroup
            if kind in ("foreign", "foreign_record") and not self.foreign_line:
                self.foreign_line = self._line + data.count(b"\n", start, event.start())
            if kind in ("record", "foreign_record"):
                return position, True
            if kind == "unsure" and not final:
                position = event.start()
                break
            if kind == "field" or (kind == "unsure" and event[0] == self._quote):
                self._state = "start"
        if self._state != "enclosed":
            self.open_line = 0
        elif opened >= 0:
            self.open_line = self._line + data.count(b"\n", start, opened)
        return position, False


@dataclass(frozen=True)
class Marks:
    """A dialect's characters as patterns over bytes; one that is not set matches nothing."""

    delimiter: bytes
    quote: bytes
    escape: bytes
    line_end: bytes

    @classmethod
    def of(cls, dialect: Dialect) -> "Marks":
        quote, escape = (re.escape(each.encode()) or rb"(?!)" for each in (dialect.quote, dialect.escape))
        return cls(re.escape(dialect.delimiter.encode()), quote, escape, dialect.line_end.encode())


def one_of(*characters: str) -> bytes:
    """A pattern for one byte that is one of these; without any, one that matches nothing."""
    return rb"[%b]" % re.escape("".join(characters).encode()) if any(characters) else rb"(?!)"


def none_of(*characters: str) -> bytes:
    """A pattern for one byte that is none of these."""
    return rb"[^%b]" % re.escape("".join(characters).encode()) if any(characters) else b"."


@lru_cache
def _stops(dialect: Dialect) -> dict[str, re.Pattern[bytes]]:
    """Where something may happen, in an unenclosed and in an enclosed field: a class of bytes, found fast."""
    return {
        "plain": re.compile(one_of(dialect.delimiter, dialect.escape, "\r\n")),
        "enclosed": re.compile(one_of(dialect.quote, dialect.escape)),
    }


@lru_cache
def _events(dialect: Dialect) -> dict[str, re.Pattern[bytes]]:
    """What happens there, if anything does; `unsure` stands at the end of a piece."""
    marks = Marks.of(dialect)
    d, q, e = marks.delimiter, marks.quote, marks.escape
    if dialect.line_end == "\n":
        plain = rb"(?P<foreign_record>\r\n)|(?P<record>\n)"
        enclosed = rb"(?P<foreign>%b\r\n)|(?P<record>%b\n)" % (q, q)
    else:
        plain = rb"(?P<record>\r\n)|(?P<foreign>\n)"
        enclosed = rb"(?P<record>%b\r\n)|(?P<foreign>%b\n)" % (q, q)
    patterns = {
        "plain": rb"(?P<skip>%b.)|(?P<field>%b)|%b|(?P<unsure>(?:%b|\r)\Z)" % (e, d, plain, e),
        "enclosed": rb"(?P<skip>%b.|(?:%b%b)++)|(?P<field>%b%b)|%b|(?P<unsure>%b\r?\Z|%b\Z)"
        % (e, q, q, q, d, enclosed, q, e),
    }
    return {state: re.compile(pattern, re.DOTALL) for state, pattern in patterns.items()}
