"""The columns of a new table that no field fills: the file's name, row and line numbers, a constant, the time."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from importer.engine.errors import Problem
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.schema.column_names import folded
from importer.engine.schema.new_table import NewColumn, NewTable, check_name
from importer.engine.schema.table import Table

# The longest name of a file that is kept has 255 characters.
TYPES = {
    "text": "varchar(255)",
    "file": "varchar(255)",
    "row": "bigint unsigned",
    "line": "bigint unsigned",
    "time": "datetime",
}
LONG_TEXT, LONGEST_SHORT = "text", 255


def add_filled_columns(table: NewTable, fillings: Sequence[GeneratedColumn]) -> NewTable:
    """The table with a column at its end for each of the fillings.

    Raises Problem for a name that no server takes, or that a field's column has.
    """
    taken = {folded(each.name) for each in table.columns}
    added: list[NewColumn] = []
    for each in fillings:
        check_name(each.column)
        if folded(each.column) in taken:
            raise Problem(
                f"The new table has two columns named {each.column}: one is for a field of the file.",
                advice="Give the generated one another name, or leave the field out.",
            )
        taken.add(folded(each.column))
        added.append(NewColumn(each.column, _type_of(each)))
    return replace(table, columns=(*table.columns, *added))


def _type_of(filling: GeneratedColumn) -> str:
    return LONG_TEXT if len(filling.text) > LONGEST_SHORT else TYPES.get(filling.source, LONG_TEXT)


def for_fields(table: Table, fillings: Collection[GeneratedColumn]) -> Table:
    """The table as far as fields fill it."""
    filled = {folded(each.column) for each in fillings}
    return replace(table, columns=tuple(each for each in table.columns if folded(each.name) not in filled))
