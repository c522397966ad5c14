"""Decodes hexadecimal digits in the feed, so that the bytes they stand for are sent (native/src/hex_decoder.c).

The server then reads half as much and has nothing to convert: by far the quickest way for such a field into its
column (server-behaviour.md, Speed). Each value goes out between quotes, and the statement takes what it gets for bytes,
so it must be right for every other field, too (planner/reasons/binary_charset.py). What is no plain record of such
digits raises NotHexadecimal: its chunk goes as it is, and the server says what is wrong.
"""

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from importer.engine.feed.feed import BLOCK, FeedTransform
from importer.engine.native import loader
from importer.engine.source.dialect import Dialect

# A record that goes on in the next piece is read again. A chunk with a larger one goes as it is.
LONGEST_RECORD = 1024 * 1024
# What the C code may write: times as many bytes as it reads, and some more.
MOST_TIMES, AND_MORE = 3, 32
HEX_DIGITS = "0123456789abcdefABCDEFxX"


class NotHexadecimal(Exception):
    """A record is not one of plain fields with digits where they should be."""


@dataclass(frozen=True)
class HexStatement:
    """The `statement` that takes records whose `hexadecimal` fields, by their place in the file, have become bytes.

    `ascii_only`: it is right only for chunks of ASCII alone.
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
    """Whether records of this dialect can be split as the server does, if the library is there."""
    marks = (dialect.delimiter, dialect.quote)
    plain = not (dialect.escape or dialect.rewriting or dialect.trailing_delimiter)
    told_apart = all(len(mark) == 1 and mark.isascii() and mark not in HEX_DIGITS for mark in marks)
    return plain and told_apart and dialect.line_end in ("\n", "\r\n")


def available() -> bool:
    """Whether the C library is there, without which nothing can be decoded."""
    return loader.library() is not None


def decode_hex(how: HexStatement, dialect: Dialect) -> FeedTransform:
    """A step from records in `dialect` to the same ones with bytes for digits. It raises NotHexadecimal."""
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
            read, made = _decode(data, form, room)
            yield made
            rest = data[read:]
            if len(rest) > LONGEST_RECORD:
                raise NotHexadecimal
        if rest:
            data = rest + dialect.line_end.encode()
            read, made = _decode(data, form, _with_room_for(data, room))
            if read < len(data):
                raise NotHexadecimal
            yield made

    return step


def _with_room_for(data: bytes, room: ctypes.Array[ctypes.c_char]) -> ctypes.Array[ctypes.c_char]:
    """The buffer, or another that takes what becomes of the data, and of a little more the next time."""
    enough = len(room) >= MOST_TIMES * len(data) + AND_MORE
    return room if enough else ctypes.create_string_buffer(MOST_TIMES * (len(data) + min(len(data), BLOCK)) + AND_MORE)


def _decode(data: bytes, form: _RecordFormat, room: ctypes.Array[ctypes.c_char]) -> tuple[int, bytes]:
    """How many of the bytes are whole records, and what they become; there is `room` for that."""
    call = loader.function("decode_hex", ctypes.c_size_t, *_ARGUMENTS)
    written = ctypes.c_size_t()
    read = call(data, len(data), form, room, written)
    if read > len(data):
        raise NotHexadecimal
    return read, ctypes.string_at(room, written.value)
