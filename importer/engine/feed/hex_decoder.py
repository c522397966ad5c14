"""Decodes hexadecimal digits in the feed, so that the bytes they stand for are sent (native/src/hex_decoder.c).

The server then reads half as many bytes and has nothing to convert: by far the fastest way for a field of digits into
its column (server-behaviour.md, Speed). Each value is sent in quotes. The statement takes all values as bytes, so it
must be right for the other fields too (planner/reasons/binary_charset.py). A record that cannot be decoded raises
NotHexadecimal: its chunk is then sent undecoded, and the server reports the error.
"""

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from importer.engine.feed.feed import BLOCK, FeedTransform
from importer.engine.native import loader
from importer.engine.source.dialect import Dialect

# Bytes. A record that continues in the next piece is read again. A chunk with a larger record is sent undecoded.
LONGEST_RECORD = 1024 * 1024
# The C code may write MOST_TIMES the bytes it reads, and AND_MORE in addition.
MOST_TIMES, AND_MORE = 3, 32
HEX_DIGITS = "0123456789abcdefABCDEFxX"


class NotHexadecimal(Exception):
    """A record has other values than digits in a hexadecimal field, or cannot be split into fields."""


@dataclass(frozen=True)
class HexStatement:
    """The `statement` for records with decoded fields; `hexadecimal` marks these fields, in the file's order.

    With `ascii_only` it stores the right values only for chunks of ASCII.
    """

    statement: str
    hexadecimal: tuple[bool, ...]
    ascii_only: bool


class _RecordFormat(ctypes.Structure):
    """hex_decoder.c's `struct record_format`."""

    _fields_ = (
        *((name, ctypes.c_uint8) for name in ("delimiter", "quote", "carriage")),
        ("count", ctypes.c_size_t),
        ("hexadecimal", ctypes.c_char_p),
    )


_ARGUMENTS = (
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.POINTER(_RecordFormat),
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_size_t),
)


def can_decode(dialect: Dialect) -> bool:
    """Whether the C code splits records of this dialect as the server does."""
    marks = (dialect.delimiter, dialect.quote)
    plain = not (dialect.escape or dialect.rewriting or dialect.trailing_delimiter)
    distinct = all(len(mark) == 1 and mark.isascii() and mark not in HEX_DIGITS for mark in marks)
    return plain and distinct and dialect.line_end in ("\n", "\r\n")


def available() -> bool:
    """Whether the C library is loaded. Without it no digits can be decoded."""
    return loader.library() is not None


def decode_hex(how: HexStatement, dialect: Dialect) -> FeedTransform:
    """A step that decodes the hexadecimal fields of records in `dialect`. It raises NotHexadecimal."""
    form = _RecordFormat(
        ord(dialect.delimiter),
        ord(dialect.quote),
        dialect.line_end == "\r\n",
        len(how.hexadecimal),
        bytes(how.hexadecimal),
    )

    def step(pieces: Iterable[bytes]) -> Iterator[bytes]:
        rest, room = b"", ctypes.create_string_buffer(0)
        for piece in pieces:
            data = rest + piece
            room = _with_room_for(data, room)
            read, decoded = _decode(data, form, room)
            yield decoded
            rest = data[read:]
            if len(rest) > LONGEST_RECORD:
                raise NotHexadecimal
        if rest:
            data = rest + dialect.line_end.encode()
            read, decoded = _decode(data, form, _with_room_for(data, room))
            if read < len(data):
                raise NotHexadecimal
            yield decoded

    return step


def _with_room_for(data: bytes, room: ctypes.Array[ctypes.c_char]) -> ctypes.Array[ctypes.c_char]:
    """`room` if the decoded data fits, or else a new buffer with some reserve for the next piece."""
    enough = len(room) >= MOST_TIMES * len(data) + AND_MORE
    return room if enough else ctypes.create_string_buffer(MOST_TIMES * (len(data) + min(len(data), BLOCK)) + AND_MORE)


def _decode(data: bytes, form: _RecordFormat, room: ctypes.Array[ctypes.c_char]) -> tuple[int, bytes]:
    """The number of bytes that are whole records, and these records decoded. Uses `room` as the buffer."""
    call = loader.function("decode_hex", ctypes.c_size_t, *_ARGUMENTS)
    written = ctypes.c_size_t()
    read = call(data, len(data), form, room, written)
    if read > len(data):
        raise NotHexadecimal
    return read, ctypes.string_at(room, written.value)
