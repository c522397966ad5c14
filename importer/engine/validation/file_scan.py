"""Reads the values of a whole file block by block, as text; NULL as None."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, Block, blocks, read_exactly
from importer.engine.source.records.fields import records, values

Row = Sequence[str | None]


@dataclass(frozen=True)
class FileScan:
    """The records of a file from byte `start`, which begins `first_line`, to `end`. `on_block` is called per block.

    `further`: start, first line and end of the other files, of several that are read as one.
    """

    fd: Readable
    dialect: Dialect
    start: int
    first_line: int
    end: int
    on_block: Callable[[], None] = lambda: None
    block_bytes: int = BLOCK_BYTES
    further: tuple[tuple[int, int, int], ...] = ()

    def blocks(self) -> Iterator[Block]:
        for start, line, end in ((self.start, self.first_line, self.end), *self.further):
            for block in blocks(self.fd, self.dialect, start, line, end, self.block_bytes):
                self.on_block()
                yield block

    def rows(self, block: Block, width: int) -> list[Row]:
        """The values of the block's records with `width` fields."""
        return [row for row in _rows(self._data(self.only_rows(block)), self.dialect) if len(row) == width]

    def only_rows(self, block: Block) -> Block:
        """The block without comments, which could hide records from fast ways to read them."""
        return block.only_rows() if self.dialect.leaves_lines_out else block

    def first_value(self, block: Block, number: int, is_wanted: Callable[[str], bool]) -> tuple[int, str]:
        """Line and text of the first such value of the field with this number in the block."""
        return next(iter(self.values_at(block, number, is_wanted, 1)), (block.first_line, ""))

    def values_at(
        self, block: Block, number: int, is_wanted: Callable[[str], bool], most: int
    ) -> list[tuple[int, str]]:
        """Line and text of the first `most` such values of the field with this number in the block."""
        data = self._data(block)
        left_out, found = set(block.blank), list[tuple[int, str]]()
        for record in records(data, self.dialect, line=block.first_line):
            if record.start in left_out:
                continue
            row = _values(data[record.start : record.end], self.dialect)
            value = row[number] if number < len(row) else None
            if value is not None and is_wanted(value):
                found.append((record.line, value))
                if len(found) == most:
                    break
        return found

    def _data(self, block: Block) -> bytes:
        return block.data[: block.size] if block.data else read_exactly(self.fd, block.size, block.offset)


def _values(record: bytes, dialect: Dialect) -> Row:
    decoded = values(record, dialect)
    return [None if value is None else value.decode(dialect.encoding, errors="replace") for value in decoded]


def _rows(data: bytes, dialect: Dialect) -> Iterator[Row]:
    """The values of all records; by Python's csv, which is far faster, where it reads them like the server."""
    if not _suits_csv(data, dialect):
        for record in records(data, dialect):
            yield _values(data[record.start : record.end], dialect)
        return
    text = io.StringIO(data.decode(dialect.encoding, errors="replace"), newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
    csv.field_size_limit(2**31 - 1)
    for row in csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote or None, quoting=quoting):
        if dialect.trailing_delimiter and len(row) > 1 and not row[-1]:
            row.pop()
        yield [value or None for value in row] if dialect.unquoted_empty_is_null else row


def _suits_csv(data: bytes, dialect: Dialect) -> bool:
    """Whether Python's csv gives the values of the records. It does not tell an empty field with quotes from one
    without.
    """
    if dialect.escape or len(dialect.delimiter) != 1 or dialect.line_end not in ("\n", "\r\n"):
        return False
    empty = dialect.quote.encode() * 2
    if not empty or empty not in data:
        return True
    if dialect.unquoted_empty_is_null:
        return False
    at_end = empty + dialect.line_end.encode() in data or data.endswith(empty)
    return not (dialect.trailing_delimiter and at_end)
