"""LOAD DATA LOCAL INFILE: the server parses the bytes as they are in the file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from importer.engine.connection import FEED_NAME, Feed, LoaderConnection, execute
from importer.engine.dialect import Dialect
from importer.engine.expressions import expression, is_plain
from importer.engine.mapping import ColumnMapping, Filling
from importer.engine.methods import Report
from importer.engine.numbering import NUMBERS
from importer.engine.sql import quote_name, quote_text
from importer.engine.table import Column, Table

# What a traced statement writes into its warnings for each row, before the row's number (from 1).
TRACE = "millrace row "
RESET_TRACE = "SET @traced = 0"
_LEADING = f"LOAD DATA LOCAL INFILE {quote_text(FEED_NAME)} "


# User variables: the numbers are fields before each record, the others are set before the load.
VARIABLES = {name: f"@millrace_{name}" for name in ("row", "line", "file", "time")}


def statement(
    table: Table,
    dialect: Dialect,
    mapping: Sequence[ColumnMapping],
    fillings: Sequence[Filling] = (),
    *,
    keep_null_word: bool = False,
    traced: bool = False,
    also: Sequence[str] = (),
) -> str:
    """The statement for every chunk of a job; each field of the file, mapped or not, is read into something.

    Where a filling needs the number of the record or its line, the feed puts them before each record: see numbers().

    With an enclosing quote and no escape, the server makes SQL's NULL of the unquoted word NULL (manual, LOAD DATA:
    "the word NULL"), and of nothing else. `keep_null_word` turns it back into the text that stands in the file.

    `traced` gives each row a warning with its number, ahead of the server's own warnings about storing that row: so
    a duplicate key or a foreign key, which the server reports without a row, can be told from one another
    (facts.md, LOAD DATA LOCAL). Run RESET_TRACE before it. The values that arrive are the same.

    `also` are assignments to columns that no field goes into.
    """
    readings = [_reading(position, each, table, keep_null_word) for position, each in enumerate(mapping)]
    if traced:
        readings = _with_trace(readings)
    if fillings or also or any(each.indirect for each in readings):
        readings = [
            replace(each, numbering=each.column is not None and each.column.auto_increment) for each in readings
        ]
    assignments = [each.assignment for each in readings if each.indirect]
    assignments += [f"{quote_name(each.column)} = {_filled(each)}" for each in fillings]
    assignments += also
    # What the server takes for a field after a trailing delimiter is empty (blocks.py sees to that).
    trailing = ["@skipped"] if dialect.sent.trailing_delimiter else []
    leading = [VARIABLES[each] for each in numbers(fillings)]
    targets = ", ".join([*leading, *(each.target for each in readings), *trailing])
    return (
        f"{_LEADING}INTO TABLE {quote_name(table.schema)}.{quote_name(table.name)}\n"
        f"CHARACTER SET utf8mb4\n{dialect.fields_and_lines(quote_text)}\n({targets})"
        + ("\nSET " + ",\n    ".join(assignments) if assignments else "")
    )


def replacing(statement: str) -> str:
    """The same statement with REPLACE: a row takes the place of those with its keys, and a bad row ends it."""
    return f"{_LEADING}REPLACE {statement.removeprefix(_LEADING)}"


def numbers(fillings: Sequence[Filling]) -> tuple[str, ...]:
    """What stands before each record of the feed: numbering.NUMBERS, as far as a filling needs them."""
    needed = {each.source for each in fillings}
    return tuple(name for name in NUMBERS if name in needed)


def set_variables(connection: LoaderConnection, file: str, time: str) -> None:
    """Tell the session the file's name and the time (UTC, as `2024-01-31 12:00:00`) that a statement may use."""
    execute(connection, f"SET {VARIABLES['file']} = %s, {VARIABLES['time']} = %s", (file, time))


def _filled(filling: Filling) -> str:
    if filling.source == "text":
        return quote_text(filling.text)
    variable = VARIABLES[filling.source]
    return f"CAST({variable} AS UNSIGNED)" if filling.source in NUMBERS else variable


def load(connection: LoaderConnection, statement: str, feed: Feed) -> Report:
    """Run the statement on the bytes of `feed`. Raises what the feed raised, or the server's own error."""
    connection.feed, connection.feed_error = feed, None
    try:
        execute(connection, statement)
    finally:
        connection.feed = None
        if connection.feed_error:
            raise connection.feed_error
    return Report.from_info(connection.info())


@dataclass(frozen=True)
class _Reading:
    """How one field gets from the file into its column; `column` is None where it is left out.

    `numbering`: it goes into an AUTO_INCREMENT column, in a statement with SET. There the server forgets that the file
    gave a number, and makes a new one of 0 (facts.md, LOAD DATA LOCAL), unless SET gives it.
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
    def target(self) -> str:
        if self.column is None:
            return "@skipped"
        return self.variable if self.indirect else quote_name(self.column.name)

    @property
    def variable(self) -> str:
        return f"@field{self.position + 1}"

    @property
    def assignment(self) -> str:
        assert self.column
        text = f"IFNULL({self.variable}, 'NULL')" if self.keep_null_word else self.variable
        value = expression(text, self.mapping, self.column)
        if self.traced:
            trace = f"CAST(CONCAT({quote_text(TRACE)}, @traced := @traced + 1) AS SIGNED)"
            value = f"IF({trace} IS NULL, NULL, {value})"
        return f"{quote_name(self.column.name)} = {value}"


def _reading(position: int, mapping: ColumnMapping, table: Table, keep_null_word: bool) -> _Reading:
    return _Reading(position, mapping, table.column(mapping.column) if mapping.column else None, keep_null_word)


def _with_trace(readings: list[_Reading]) -> list[_Reading]:
    """The trace goes into the first assignment, ahead of the warnings of every other expression."""
    first = next((each for each in readings if each.indirect), None) or next(each for each in readings if each.column)
    return [replace(each, traced=True) if each is first else each for each in readings]
