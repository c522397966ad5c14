"""Declares what is read back after a load and compared with the file, value by value (option `verify` "full").

The comparison runs before COMMIT, in the transaction that loaded the chunk: a chunk with a difference is rolled back.
Rows are found again by a key whose columns take their fields unchanged. load/readback/ does the work: it compares
digests where it can, and reads back the other values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.expressions import expression
from importer.engine.schema.table import Column, Key, Table


@dataclass(frozen=True)
class ComparedColumn:
    """A column that is compared, and the field (from 0) that goes into it.

    `expression` is SQL that computes its value from the field's text, `said.f<field>`; "" if the text is stored
    unchanged, or as NULL if it is one of `null_markers`.
    """

    column: Column
    field: int
    null_markers: tuple[str, ...]
    expression: str

    @cached_property
    def null_bytes(self) -> frozenset[bytes]:
        return frozenset(marker.encode() for marker in self.null_markers)


@dataclass(frozen=True)
class Readback:
    """The columns that are read back from a table. `key` finds the rows; `rounding` permits lost digits.

    Where no key does, `key` is empty, and the AUTO_INCREMENT column `numbered_by` numbers the rows of a transaction.
    `readings` are the columns, under the name that stored plans have for them.
    """

    schema: str
    table: str
    readings: tuple[ComparedColumn, ...]
    key: tuple[str, ...]
    rounding: bool
    numbered_by: str = ""

    @classmethod
    def of(cls, table: Table, mapping: Sequence[ColumnMapping], rounding: str) -> "Readback":
        """Reads back every column that takes a field. Raises Problem if no key finds the rows again."""
        readings = _compared_columns(table, mapping)
        as_they_are = [each.column.name for each in readings if not (each.expression or each.null_markers)]
        key = key_for(table, as_they_are)
        return cls(table.schema, table.name, readings, key.columns, rounding == "notice")

    @classmethod
    def by_key(cls, table: Table, mapping: Sequence[ColumnMapping], key: Sequence[str]) -> "Readback":
        """Reads back every column that takes a field, in the rows that these columns of a unique key find."""
        return cls(table.schema, table.name, _compared_columns(table, mapping), tuple(key), rounding=False)

    @classmethod
    def by_number(
        cls, table: Table, mapping: Sequence[ColumnMapping], rounding: str, filled: Iterable[str]
    ) -> "Readback | None":
        """Reads back the rows by the number that an AUTO_INCREMENT column gives them.

        None without such a column, or if it is among the columns that are `filled`.
        """
        given = {name.lower() for name in filled}
        numbers = [each.name for each in table.columns if each.auto_increment and each.name.lower() not in given]
        if not numbers:
            return None
        readings = _compared_columns(table, mapping)
        return cls(table.schema, table.name, readings, (), rounding == "notice", numbers[0])

    @cached_property
    def key_positions(self) -> tuple[int, ...]:
        names = [each.column.name.lower() for each in self.readings]
        return tuple(names.index(name.lower()) for name in self.key)

    @cached_property
    def key_columns(self) -> tuple[tuple[int, Column], ...]:
        """The position of each column of the key among `readings`, and the column."""
        return tuple((at, self.readings[at].column) for at in self.key_positions)


def _compared_columns(table: Table, mapping: Sequence[ColumnMapping]) -> tuple[ComparedColumn, ...]:
    return tuple(
        _compared_column(number, each, table.column(each.column)) for number, each in enumerate(mapping) if each.column
    )


def _compared_column(number: int, mapping: ColumnMapping, column: Column) -> ComparedColumn:
    converted = mapping.transforms or mapping.datetime_format or mapping.values or mapping.lookup
    sql = expression(f"said.f{number}", mapping, column) if converted else ""
    return ComparedColumn(column, number, () if sql else mapping.null_markers, sql)


def key_for(table: Table, as_they_are: Iterable[str]) -> Key:
    """A unique key that finds each row again; `as_they_are` are the columns that take a field unchanged.

    Raises Problem if there is none: rows of the file could not be distinguished from older rows.
    """
    given = {name.lower() for name in as_they_are}
    known = {column.name.lower(): column for column in table.columns}
    for key in sorted(table.keys, key=lambda key: key.name != "PRIMARY"):
        columns = [known.get(name.lower()) for name in key.columns]
        if key.unique and all(column and _finds(column) and column.name.lower() in given for column in columns):
            return key
    raise Problem(
        f"Rows of {table.schema}.{table.name} cannot be found again to compare them with the file: no primary or unique"
        " key takes all its columns from the file as they are, and no AUTO_INCREMENT column numbers them.",
        advice="Verify by counts, or give the table such a key.",
    )


def _finds(column: Column) -> bool:
    return column.column_type.finds_row and not column.nullable
