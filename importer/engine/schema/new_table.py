"""A new table for a file: suggests its columns from the sample and renders CREATE TABLE.

validation/type_widening.py checks its types against the whole file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from importer.engine.errors import Problem
from importer.engine.mysql.quoting import quote_name
from importer.engine.schema.column_types import Family, column_type
from importer.engine.schema.table import Column, Key, Table
from importer.engine.schema.type_inference import TypeTracker, check_type
from importer.engine.schema.value_kinds import NULL_WORDS
from importer.engine.source.profile.profile import Profile

LONGEST_NAME = 64
# Bytes of a row without its TEXT columns; the server allows 65,535 (manual, Limits on Table Column Count and Row Size).
LARGEST_ROW = 60_000


@dataclass(frozen=True)
class NewColumn:
    """A column of a new table; `type` has passed type_inference.check_type()."""

    name: str
    type: str


@dataclass(frozen=True)
class NewTable:
    """A table to be created. `widen`: a type that is too narrow for the whole file is widened, instead of an error.

    `partitions`: the number of partitions by hash of the primary key, None for a table without partitions.
    """

    schema: str
    name: str
    columns: tuple[NewColumn, ...]
    primary_key: tuple[str, ...] = ()
    widen: bool = True
    partitions: int | None = None

    def statement(self, name: str) -> str:
        """The CREATE TABLE statement with this name instead of the table's own."""
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
        """The table as the server will describe it, as far as a plan needs that."""
        columns = tuple(
            Column(each.name, each.type, each.name not in self.primary_key, None, False, False) for each in self.columns
        )
        columns = tuple(replace(each, charset="utf8mb4") if each.column_type.has_charset else each for each in columns)
        keys = (Key("PRIMARY", self.primary_key, True),) if self.primary_key else ()
        return Table(self.schema, self.name, "InnoDB", columns, keys)


def partitioning(primary_key: Sequence[str], types: Sequence[str], partitions: int) -> str:
    """The PARTITION BY clause: HASH for a single integer column, otherwise KEY, the server's own hash.

    `types` are the types of the key's columns. Every unique key must contain the partitioning columns (manual,
    Partitioning Keys and Unique Keys).
    """
    columns = ", ".join(quote_name(name) for name in primary_key)
    whole = len(types) == 1 and column_type(types[0]).family is Family.INTEGER
    return f"PARTITION BY {'HASH' if whole else 'KEY'} ({columns}) PARTITIONS {partitions}"


def suggest_table(schema: str, name: str, profile: Profile) -> NewTable:
    """Suggest a table for the sample of a file: names from its header, types from its values.

    The types may be too narrow for the rest of the file.
    """
    trackers = [TypeTracker() for _ in profile.header]
    for number, tracker in enumerate(trackers):
        values = list(profile.values_of(number))
        tracker.take(values, frozenset(_markers(values)))
    types = [tracker.type for tracker in trackers]
    columns = [NewColumn(*pair) for pair in zip(_names(profile.header), types, strict=True)]
    return NewTable(schema, name, fit_row_size(columns))


def partition_table(table: NewTable, partitions: int) -> NewTable:
    """The table with this number of partitions. Raises Problem if it has no primary key."""
    if not table.primary_key:
        raise Problem(
            "A table without a primary key cannot be partitioned by hash of it.",
            advice="Choose the columns of the primary key, or leave the partitions out.",
            option="partitions",
        )
    return replace(table, partitions=partitions)


def change_table(table: NewTable, types: dict[str, str], primary_key: Sequence[str], widen: bool) -> NewTable:
    """The table with the requested types and primary key. Raises Problem for an unknown column or type."""
    known = {column.name for column in table.columns}
    for name in (*types, *primary_key):
        if name not in known:
            raise Problem(f"The new table has no column {name}.", advice=f"It has {', '.join(sorted(known))}.")
    columns = tuple(replace(each, type=check_type(types.get(each.name) or each.type)) for each in table.columns)
    return replace(table, columns=columns, primary_key=tuple(primary_key), widen=widen)


def _markers(values: Sequence[str]) -> list[str]:
    """The NULL words among the values if the other values are numbers or dates; none in a text column."""
    words = [word for word in NULL_WORDS if word in values]
    others = TypeTracker()
    others.take(values, frozenset(words))
    return words if others.kind not in ("", "text") else []


def _names(header: Sequence[str]) -> list[str]:
    """Valid column names: not empty, not too long, and unique (names are case-insensitive)."""
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


def fit_row_size(columns: list[NewColumn]) -> tuple[NewColumn, ...]:
    """The columns with the longest VARCHARs changed to TEXT, until a row has at most LARGEST_ROW bytes."""

    def size(column: NewColumn) -> int:
        return 4 * int(column.type[8:-1]) if column.type.startswith("varchar(") else 0

    while sum(size(each) for each in columns) > LARGEST_ROW:
        largest = max(range(len(columns)), key=lambda number: size(columns[number]))
        columns[largest] = replace(columns[largest], type="text")
    return tuple(columns)
