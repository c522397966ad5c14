"""Writes the records of the working copy: in the dialect COPY, with the place of each in the file."""

import re
from collections.abc import Iterable, Iterator

from importer.engine.source.compression import PIECE_BYTES, Piece

# As the server reads them (Manual, LOAD DATA, "Escape Sequence"): a value of the copy has no line end and no tab.
_ESCAPES = {b"\\": b"\\\\", b"\t": b"\\t", b"\n": b"\\n", b"\r": b"\\r", b"\0": b"\\0"}
ESCAPED = tuple(_ESCAPES)
_ESCAPED = re.compile(rb"[\\\t\n\r\0]")
_UNESCAPED = {escape: byte for byte, escape in _ESCAPES.items()}
_ESCAPE = re.compile(rb"\\[\\tnr0]")
NULL = rb"\N"
TAB, LINE_END = b"\t", b"\n"


def escaped(value: bytes) -> bytes:
    """A value as it stands in the copy."""
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], value)


def unescaped(value: bytes) -> bytes:
    """A value of the copy as it was before it was escaped."""
    return _ESCAPE.sub(lambda found: _UNESCAPED[found[0]], value)


def record(values: Iterable[bytes | None]) -> bytes:
    """A record of the copy, with its line end; None is NULL."""
    return TAB.join([NULL if value is None else escaped(value) for value in values]) + LINE_END


def header(fields: Iterable[str]) -> bytes:
    """The copy's first record."""
    return record(name.encode() for name in fields)


class CopyRecords:
    """Gathers records of the copy into pieces of about PIECE_BYTES, and numbers them from 1 in the file's order."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._lines: list[int] = []
        self._offsets: list[int] = []
        self._bytes = self._row = 0

    def add(self, record: bytes, line: int, offset: int = 0) -> bool:
        """Add a record, which begins on this line (or is this row) of the file, at this byte. Returns whether the
        piece is full."""
        self._data.append(record)
        self._lines.append(line)
        self._offsets.append(offset)
        self._bytes += len(record)
        return self._bytes >= PIECE_BYTES

    def piece(self, used: int) -> Piece:
        """The records since the last piece, after `used` bytes of the file."""
        import numpy as np

        rows = np.arange(self._row + 1, self._row + 1 + len(self._data), dtype=np.int64)
        places = np.column_stack((rows, np.array(self._lines, np.int64), np.array(self._offsets, np.int64)))
        piece = Piece(b"".join(self._data), used, places)
        self._row += len(self._data)
        self._data, self._lines, self._offsets, self._bytes = [], [], [], 0
        return piece

    def rest(self, used: int) -> Iterator[Piece]:
        """The last piece, if there is one."""
        if self._data:
            yield self.piece(used)
