"""Writes the records of the working copy: in the dialect COPY, with the place of each in the file.

A row that cannot be read, although those after it can, is a RowRefused. It stops the import, or its record is marked
(records/refused.py) and rejected with the others.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from importer.engine.errors import RecordUnreadable
from importer.engine.source.arrays import np
from importer.engine.source.compression import PIECE_BYTES, Piece
from importer.engine.source.records.copy_escapes import escaped
from importer.engine.source.records.refused import NOT_UTF8, Refusal, mark

NULL = rb"\N"
TAB, LINE_END = b"\t", b"\n"


def record(values: Iterable[bytes | None]) -> bytes:
    """A record of the copy, with its line end; None is NULL."""
    return TAB.join([NULL if value is None else escaped(value) for value in values]) + LINE_END


def header(fields: Iterable[str]) -> bytes:
    """The copy's first record."""
    return record(name.encode() for name in fields)


class RowRefused(Exception):
    """A row that cannot be read. `problem`: for an import that stops; `text`: of the row, or of the value at fault.

    `field`: the field at fault, from 1; 0: the row as a whole. `values`: those of the row, as they stand in the copy.
    """

    def __init__(
        self,
        refusal: Refusal,
        problem: RecordUnreadable,
        text: bytes,
        field: int = 0,
        values: Sequence[bytes] = (),
    ) -> None:
        super().__init__(str(problem))
        problem.advice = problem.advice or refusal.advice
        self.refusal, self.problem, self.text, self.field, self.values = refusal, problem, text, field, values

    def record(self, width: int, line: int) -> bytes:
        """The marked record, of a row with `width` fields on this line of the file."""
        values = [*self.values[:width], *[NULL] * (width - len(self.values))]
        text = self.text.decode(errors="backslashreplace").encode()
        return TAB.join([*values, mark(self.refusal, line, self.field, escaped(text))]) + LINE_END


class CopyRecords:
    """Gathers records of the copy into pieces of about PIECE_BYTES, and numbers them from 1 in the file's order.

    `tolerate`: rows that cannot be read are marked; otherwise they raise RecordUnreadable. `width`: of a row.
    """

    def __init__(self, width: int, *, tolerate: bool) -> None:
        self._width, self._tolerate = width, tolerate
        self._data: list[bytes] = []
        self._lines: list[int] = []
        self._offsets: list[int] = []
        self._bytes = self._row = 0
        self._refused: RecordUnreadable | None = None

    def add(self, record: bytes, line: int, offset: int = 0) -> bool:
        """Add a record, which begins on this line (or is this row) of the file, at this byte. Returns whether the
        piece is full."""
        self._data.append(record)
        self._lines.append(line)
        self._offsets.append(offset)
        self._bytes += len(record)
        return self._bytes >= PIECE_BYTES

    def refuse(self, row: RowRefused, line: int, offset: int = 0) -> bool:
        """Add a row that cannot be read, as add() does. Raises RecordUnreadable unless that is tolerated."""
        if not self._tolerate:
            raise row.problem from row
        self._refused = self._refused or row.problem
        return self.add(row.record(self._width, line), line, offset)

    def piece(self, used: int) -> Piece:
        """The records since the last piece, after `used` bytes of the file."""
        rows = np.arange(self._row + 1, self._row + 1 + len(self._data), dtype=np.int64)
        places = np.column_stack((rows, np.array(self._lines, np.int64), np.array(self._offsets, np.int64)))
        piece = Piece(b"".join(self._data), used, places, self._refused)
        self._row += len(self._data)
        self._data, self._lines, self._offsets, self._bytes = [], [], [], 0
        return piece

    def rest(self, used: int) -> Iterator[Piece]:
        """The last piece, if there is one."""
        if self._data:
            yield self.piece(used)


class Row(NamedTuple):
    """A row for the copy: its record, or why it is refused; its line and byte in the file; the bytes read so far."""

    content: bytes | RowRefused
    line: int
    offset: int
    used: int


def pieces_of(rows: Iterable[Row], width: int, *, tolerate: bool) -> Iterator[Piece]:
    """The pieces of the copy for the rows of a file, as CopyRecords gathers them."""
    out, used = CopyRecords(width, tolerate=tolerate), 0
    for content, line, offset, used in rows:
        full = out.refuse(content, line, offset) if isinstance(content, RowRefused) else out.add(content, line, offset)
        if full:
            yield out.piece(used)
    yield from out.rest(used)


def invalid_utf8(raw: bytes, error: UnicodeDecodeError, line: int) -> RowRefused:
    """Why a row that begins on this line of the file, with the bytes `raw`, is refused."""
    what = f"The byte {raw[error.start]:02x} at position {error.start + 1:,} is not UTF-8."
    return RowRefused(NOT_UTF8, RecordUnreadable(what, f"line {line:,}", "State the encoding (--encoding)."), raw)
