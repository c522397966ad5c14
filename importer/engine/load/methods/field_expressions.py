"""Renders the SQL that puts each field of a record into its column, for all methods."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from importer.engine.feed.row_numbers import NUMBERS
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mapping.expressions import expression, is_plain
from importer.engine.mysql.connection import UTC, LoaderConnection, execute
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.schema.table import Column, Table

# The text in the warning of a traced statement about each row, before the row's number (from 1).
TRACE = "millrace row "
RESET_TRACE = "SET @traced = 0"

# User variables: the numbers come from fields before each record, the others are set before the load.
VARIABLES = {name: f"@millrace_{name}" for name in ("row", "line", "file", "time")}


def numbers(fillings: Sequence[GeneratedColumn]) -> tuple[str, ...]:
    """The numbers that the generated columns need before each record: some of row_numbers.NUMBERS."""
    needed = {each.source for each in fillings}
    return tuple(name for name in NUMBERS if name in needed)


def set_variables(connection: LoaderConnection, file: str, time: str) -> None:
    """Set the session's variables for the file's name and the time (UTC, as `2024-01-31 12:00:00`)."""
    execute(connection, f"SET {VARIABLES['file']} = %s, {VARIABLES['time']} = %s", (file, time))


def field_variable(position: int) -> str:
    """The user variable with the text of the field at this position (from 0)."""
    return f"@field{position + 1}"


def filled(filling: GeneratedColumn, column: Column) -> str:
    """SQL for the value of a generated column. The job's start is in UTC, a TIMESTAMP in the session's time zone."""
    if filling.source == "text":
        return quote_text(filling.text)
    variable = VARIABLES[filling.source]
    if filling.source == "time" and column.column_type.has_epoch:
        return f"CONVERT_TZ({variable}, {quote_text(UTC)}, @@SESSION.time_zone)"
    return f"CAST({variable} AS UNSIGNED)" if filling.source in NUMBERS else variable


@dataclass(frozen=True)
class FieldExpression:
    """The SQL for one field of the file; `column` is None if the field is not loaded.

    `numbering`: the field goes into an AUTO_INCREMENT column, in a LOAD DATA with SET. There the server ignores that
    the file has a number, and replaces 0 by a new one (server-behaviour.md, LOAD DATA LOCAL), unless SET assigns it.
    `assigned`: the statement needs a SET, and this field gives it one.
    """

    position: int
    mapping: ColumnMapping
    column: Column | None
    keep_null_word: bool
    traced: bool = False
    numbering: bool = False
    assigned: bool = False

    @property
    def indirect(self) -> bool:
        """Whether the field is read into a variable and assigned by an expression."""
        if self.column is None:
            return False
        needed = self.keep_null_word or self.traced or self.numbering or self.assigned
        return needed or not is_plain(self.mapping)

    @property
    def variable(self) -> str:
        return field_variable(self.position)

    @property
    def name(self) -> str:
        """The column's name, quoted."""
        assert self.column
        return quote_name(self.column.name)

    @property
    def value(self) -> str:
        """SQL for the column's value."""
        assert self.column
        text = f"IFNULL({self.variable}, 'NULL')" if self.keep_null_word else self.variable
        value = expression(text, self.mapping, self.column)
        if self.traced:
            trace = f"CAST(CONCAT({quote_text(TRACE)}, @traced := @traced + 1) AS SIGNED)"
            value = f"IF({trace} IS NULL, NULL, {value})"
        return value


def field_expressions(mapping: Sequence[ColumnMapping], table: Table, *, keep_null_word: bool) -> list[FieldExpression]:
    """One expression for each field, in the file's order."""
    return [
        FieldExpression(position, each, table.column(each.column) if each.column else None, keep_null_word)
        for position, each in enumerate(mapping)
    ]


def with_assignment(fields: list[FieldExpression]) -> list[FieldExpression]:
    """The fields, of which at least one is assigned by SET."""
    if any(each.indirect for each in fields):
        return fields
    first = next(each for each in fields if each.column)
    return [replace(each, assigned=True) if each is first else each for each in fields]


def with_trace(fields: list[FieldExpression]) -> list[FieldExpression]:
    """The fields with the trace in the first expression, so that it comes before the warnings of all others."""
    first = next((each for each in fields if each.indirect), None) or next(each for each in fields if each.column)
    return [replace(each, traced=True) if each is first else each for each in fields]
