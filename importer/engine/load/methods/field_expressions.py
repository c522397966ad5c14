"""How each field of a record gets into its column: the SQL that all methods have in common."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from importer.engine.feed.row_numbers import NUMBERS
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mapping.expressions import expression, is_plain
from importer.engine.mysql.connection import LoaderConnection, execute
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.schema.table import Column, Table

# What a traced statement writes into its warnings for each row, before the row's number (from 1).
TRACE = "millrace row "
RESET_TRACE = "SET @traced = 0"

# User variables: the numbers are fields before each record, the others are set before the load.
VARIABLES = {name: f"@millrace_{name}" for name in ("row", "line", "file", "time")}


def numbers(fillings: Sequence[GeneratedColumn]) -> tuple[str, ...]:
    """What stands before each record of the feed: numbering.NUMBERS, as far as a filling needs them."""
    needed = {each.source for each in fillings}
    return tuple(name for name in NUMBERS if name in needed)


def set_variables(connection: LoaderConnection, file: str, time: str) -> None:
    """Tell the session the file's name and the time (UTC, as `2024-01-31 12:00:00`) that a statement may use."""
    execute(connection, f"SET {VARIABLES['file']} = %s, {VARIABLES['time']} = %s", (file, time))


def field_variable(position: int) -> str:
    """What stands in a statement for the text of the field at that position, from 0."""
    return f"@field{position + 1}"


def filled(filling: GeneratedColumn) -> str:
    """SQL for the value of a column that no field goes into."""
    if filling.source == "text":
        return quote_text(filling.text)
    variable = VARIABLES[filling.source]
    return f"CAST({variable} AS UNSIGNED)" if filling.source in NUMBERS else variable


@dataclass(frozen=True)
class FieldExpression:
    """How one field gets from the file into its column; `column` is None where it is left out.

    `numbering`: it goes into an AUTO_INCREMENT column, in a LOAD DATA with SET. There the server forgets that the file
    gave a number, and makes a new one of 0 (server-behaviour.md, LOAD DATA LOCAL), unless SET gives it.
    """

    position: int
    mapping: ColumnMapping
    column: Column | None
    keep_null_word: bool
    traced: bool = False
    numbering: bool = False

    @property
    def indirect(self) -> bool:
        """Whether it passes through a variable and an expression."""
        if self.column is None:
            return False
        return self.keep_null_word or self.traced or self.numbering or not is_plain(self.mapping)

    @property
    def variable(self) -> str:
        return field_variable(self.position)

    @property
    def name(self) -> str:
        """The column's name as it stands in a statement."""
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


def readings(mapping: Sequence[ColumnMapping], table: Table, *, keep_null_word: bool) -> list[FieldExpression]:
    """One for each field of the file, in their order."""
    return [
        FieldExpression(position, each, table.column(each.column) if each.column else None, keep_null_word)
        for position, each in enumerate(mapping)
    ]


def with_trace(found: list[FieldExpression]) -> list[FieldExpression]:
    """The trace goes into the first expression, ahead of the warnings of every other one."""
    first = next((each for each in found if each.indirect), None) or next(each for each in found if each.column)
    return [replace(each, traced=True) if each is first else each for each in found]
