"""Explains duplicate keys: the key's columns and values, and the earlier line of the file that has the same key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block, blocks
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.source.records.fields import RecordPosition, fields

# The most bytes that are searched for earlier lines; takes about a second.
MAX_SEARCHED_BYTES = 2**30


@dataclass(frozen=True)
class RowKey:
    """The values of a row in the columns of a key; `positions` are the indexes of their fields (from 0)."""

    columns: tuple[str, ...]
    positions: tuple[int, ...]
    values: tuple[bytes, ...]

    @classmethod
    def of(cls, columns: Sequence[str], mapped: Sequence[str], values: Sequence[bytes]) -> "RowKey | None":
        """The key's values, None if a column of it has no field. `mapped` are the columns in the fields' order."""
        names = [name.lower() for name in mapped]
        positions = tuple(names.index(name.lower()) if name.lower() in names else len(values) for name in columns)
        if max(positions, default=len(values)) >= len(values):
            return None
        return cls(tuple(columns), positions, tuple(values[position] for position in positions))

    def describe(self, line: int | None, encoding: str) -> str:
        """The key in words, with the first line that has it, if one was found."""
        pairs = ", ".join(
            f"{name} = {encodings.readable_text(value, encoding)!r}"
            for name, value in zip(self.columns, self.values, strict=True)
        )
        if line:
            return f"Line {line:,} has the same key: {pairs}."
        return f"No earlier line has this key in the same letters: {pairs}."

    def is_in(self, record: bytes, dialect: Dialect) -> bool:
        values = fields(record, dialect)
        return max(self.positions) < len(values) and tuple(values[each] for each in self.positions) == self.values


def find_first_records(
    fd: Readable, dialect: Dialect, start: int, first_line: int, keys: Mapping[int, RowKey]
) -> dict[int, RecordPosition]:
    """Find the first earlier record with the same key, for each row of `keys` (by the row's offset in the file).

    The search begins at `start`, the beginning of a record on line `first_line`. Keys are compared byte by byte, which
    is fast; the server may find more keys equal. Finds nothing if the range is longer than MAX_SEARCHED_BYTES.
    """
    records: dict[int, RecordPosition] = {}
    end = max(keys, default=start)
    if end - start > MAX_SEARCHED_BYTES:
        return records
    rows = 0
    try:
        for block in blocks(fd, dialect, start, first_line, end):
            for offset, key in keys.items():
                if offset in records or block.offset >= offset:
                    continue
                if record := _first_in(block, key, offset, dialect, rows):
                    records[offset] = record
            rows += block.rows(0, block.size)
    except SourceProblem:
        pass  # The scan reports errors in the earlier part of the file.
    return records


def _first_in(block: Block, key: RowKey, before: int, dialect: Dialect, rows: int) -> RecordPosition | None:
    """The block's first record before that offset that has the key; `rows` is the number of rows before the block."""
    # Search for the longest value, up to a quote, which is doubled in the file.
    needle = max(key.values, key=len).split(dialect.quote.encode() or b"\0")[0]
    at = block.data.find(needle, 0, block.size) if needle else -1
    while at >= 0 and block.offset + at < before:
        low, high = block.ends.last(0, at), block.ends.first(at)
        if block.offset + low < before and key.is_in(block.data[low:high], dialect):
            line = block.first_line + line_ends(block.data, dialect.line_end, 0, low)
            return RecordPosition(line, rows + block.rows(0, low))
        at = block.data.find(needle, high, block.size)
    return None
