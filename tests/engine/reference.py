"""A reference reader: reads a file byte by byte as LOAD DATA does (sql/sql_load.cc, READ_INFO::read_field), slowly.

Escapes that count before quotes only are read as Dialect says, and those of PHP as php_fgetcsv() does (ext/standard).
The scanner is tested against this reader, and this reader against the servers.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import FILE_BEGIN, ChunkRange, Position, ScanPolicy, scan
from importer.engine.source.dialect import PRESETS, Dialect
from importer.engine.source.records.boundary.lines import ends_in_lf

UNESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"0": b"\0", b"Z": b"\x1a"}
DIALECTS = (
    *PRESETS.values(),
    Dialect(line_end="\r\n"),
    Dialect(delimiter=";", quote="'"),
    Dialect(delimiter="|", quote="", line_end="\r\n"),
    Dialect(escape="\\"),
    Dialect(escape="\\", line_end="\r\n"),
    Dialect(line_end="\r"),
    Dialect(escape="\\", line_end="\r", blank_lines="keep"),
    Dialect(delimiter="||"),
    Dialect(delimiter="ab", line_end="\r\n", blank_lines="keep"),
    Dialect(delimiter="|~|", quote="'", line_end="\r", trailing_delimiter=True),
    Dialect(delimiter=";", trailing_delimiter=True),
)
# Dialects that LOAD DATA cannot express: their records are rewritten.
REWRITTEN = (
    Dialect(line_end="any"),
    Dialect(escape="\\", line_end="any"),
    Dialect(delimiter="é"),
    Dialect(delimiter="||", quote="'", line_end="any"),
    Dialect(delimiter="||", trailing_delimiter=True),
    Dialect(unquoted_empty_is_null=True),
    Dialect(unquoted_empty_is_null=True, line_end="any", blank_lines="keep"),
    Dialect(unquoted_empty_is_null=True, line_end="\r\n"),
    Dialect(unquoted_empty_is_null=True, line_end="\r", delimiter=";", trailing_delimiter=True),
    Dialect(escape="\\", unquoted_empty_is_null=True, blank_lines="keep"),
    Dialect(escape="quote"),
    Dialect(escape="php"),
    Dialect(escape="quote", quote="'", delimiter="||", line_end="any"),
    Dialect(escape="php", line_end="\r\n", unquoted_empty_is_null=True),
    Dialect(escape="quote", line_end="\r", trailing_delimiter=True, blank_lines="keep"),
)


@dataclass
class Reading:
    """The end of each record, its values (None for NULL), and the records that a scan must refuse.

    `bad`: the numbers of records with a stray quote. `blank`: the numbers of blank lines.
    """

    ends: list[int] = field(default_factory=list)
    rows: list[list[bytes | None]] = field(default_factory=list)
    bad: set[int] = field(default_factory=set)
    blank: set[int] = field(default_factory=set)
    foreign: bool = False  # another kind of line end where a record or a quoted field seems to end
    unclosed: bool = False

    def sent(self, dialect: Dialect) -> list[int]:
        """The numbers of the records that are sent to a server."""
        skipped = self.blank if dialect.blank_lines == "skip" else set()
        return [number for number in range(len(self.ends)) if number not in self.bad | skipped]

    def record(self, number: int) -> tuple[int, int]:
        return self.ends[number - 1] if number else 0, self.ends[number]


LINE_ENDS = {"any": (b"\r\n", b"\n", b"\r")}
FOREIGN = {"\n": (b"\r\n",), "\r\n": (b"\n",), "\r": (b"\r\n", b"\n"), "any": ()}


def read(data: bytes, dialect: Dialect) -> Reading:
    reading, position, row = Reading(), 0, []
    line_ends = LINE_ENDS.get(dialect.line_end, (dialect.line_end.encode(),))
    while position < len(data):
        start = position
        value, position, ended_by = _read_field(data, position, dialect, reading)
        row.append(value)
        nothing = data[start:position] in line_ends
        if ended_by == "delimiter" and position == len(data):
            row.append(None if dialect.unquoted_empty_is_null else b"")
            nothing = True
        if ended_by != "delimiter" or position == len(data):
            if len(row) == 1 and nothing:
                reading.blank.add(len(reading.ends))
            if len(row) > 1 and nothing and dialect.trailing_delimiter:
                row.pop()
            reading.ends.append(position)
            reading.rows.append(row)
            row = []
    return reading


def _read_field(data: bytes, position: int, dialect: Dialect, reading: Reading) -> tuple[bytes | None, int, str]:
    """The value, the position of the next field, and the kind of mark that ended the field."""
    delimiter, quote = dialect.delimiter.encode(), dialect.quote.encode()
    line_ends = LINE_ENDS.get(dialect.line_end, (dialect.line_end.encode(),))
    foreign = FOREIGN[dialect.line_end]
    enclosed = bool(quote) and data[position : position + 1] == quote
    opened = enclosed
    position += enclosed
    value, null, escaped_until = b"", False, -1

    def ended(at: int, by: str) -> tuple[bytes | None, int, str]:
        empty = dialect.unquoted_empty_is_null and not opened and not value
        return (None if empty or (null and value == b"N") else value), at, by

    def here(marks: tuple[bytes, ...], at: int) -> bytes:
        return next((mark for mark in marks if data.startswith(mark, at)), b"")

    while position < len(data):
        byte = data[position : position + 1]
        taken = data[position + 1 : position + 2]
        if byte == b"\\" and enclosed and dialect.escape in ("quote", "php") and taken:
            value += taken if taken == quote and dialect.escape == "quote" else byte + taken
            position += 2
        elif byte == b"\\" and dialect.escape == byte.decode() and taken:
            value += UNESCAPED.get(taken, taken)
            null |= taken == b"N"
            position = escaped_until = position + 2
        elif enclosed and byte == quote:
            after = position + 1
            if data.startswith(quote, after):
                value += quote
                position += 2
            elif data.startswith(delimiter, after):
                return ended(after + len(delimiter), "delimiter")
            elif here(foreign, after):
                reading.foreign = True
                value += byte
                position += 1
            elif mark := here(line_ends, after):
                return ended(after + len(mark), "line end")
            elif after == len(data):
                return ended(after, "end of data")
            else:
                reading.bad.add(len(reading.ends))
                enclosed = False
                position += 1
        elif not enclosed and data.startswith(delimiter, position):
            return ended(position + len(delimiter), "delimiter")
        elif not enclosed and (mark := here(line_ends, position)):
            cr_before = value.endswith(b"\r") and position != escaped_until
            reading.foreign |= dialect.line_end == "\n" and cr_before
            reading.foreign |= bool(here(foreign, position))
            return ended(position + len(mark), "line end")
        else:
            reading.foreign |= not enclosed and bool(here(foreign, position)) and dialect.line_end != "\n"
            value += byte
            position += 1
    reading.unclosed |= enclosed
    value = quote + value if enclosed else value
    return ended(position, "end of data")


@st.composite
def documents(
    draw: st.DrawFn,
    most: int = 24,
    dialects: tuple[Dialect, ...] = DIALECTS + REWRITTEN,
    more: tuple[str, ...] = (),
) -> tuple[Dialect, bytes]:
    """A dialect, and bytes with its special characters, and the texts `more`, in arbitrary places."""
    dialect = draw(st.sampled_from(dialects))
    quote, delimiter = dialect.quote or '"', dialect.delimiter
    line_end = "\r\n" if dialect.line_end == "any" else dialect.line_end
    tokens = [
        quote, delimiter, delimiter[0], line_end, "\n", "\r", "\r\n", "\\", "\0", "a", "N", "é", "東",
        quote * 2, delimiter + quote, quote + delimiter, quote + line_end, line_end + quote, "\\" + quote, *more,
    ]  # fmt: skip
    data = "".join(draw(st.lists(st.sampled_from(tokens), min_size=1, max_size=most))).encode()
    # These are no data at a file's end.
    return dialect, data.rstrip(b"\0\r" if ends_in_lf(dialect.line_end) else b"\0") or b"a"


@contextmanager
def in_file(data: bytes) -> Iterator[int]:
    """A descriptor of a file in memory with `data`."""
    fd = os.memfd_create("source")
    try:
        os.pwrite(fd, data, 0)
        yield fd
    finally:
        os.close(fd)


def scan_with(
    fd: int, dialect: Dialect, sizes: ChunkSizes, *, end: int, begin: Position = FILE_BEGIN, **policy: Any
) -> Iterator[ChunkRange]:
    """Scan with the fields of ScanPolicy as keywords."""
    return scan(fd, dialect, sizes, begin, end=end, policy=ScanPolicy(**policy))
