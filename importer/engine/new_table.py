"""A table that is to be made for a file: its columns, its statement, and the pass over the file that proves them."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from importer.engine.dialect import Dialect
from importer.engine.errors import Problem
from importer.engine.files.profile import Profile
from importer.engine.files.types import Seen, check_type
from importer.engine.mapping import ColumnMapping
from importer.engine.reading import Readable
from importer.engine.records.blocks import Block, blocks, read_exactly
from importer.engine.records.fields import fields, records
from importer.engine.sql import quote_name
from importer.engine.table import TEXTS, Column, Key, Table
from importer.engine.values import NULL_WORDS

LONGEST_NAME = 64
# A row may have so many bytes besides its TEXT columns (manual, Limits on Table Column Count and Row Size).
LARGEST_ROW = 60_000


@dataclass(frozen=True)
class NewColumn:
    """A column that is to be: its name and its type, one of types.check_type()."""

    name: str
    type: str


@dataclass(frozen=True)
class NewTable:
    """A table that is to be. `widen`: a type that the whole file does not fit is made wider, instead of an error.

    With `partitions` its rows lie in so many by hash of the primary key.
    """

    schema: str
    name: str
    columns: tuple[NewColumn, ...]
    primary_key: tuple[str, ...] = ()
    widen: bool = True
    partitions: int | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "NewTable":
        columns = tuple(NewColumn(**each) for each in values["columns"])
        return cls(**{**values, "columns": columns, "primary_key": tuple(values["primary_key"])})

    def statement(self, name: str) -> str:
        """CREATE TABLE under that name; types have passed check_type()."""
        lines = [f"{quote_name(each.name)} {each.type}{self._null(each)}" for each in self.columns]
        if self.primary_key:
            lines.append(f"PRIMARY KEY ({', '.join(quote_name(name) for name in self.primary_key)})")
        body = ",\n  ".join(lines)
        sql = f"CREATE TABLE {quote_name(self.schema)}.{quote_name(name)} (\n  {body}\n) ENGINE=InnoDB CHARSET=utf8mb4"
        return f"{sql}\n{self.partitioning}" if self.partitions else sql

    @property
    def partitioning(self) -> str:
        types = {each.name: each.type for each in self.columns}
        return partitioning(self.primary_key, [types[name] for name in self.primary_key], self.partitions or 1)

    def _null(self, column: NewColumn) -> str:
        return " NOT NULL" if column.name in self.primary_key else " NULL"

    def as_table(self) -> Table:
        """What the server will say of it, as far as a plan needs that."""
        columns = tuple(
            Column(each.name, each.type, each.name not in self.primary_key, None, False, False) for each in self.columns
        )
        columns = tuple(replace(each, charset="utf8mb4") if each.kind in TEXTS else each for each in columns)
        keys = (Key("PRIMARY", self.primary_key, True),) if self.primary_key else ()
        return Table(self.schema, self.name, "InnoDB", columns, keys)


def partitioning(primary_key: Sequence[str], types: Sequence[str], partitions: int) -> str:
    """By hash of a single column with whole numbers, else by the server's own hash of the key, which takes others.

    `types` are those of the key's columns. Every unique key must have the columns that partition (manual, Partitioning
    Keys and Unique Keys).
    """
    columns = ", ".join(quote_name(name) for name in primary_key)
    whole = len(types) == 1 and re.match(r"(tiny|small|medium|big)?int\b", types[0])
    return f"PARTITION BY {'HASH' if whole else 'KEY'} ({columns}) PARTITIONS {partitions}"


def suggest_table(schema: str, name: str, profile: Profile) -> NewTable:
    """A table for the sample of a file: names from its header, types from its values. A guess until the whole file is
    read.
    """
    seen = [Seen() for _ in profile.header]
    for number, each in enumerate(seen):
        values = [row[number] for row in profile.rows if number < len(row)]
        each.take(values, frozenset(_markers(values)))
    types = [each.type for each in seen]
    columns = [NewColumn(*pair) for pair in zip(_names(profile.header), types, strict=True)]
    return NewTable(schema, name, _narrow_enough(columns))


def partition_table(table: NewTable, partitions: int) -> NewTable:
    """The table in so many partitions. Raises Problem if it has no key that could tell them apart."""
    if not table.primary_key:
        raise Problem(
            "A table without a primary key cannot be partitioned by hash of it.",
            advice="Say which columns are the primary key, or leave the partitions out.",
            option="partitions",
        )
    return replace(table, partitions=partitions)


def change_table(table: NewTable, types: dict[str, str], primary_key: Sequence[str], widen: bool) -> NewTable:
    """The table with the types and the key that somebody asked for. Raises Problem for what cannot be."""
    known = {column.name for column in table.columns}
    for name in (*types, *primary_key):
        if name not in known:
            raise Problem(f"The new table has no column {name}.", advice=f"It has {', '.join(sorted(known))}.")
    columns = tuple(replace(each, type=check_type(types.get(each.name) or each.type)) for each in table.columns)
    return replace(table, columns=columns, primary_key=tuple(primary_key), widen=widen)


def _markers(values: Sequence[str]) -> list[str]:
    """The words for NULL among the values, if the others are numbers or dates; in a text column there are none."""
    words = [word for word in NULL_WORDS if word in values]
    others = Seen()
    others.take(values, frozenset(words))
    return words if others.kind not in ("", "text") else []


def _names(header: Sequence[str]) -> list[str]:
    """Names that a table can have: not empty, not too long, and none twice (case does not tell names apart)."""
    names: list[str] = []
    taken: set[str] = set()
    for number, text in enumerate(header, start=1):
        base = " ".join(text.replace("\0", "").split())[:LONGEST_NAME].strip() or f"column_{number}"
        name, count = base, 1
        while name.lower() in taken:
            count += 1
            name = f"{base[: LONGEST_NAME - 5]}_{count}"
        taken.add(name.lower())
        names.append(name)
    return names


def _narrow_enough(columns: list[NewColumn]) -> tuple[NewColumn, ...]:
    """With the longest VARCHARs as TEXT, if a row could be too large else."""

    def size(column: NewColumn) -> int:
        return 4 * int(column.type[8:-1]) if column.type.startswith("varchar(") else 0

    while sum(size(each) for each in columns) > LARGEST_ROW:
        largest = max(range(len(columns)), key=lambda number: size(columns[number]))
        columns[largest] = replace(columns[largest], type="text")
    return tuple(columns)


@dataclass(frozen=True)
class Surveyed:
    """What the whole file has in one field, and the line and value that made the type as wide as it is."""

    seen: Seen
    line: int = 0
    value: str = ""


def survey(
    fd: Readable,
    dialect: Dialect,
    start: int,
    first_line: int,
    end: int,
    mapping: Sequence[ColumnMapping],
    on_block: Callable[[], None] = lambda: None,
) -> list[Surveyed]:
    """What the whole file holds, field by field, in one pass.

    Records with another number of fields are passed over: the load names them. Raises as blocks() does.
    """
    seen = [Seen() for _ in mapping]
    markers = [frozenset(each.null_markers) for each in mapping]
    witness = [(0, "")] * len(mapping)
    for block in blocks(fd, dialect, start, first_line, end):
        on_block()
        data = block.data[: block.size] if block.data else read_exactly(fd, block.size, block.offset)
        rows = [row for row in _rows(data, dialect) if len(row) == len(mapping)]
        for number, values in enumerate(zip(*rows, strict=True)):
            before = seen[number].type
            seen[number].take(values, markers[number])
            if seen[number].type != before:
                witness[number] = _witness(data, block, dialect, number, before, markers[number])
    return [Surveyed(each, *found) for each, found in zip(seen, witness, strict=True)]


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


def _witness(
    data: bytes, block: Block, dialect: Dialect, number: int, type_: str, markers: frozenset[str]
) -> tuple[int, str]:
    """The first record of the block whose value does not fit the type that the column had: its line and the value."""
    for record in records(data, dialect, line=block.first_line):
        values = fields(data[record.start : record.end], dialect)
        if number < len(values):
            value = values[number].decode(errors="replace")
            alone = Seen()
            alone.take([value], markers)
            if not alone.fits(type_):
                return record.line, value
    return block.first_line, ""


def settle(table: NewTable, found: Sequence[Surveyed], mapping: Sequence[ColumnMapping]) -> NewTable:
    """The table with types that the whole file fits. Raises Problem, with the line, if one must not be widened."""
    # What is read in a way of its own, as somebody asked, is left to the load to judge.
    by_column = {
        each.column: surveyed
        for each, surveyed in zip(mapping, found, strict=True)
        if not (each.datetime_format or each.transforms)
    }
    columns = []
    for column in table.columns:
        found_here = by_column.get(column.name)
        if found_here is None or found_here.seen.fits(column.type):
            columns.append(column)
            continue
        wanted = found_here.seen.type
        if not table.widen:
            raise Problem(
                f"{found_here.value!r} does not fit {column.name} {column.type}; the whole file needs {wanted}.",
                where=f"line {found_here.line:,}, column {column.name}",
                advice=f"Make the column {wanted}, let types be widened, or correct the file.",
            )
        columns.append(replace(column, type=wanted))
    return replace(table, columns=_narrow_enough(columns))


def changes(
    before: NewTable, after: NewTable, found: Sequence[Surveyed], mapping: Sequence[ColumnMapping]
) -> Iterator[tuple[str, str]]:
    """What was widened, and which line asked for it."""
    witnesses = {each.column: surveyed for each, surveyed in zip(mapping, found, strict=True)}
    for old, new in zip(before.columns, after.columns, strict=True):
        if old != new:
            witness = witnesses[new.name]
            yield f"{new.name} is {new.type}, not {old.type}", f"line {witness.line:,} has {witness.value[:60]!r}"
