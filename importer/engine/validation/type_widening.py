"""Checks a new table's column types against the whole file; widens a type that is too narrow, or reports it.

Blocks whose values are all usual for the types (validation/fast_path.py) are skipped. Python reads the other blocks. It
reads all values of a column that is too narrow, and gives the column the narrowest type for all of them.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.schema.new_table import NewColumn, NewTable
from importer.engine.schema.row_size import fit_row_size
from importer.engine.schema.type_inference import TypeTracker
from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, Block, blocks, read_exactly
from importer.engine.source.records.fields import fields, records
from importer.engine.source.records.row_error import shortened
from importer.engine.validation.converted_rules import FieldCheck
from importer.engine.validation.fast_path import FastPath
from importer.engine.validation.field_check import CellRule


@dataclass(frozen=True)
class TypeMismatch:
    """A column that is too narrow for the file: the `type` that is wide enough, and the first value that needs it."""

    type: str
    line: int
    value: str


@dataclass(frozen=True)
class FileScan:
    """The records of a file from byte `start`, which begins `first_line`, to `end`. `on_block` is called per block."""

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
        """The values of the block's records with `width` fields."""
        return [row for row in _rows(self.data(block), self.dialect) if len(row) == width]

    def data(self, block: Block) -> bytes:
        return block.data[: block.size] if block.data else read_exactly(self.fd, block.size, block.offset)


@dataclass
class _Field:
    """A field whose column may be too narrow. `first`: line and text of the first value that does not fit."""

    number: int
    column: str
    type: str
    markers: frozenset[str]
    tracker: TypeTracker = field(default_factory=TypeTracker)
    first: tuple[int, str] | None = None

    def take(self, rows: Sequence[Sequence[str]]) -> None:
        self.tracker.take([row[self.number] for row in rows], self.markers)

    @property
    def fits(self) -> bool:
        return self.tracker.fits(self.type)

    def fits_value(self, value: str) -> bool:
        tracker = TypeTracker()
        tracker.take([value], self.markers)
        return tracker.fits(self.type)


def find_mismatches(file: FileScan, table: NewTable, mapping: Sequence[ColumnMapping]) -> dict[str, TypeMismatch]:
    """The columns of the table that are too narrow for the file's values, by name.

    Records with another number of fields are skipped: the load reports them. Raises as blocks() does.
    """
    checked = _fields(table, mapping, file.dialect)
    fast_path = _fast_path(file.dialect, checked, len(mapping))
    for block in file.blocks():
        if fast_path and block.data and fast_path.are_all_usual(block):
            continue
        rows = file.rows(block, len(mapping))
        for each in checked:
            each.take(rows)
            if not each.first and not each.fits:
                each.first = _first_mismatch(file, block, each)
    return _required_types(file, [each for each in checked if each.first], len(mapping))


def _fields(table: NewTable, mapping: Sequence[ColumnMapping], dialect: Dialect) -> list[_Field]:
    """The fields to check. Fields with a date format or transforms are left to the load."""
    types = {column.name: column.type for column in table.columns}
    null = {dialect.null} if dialect.null else set()
    return [
        _Field(number, each.column, types[each.column], frozenset(each.null_markers) | null)
        for number, each in enumerate(mapping)
        if each.column in types and not (each.datetime_format or each.transforms)
    ]


def _fast_path(dialect: Dialect, checked: Sequence[_Field], count: int) -> FastPath | None:
    """The fast path for values that certainly fit. Numbers with leading zeros or a plus are taken for identifiers, and
    do not fit.
    """
    checks = [FieldCheck("")] * count
    for each in checked:
        checks[each.number] = FieldCheck(each.column, each.type, null_markers=tuple(each.markers))
    rules = [CellRule.of(check, mariadb=False, encoding=dialect.encoding) for check in checks]
    return FastPath.of(dialect, rules, plain=True)


def _required_types(file: FileScan, narrow: Sequence[_Field], width: int) -> dict[str, TypeMismatch]:
    """The mismatches with the types that fit the whole file, which is read a second time for that."""
    if not narrow:
        return {}
    whole = [replace(each, tracker=TypeTracker()) for each in narrow]
    for block in file.blocks():
        rows = file.rows(block, width)
        for each in whole:
            each.take(rows)
    return {each.column: TypeMismatch(each.tracker.type, *each.first) for each in whole if each.first}


def _first_mismatch(file: FileScan, block: Block, wanted: _Field) -> tuple[int, str]:
    """Line and value of the first record in the block whose value does not fit the column."""
    data = file.data(block)
    for record in records(data, file.dialect, line=block.first_line):
        values = fields(data[record.start : record.end], file.dialect)
        if wanted.number < len(values):
            value = values[wanted.number].decode(errors="replace")
            if not wanted.fits_value(value):
                return record.line, value
    return block.first_line, ""


def _rows(data: bytes, dialect: Dialect) -> Iterator[list[str]]:
    """The values of all records; by Python's csv, which is far faster, for dialects that it reads like the server."""
    if not dialect.escape and len(dialect.delimiter) == 1 and dialect.line_end in ("\n", "\r\n"):
        text = io.StringIO(data.decode(errors="replace"), newline="")
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
        csv.field_size_limit(2**31 - 1)
        yield from csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote or None, quoting=quoting)
        return
    for record in records(data, dialect):
        yield [value.decode(errors="replace") for value in fields(data[record.start : record.end], dialect)]


def widen_types(table: NewTable, mismatches: dict[str, TypeMismatch]) -> NewTable:
    """The table with types that fit the whole file. Raises Problem, with the line, if table.widen forbids that."""
    columns = []
    for column in table.columns:
        mismatch = mismatches.get(column.name)
        if mismatch and not table.widen:
            raise Problem(
                f"{shortened(mismatch.value)} does not fit {column.name} {column.type};"
                f" the whole file needs {mismatch.type}.",
                where=f"line {mismatch.line:,}, column {column.name}",
                advice=f"Make the column {mismatch.type}, let types be widened, or correct the file.",
            )
        columns.append(replace(column, type=mismatch.type) if mismatch else column)
    types = fit_row_size([column.type for column in columns])
    fitted = (NewColumn(column.name, type_) for column, type_ in zip(columns, types, strict=True))
    return replace(table, columns=tuple(fitted))


def describe_changes(
    before: NewTable, after: NewTable, mismatches: dict[str, TypeMismatch]
) -> Iterator[tuple[str, str]]:
    """Each change in words, with its reason."""
    for old, new in zip(before.columns, after.columns, strict=True):
        if old != new:
            mismatch = mismatches.get(new.name)
            why = (
                f"line {mismatch.line:,} has {mismatch.value[:60]!r}"
                if mismatch
                else "rows could be too large otherwise"
            )
            yield f"{new.name} is {new.type}, not {old.type}", why
