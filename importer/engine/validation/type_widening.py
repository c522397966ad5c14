"""The types of a new table, held against the whole file: what they do not hold is made wider, or named.

Blocks whose values are all as usual for the types (validation/fast_path.py) are passed over. Python reads the others,
and the whole of the columns that prove too narrow, whose types then hold all values and no more.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.schema.new_table import NewTable, fit_row_size
from importer.engine.schema.type_inference import TypeTracker
from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, Block, blocks, read_exactly
from importer.engine.source.records.fields import fields, records
from importer.engine.source.records.row_error import shortened
from importer.engine.validation.fast_path import FastPath
from importer.engine.validation.field_check import CellRule, FieldCheck


@dataclass(frozen=True)
class TypeMismatch:
    """A column that does not hold the whole file: the type that does, and the first value that asks for it."""

    type: str
    line: int
    value: str


@dataclass(frozen=True)
class FileScan:
    """The records of a file from `start`, where one begins on `first_line`, to `end`. `on_block` is called at each."""

    fd: Readable
    dialect: Dialect
    start: int
    first_line: int
    end: int
    on_block: Callable[[], None] = lambda: None
    block_bytes: int = BLOCK_BYTES

    def blocks(self) -> Iterator[Block]:
        for block in blocks(self.fd, self.dialect, self.start, self.first_line, self.end, self.block_bytes):
            self.on_block()
            yield block

    def rows(self, block: Block, width: int) -> list[list[str]]:
        """The values of the block's records that have so many."""
        return [row for row in _rows(self.data(block), self.dialect) if len(row) == width]

    def data(self, block: Block) -> bytes:
        return block.data[: block.size] if block.data else read_exactly(self.fd, block.size, block.offset)


@dataclass
class _Field:
    """A field whose values its column may not hold. `first` is the line and the value of the first one it does not."""

    number: int
    column: str
    type: str
    markers: frozenset[str]
    seen: TypeTracker = field(default_factory=TypeTracker)
    first: tuple[int, str] | None = None

    def take(self, rows: Sequence[Sequence[str]]) -> None:
        self.seen.take([row[self.number] for row in rows], self.markers)

    @property
    def fits(self) -> bool:
        return self.seen.fits(self.type)

    def holds(self, value: str) -> bool:
        alone = TypeTracker()
        alone.take([value], self.markers)
        return alone.fits(self.type)


def find_mismatches(file: FileScan, table: NewTable, mapping: Sequence[ColumnMapping]) -> dict[str, TypeMismatch]:
    """The columns of the table that do not hold the file's values, by name.

    Records with another number of fields are passed over: the load names them. Raises as blocks() does.
    """
    found = _fields(table, mapping, file.dialect)
    usual = _fast_path(file.dialect, found, len(mapping))
    for block in file.blocks():
        if usual and block.data and usual.are_all_usual(block):
            continue
        rows = file.rows(block, len(mapping))
        for each in found:
            each.take(rows)
            if not each.first and not each.fits:
                each.first = _first_mismatch(file, block, each)
    return _required_types(file, [each for each in found if each.first], len(mapping))


def _fields(table: NewTable, mapping: Sequence[ColumnMapping], dialect: Dialect) -> list[_Field]:
    """Those to look at: what is read in a way of its own, as somebody asked, is left to the load to judge."""
    types = {column.name: column.type for column in table.columns}
    null = {dialect.null} if dialect.null else set()
    return [
        _Field(number, each.column, types[each.column], frozenset(each.null_markers) | null)
        for number, each in enumerate(mapping)
        if each.column in types and not (each.datetime_format or each.transforms)
    ]


def _fast_path(dialect: Dialect, found: Sequence[_Field], count: int) -> FastPath | None:
    """Knows what surely fits. Numbers with leading zeros or a plus do not: they are names for something."""
    checks = [FieldCheck("")] * count
    for each in found:
        checks[each.number] = FieldCheck(each.column, each.type, null_markers=tuple(each.markers))
    rules = [CellRule.of(check, mariadb=False, encoding=dialect.encoding) for check in checks]
    return FastPath.of(dialect, rules, plain=True)


def _required_types(file: FileScan, found: Sequence[_Field], width: int) -> dict[str, TypeMismatch]:
    """With the types that hold the whole file, which is read once more for that."""
    if not found:
        return {}
    whole = [replace(each, seen=TypeTracker()) for each in found]
    for block in file.blocks():
        rows = file.rows(block, width)
        for each in whole:
            each.take(rows)
    return {each.column: TypeMismatch(each.seen.type, *each.first) for each in whole if each.first}


def _first_mismatch(file: FileScan, block: Block, wanted: _Field) -> tuple[int, str]:
    """Line and value of the first record in the block whose value the column does not hold."""
    data = file.data(block)
    for record in records(data, file.dialect, line=block.first_line):
        values = fields(data[record.start : record.end], file.dialect)
        if wanted.number < len(values):
            value = values[wanted.number].decode(errors="replace")
            if not wanted.holds(value):
                return record.line, value
    return block.first_line, ""


def _rows(data: bytes, dialect: Dialect) -> Iterator[list[str]]:
    """The values of all records: by Python's csv where it reads as the server does, which is far faster."""
    if not dialect.escape and len(dialect.delimiter) == 1 and dialect.line_end in ("\n", "\r\n"):
        text = io.StringIO(data.decode(errors="replace"), newline="")
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
        csv.field_size_limit(2**31 - 1)
        yield from csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote or None, quoting=quoting)
        return
    for record in records(data, dialect):
        yield [value.decode(errors="replace") for value in fields(data[record.start : record.end], dialect)]


def widen_types(table: NewTable, found: dict[str, TypeMismatch]) -> NewTable:
    """The table with types that the whole file fits. Raises Problem, with the line, if one must not be widened."""
    columns = []
    for column in table.columns:
        misfit = found.get(column.name)
        if misfit and not table.widen:
            raise Problem(
                f"{shortened(misfit.value)} does not fit {column.name} {column.type};"
                f" the whole file needs {misfit.type}.",
                where=f"line {misfit.line:,}, column {column.name}",
                advice=f"Make the column {misfit.type}, let types be widened, or correct the file.",
            )
        columns.append(replace(column, type=misfit.type) if misfit else column)
    return replace(table, columns=fit_row_size(columns))


def describe_changes(before: NewTable, after: NewTable, found: dict[str, TypeMismatch]) -> Iterator[tuple[str, str]]:
    """What was changed, and why."""
    for old, new in zip(before.columns, after.columns, strict=True):
        if old != new:
            misfit = found.get(new.name)
            why = f"line {misfit.line:,} has {misfit.value[:60]!r}" if misfit else "rows could be too large else"
            yield f"{new.name} is {new.type}, not {old.type}", why
