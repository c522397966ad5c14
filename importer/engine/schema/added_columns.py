"""Columns that an import adds to a table that exists, before its first chunk. They stay, however the import ends."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.column_types import column_type
from importer.engine.schema.new_table import CHARSET, NewColumn, as_column, check_name
from importer.engine.schema.table import Table, read_table
from importer.engine.schema.type_inference import check_type

# Seconds that ALTER TABLE waits for a lock. All other sessions wait behind it, so it gives up and is tried again.
LOCK_WAIT = 5
# MariaDB reports a display width that no statement named: int(11), year(4).
_WIDTH = re.compile(r"^(\w*int|year)\(\d+\)")


def as_requested(types: Iterable[tuple[str, str]]) -> tuple[NewColumn, ...]:
    """The columns with these names and types. Raises Problem for a type that a new column cannot have."""
    return tuple(NewColumn(name, check_type(type_)) for name, type_ in types)


def with_added(table: Table, columns: Sequence[NewColumn]) -> Table:
    """The table as it is once it has these columns. Raises Problem for a name that no server takes or that it has."""
    present = {each.lower() for each in table.column_names}
    for each in columns:
        check_name(each.name)
        if each.name.lower() in present:
            raise TargetProblem(
                f"The table {table.name} has a column {each.name} already.", advice="Choose it for the field."
            )
        present.add(each.name.lower())
    return replace(table, columns=(*table.columns, *map(as_column, columns)))


def missing_from(table: Table, columns: Sequence[NewColumn]) -> tuple[NewColumn, ...]:
    """Those of the columns that the table does not have."""
    present = {each.lower() for each in table.column_names}
    return tuple(each for each in columns if each.name.lower() not in present)


def add_statement(schema: str, table: str, columns: Sequence[NewColumn]) -> str:
    """ALTER TABLE that adds the columns at the end. They take NULL, which rows that are there already get."""
    added = ", ".join(f"ADD COLUMN {quote_name(each.name)} {each.type}{_charset(each)} NULL" for each in columns)
    return f"ALTER TABLE {quote_table(schema, table)} {added}"


def _charset(column: NewColumn) -> str:
    """The character set of a text, which may not be the table's: that of a new table."""
    return f" CHARACTER SET {CHARSET}" if column_type(column.type).has_charset else ""


def add_missing(connection: Connection, schema: str, name: str, columns: Sequence[NewColumn], digest: str) -> str:
    """Add those of the columns that the table does not have, and return its Table.digest with all of them.

    `digest`: that of the table without the columns, or with them if an earlier try has added and recorded them. Raises
    TargetProblem if the table has changed otherwise, or has a column of that name with another type, and the server's
    errors.
    """
    table = read_table(connection, schema, name)
    missing = missing_from(table, columns)
    if table.digest == digest and not missing:
        return digest
    added = {each.name.lower(): each for each in columns}
    others = tuple(each for each in table.columns if each.name.lower() not in added)
    other = next((each for each in table.columns if _differs(each.type, added.get(each.name.lower()))), None)
    if replace(table, columns=others).digest != digest or other:
        raise TargetProblem(
            f"The table {schema}.{name} has changed since the import was planned.",
            advice="Retry: the import is then planned for the table as it is now.",
        )
    if missing:
        execute(connection, f"SET SESSION lock_wait_timeout = {LOCK_WAIT}")
        execute(connection, add_statement(schema, name, missing))
    return read_table(connection, schema, name).digest


def _differs(type_: str, wanted: NewColumn | None) -> bool:
    """Whether a column that was to be added is there with another type. `type_` is as the server reports it."""
    return wanted is not None and _WIDTH.sub(r"\1", type_) != _WIDTH.sub(r"\1", wanted.type).replace(", ", ",")
