"""LOAD DATA's reading, byte by byte, as sql/sql_load.cc has it (READ_INFO::read_field): slow, and without any trick.

The scanner is tested against this, and this against the servers.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hypothesis import strategies as st

from importer.engine.dialect import PRESETS, Dialect

UNESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"0": b"\0", b"Z": b"\x1a"}
DIALECTS = (
    *PRESETS.values(),
    Dialect(line_end="\r\n"),
    Dialect(delimiter=";", quote="'"),
    Dialect(delimiter="|", quote="", line_end="\r\n"),
    Dialect(escape="\\"),
    Dialect(escape="\\", line_end="\r\n"),
)


@dataclass
class Reading:
    """Where each record ends, its values (None for NULL), and what a scan must refuse."""

    ends: list[int] = field(default_factory=list)
    rows: list[list[bytes | None]] = field(default_factory=list)
    foreign: bool = False  # a line end of the other kind, where a record or a quoted field seems to end
    unclosed: bool = False


def read(data: bytes, dialect: Dialect) -> Reading:
    reading, position, row = Reading(), 0, []
    while position < len(data):
        value, position, ended_by = _read_field(data, position, dialect, reading)
        row.append(value)
        if ended_by == "delimiter" and position == len(data):
            row.append(b"")
        if ended_by != "delimiter" or position == len(data):
            reading.ends.append(position)
            reading.rows.append(row)
            row = []
    return reading


def _read_field(data: bytes, position: int, dialect: Dialect, reading: Reading) -> tuple[bytes | None, int, str]:
    """The value, where the next field begins, and what ended this one."""
    delimiter, quote, escape, line_end = (
        each.encode() for each in (dialect.delimiter, dialect.quote, dialect.escape, dialect.line_end)
    )
    foreign = b"\r\n" if line_end == b"\n" else b"\n"
    enclosed = bool(quote) and data[position : position + 1] == quote
    position += enclosed
    value, null, escaped_until = b"", False, -1

    def ended(at: int, by: str) -> tuple[bytes | None, int, str]:
        return (None if null and value == b"N" else value), at, by

    while position < len(data):
        byte = data[position : position + 1]
        if escape and byte == escape and position + 1 < len(data):
            taken = data[position + 1 : position + 2]
            value += UNESCAPED.get(taken, taken)
            null |= taken == b"N"
            position = escaped_until = position + 2
        elif enclosed and byte == quote:
            after = position + 1
            if data.startswith(quote, after):
                value += quote
                position += 2
            elif data.startswith(delimiter, after):
                return ended(after + 1, "delimiter")
            elif data.startswith(line_end, after):
                return ended(after + len(line_end), "line end")
            elif after == len(data):
                return ended(after, "end of data")
            else:
                reading.foreign |= data.startswith(foreign, after)
                value += byte
                position += 1
        elif not enclosed and byte == delimiter:
            return ended(position + 1, "delimiter")
        elif not enclosed and data.startswith(line_end, position):
            cr_before = value.endswith(b"\r") and position != escaped_until
            reading.foreign |= line_end == b"\n" and cr_before
            return ended(position + len(line_end), "line end")
        else:
            reading.foreign |= not enclosed and line_end == b"\r\n" and byte == b"\n"
            value += byte
            position += 1
    reading.unclosed |= enclosed
    value = quote + value if enclosed else value
    return ended(position, "end of data")


@st.composite
def documents(draw: st.DrawFn, most: int = 24) -> tuple[Dialect, bytes]:
    """A dialect, and bytes in which its own characters stand in all kinds of wrong places."""
    dialect = draw(st.sampled_from(DIALECTS))
    quote, delimiter, line_end = dialect.quote or '"', dialect.delimiter, dialect.line_end
    tokens = [
        quote, delimiter, line_end, "\n", "\r", "\r\n", "\\", "\0", "a", "N", "é", "東",
        quote * 2, delimiter + quote, quote + delimiter, quote + line_end, line_end + quote,
    ]  # fmt: skip
    return dialect, "".join(draw(st.lists(st.sampled_from(tokens), min_size=1, max_size=most))).encode()


@contextmanager
def in_file(data: bytes) -> Iterator[int]:
    """A descriptor of a file in memory that holds `data`."""
    fd = os.memfd_create("source")
    try:
        os.pwrite(fd, data, 0)
        yield fd
    finally:
        os.close(fd)
