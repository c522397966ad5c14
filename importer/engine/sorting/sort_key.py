"""Computes the keys that records are sorted by: bytes in nearly the order of the server's primary key.

Nearly is enough: the order only helps the server to fill one page after the other, and the loaded rows do not depend on
it. So texts are compared by their first TEXT_BYTES bytes only, without case, for every collation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.schema.column_types import Order
from importer.engine.schema.table import Column, Table
from importer.engine.source.arrays import ByteArray, Keys, Mask, Offsets, Words, np
from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block, read_exactly
from importer.engine.source.records.fields import fields
from importer.engine.source.records.large_values import shown_values
from importer.engine.validation.cell_batch import PADDING, Page
from importer.engine.validation.record_layout import lay_out

TEXT_BYTES = 32
# Columns after this many bytes of key no longer matter for which page a row goes to.
ENOUGH_BYTES = 48
MOST_DIGITS = 20

_SIGN = 1 << 63


class Unsortable(Problem):
    """Records cannot be put in the order of the primary key."""


# Cells: the begins and ends of a column's cells. Encoded: their keys (records x bytes), and a mask of those with a key.
Cells = tuple[Offsets, Offsets]
Encoded = tuple[ByteArray, Mask]


@dataclass(frozen=True)
class KeyPart:
    """A column of the key: its field in the file (from 0), and the kind of its order."""

    field: int
    kind: str  # integer, unsigned, decimal, letters, text

    def width(self) -> int:
        """The size of this part of a key in bytes."""
        return {"integer": 8, "unsigned": 8, "decimal": 16}.get(self.kind, TEXT_BYTES)


@dataclass(frozen=True)
class SortKey:
    """The sort key for records of `fields` fields; `columns` are the key's columns, for people."""

    columns: tuple[str, ...]
    parts: tuple[KeyPart, ...]
    fields: int

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The numpy type of a key: a number for a key of eight bytes, else bytes."""
        width = sum(part.width() for part in self.parts)
        return np.dtype(np.uint64) if width == 8 else np.dtype(f"S{width}")

    @classmethod
    def of(cls, table: Table, mapping: Sequence[ColumnMapping]) -> "SortKey":
        """The sort key for the table's primary key.

        Raises Unsortable if the table has no primary key, or its first column is not in the file unchanged.
        """
        if not table.primary_key:
            raise Unsortable(f"The table {table.name} has no primary key.")
        parts: list[KeyPart] = []
        names: list[str] = []
        for name in table.primary_key:
            part = _part(table.column(name), mapping)
            if not part or sum(each.width() for each in parts) >= ENOUGH_BYTES:
                break
            parts.append(part)
            names.append(name)
        if not parts:
            first = table.primary_key[0]
            raise Unsortable(f"The column {first}, with which the primary key begins, is not in the file as it is.")
        return cls(tuple(names), tuple(parts), len(mapping))

    def keys(self, fd: Readable, block: Block, dialect: Dialect) -> tuple[Keys, Mask]:
        """The key of each record of the block, blank lines included, and a mask of the records with a key.

        A record with another number of fields, or without a number in a numeric column, has no key.
        """
        records = block.ends.count(0, block.size)
        keys, known = np.zeros(records, self.dtype), np.zeros(records, bool)
        layout = lay_out(block, dialect, self.fields) if block.data else None
        if layout:
            view, numbers = layout.page.view, slice(None) if layout.rows is None else layout.rows
            cells = [(layout.starts[part.field], layout.ends[part.field]) for part in self.parts]
        else:
            view, cells, numbers = self._one_by_one(fd, block, dialect)
        if len(cells[0][0]):
            keys[numbers], known[numbers] = self._keys(view, cells)
        return keys, known

    def _keys(self, view: ByteArray, cells: list[Cells]) -> tuple[Keys, Mask]:
        encoded = [_ENCODE[part.kind](view, *cell) for part, cell in zip(self.parts, cells, strict=True)]
        whole = np.ascontiguousarray(np.hstack([key for key, _ in encoded]))
        known = np.logical_and.reduce([known for _, known in encoded])
        if self.dtype == np.uint64:
            return whole.view(">u8").ravel().astype(np.uint64), known
        return whole.view(self.dtype).ravel(), known

    def _one_by_one(self, fd: Readable, block: Block, dialect: Dialect) -> tuple[ByteArray, list[Cells], Offsets]:
        """The key's cells in a block that cannot be laid out: bytes, begins and ends, and the records' numbers."""
        data = block.data or read_exactly(fd, block.size, block.offset)
        ends = block.ends.as_array().tolist()
        rows: list[list[bytes]] = []
        numbers: list[int] = []
        for number, (low, high) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            if block.data:
                values = fields(data[low:high], dialect)
                count = len(values)
            else:  # one large record
                values, count = shown_values(data, dialect, self.fields, 2 * TEXT_BYTES)
            if count == self.fields:
                rows.append([values[part.field][: 2 * TEXT_BYTES] for part in self.parts])
                numbers.append(number)
        lengths = np.array([[len(value) for value in row] for row in rows], np.int64).reshape(-1, len(self.parts))
        page = Page.of(b"".join(value for row in rows for value in row))
        stops = PADDING + np.cumsum(lengths.ravel()).reshape(lengths.shape)
        starts = stops - lengths
        return page.view, [(starts[:, at], stops[:, at]) for at in range(len(self.parts))], np.array(numbers, np.int64)


def _part(column: Column, mapping: Sequence[ColumnMapping]) -> KeyPart | None:
    """The part of the key for a column; None if its values are not in the file unchanged."""
    kind = _kind(column)
    for number, each in enumerate(mapping):
        if each.column.lower() == column.name.lower():
            unchanged = not (each.transforms or each.datetime_format or each.values or each.lookup)
            return KeyPart(number, kind) if kind and unchanged else None
    return None


def _kind(column: Column) -> str:
    order = column.column_type.order
    return "unsigned" if order is Order.INTEGER and "unsigned" in column.type.lower() else order.value


def _text(view: ByteArray, starts: Offsets, ends: Offsets) -> Encoded:
    """The first TEXT_BYTES bytes of each cell, padded with zeros."""
    at = starts[:, None] + np.arange(TEXT_BYTES)
    inside = at < ends[:, None]
    return np.where(inside, view[np.minimum(at, len(view) - 1)], 0).astype(np.uint8), np.ones(len(starts), bool)


def _letters(view: ByteArray, starts: Offsets, ends: Offsets) -> Encoded:
    """As _text(), with letters in upper case: most collations ignore case."""
    key, known = _text(view, starts, ends)
    key[(key >= ord("a")) & (key <= ord("z"))] -= 32
    return key, known


def _magnitude(view: ByteArray, starts: Offsets, ends: Offsets) -> tuple[Words, Mask, Mask]:
    """Each cell's number without its sign, a mask of those with a minus, and a mask of those with digits only.

    Spaces count as zeros: before the digits they do not change the number. An empty cell is zero.
    """
    while (blank := (view[starts] == ord(" ")) & (starts < ends)).any():
        starts = starts + blank
    first = view[starts]
    negative = (first == ord("-")) & (ends > starts)
    starts = starts + (negative | ((first == ord("+")) & (ends > starts)))
    lengths = ends - starts
    known = lengths <= MOST_DIGITS
    value = np.zeros(len(starts), np.uint64)
    for place in range(min(int(lengths.max(initial=0)), MOST_DIGITS), 0, -1):
        at = ends - place
        digit = view[at] - np.uint8(ord("0"))
        inside = at >= starts
        blank = ~inside | (digit == (ord(" ") - ord("0")) % 256)
        known &= (digit <= 9) | blank
        value = value * np.uint64(10) + np.where(blank, 0, digit).astype(np.uint64)
    return value, negative, known


def _bytes_of(numbers: Words) -> ByteArray:
    return np.ascontiguousarray(numbers.astype(">u8")).view(np.uint8).reshape(-1, 8)


def _unsigned(view: ByteArray, starts: Offsets, ends: Offsets) -> Encoded:
    value, negative, known = _magnitude(view, starts, ends)
    return _bytes_of(value), known & ~negative & (ends > starts)


def _integer(view: ByteArray, starts: Offsets, ends: Offsets) -> Encoded:
    value, negative, known = _magnitude(view, starts, ends)
    return _bytes_of(np.where(negative, np.uint64(_SIGN) - value, np.uint64(_SIGN) + value)), known & (ends > starts)


def _decimal(view: ByteArray, starts: Offsets, ends: Offsets) -> Encoded:
    """The whole part as a number, then the first eight digits after the point; all bits inverted if negative."""
    at = starts[:, None] + np.arange(TEXT_BYTES)
    point = (view[np.minimum(at, len(view) - 1)] == ord(".")) & (at < ends[:, None])
    stops = np.where(point.any(axis=1), starts + point.argmax(axis=1), ends)
    value, negative, known = _magnitude(view, starts, stops)
    after = np.minimum(stops + 1, ends)
    digits = _text(view, after, ends)[0][:, :8]
    known &= (ends > starts) & ((digits == 0) | ((digits >= ord("0")) & (digits <= ord("9")))).all(axis=1)
    key = np.hstack([_bytes_of(value | np.uint64(_SIGN)), digits])
    key[negative] ^= 0xFF
    return key, known


_ENCODE = {"text": _text, "letters": _letters, "integer": _integer, "unsigned": _unsigned, "decimal": _decimal}
