"""The values of a field as a column of numbers or dates reads them: in the notation of SQL, or not at all."""

from collections.abc import Callable
from dataclasses import replace

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.date_formats import matches, stored_text
from importer.engine.mapping.transforms import TRANSFORMS, number_reader
from importer.engine.schema.table import Column
from importer.engine.schema.type_inference import ANY_NUMBER, is_of_kind
from importer.engine.schema.value_kinds import is_number, plain_number

# Gives a value in the notation of SQL, such as 1234.5 or 2024-12-31; None if the mapping does not read it.
Reader = Callable[[str], str | None]
# A column keeps its type with at most this share of values that are not of the type, and always with one of them.
MOST_BAD = 0.05


def is_few(bad: int, total: int) -> bool:
    """Whether so few of the values do not belong to a column that its type is certain: at most one, or 5 %.

    At least four in five must belong to it.
    """
    return bad <= max(1, int(MOST_BAD * total)) and 5 * bad <= total


def takes_bad_values(column: Column) -> bool:
    """Whether a text can be no value of the column's type at all, as n/k is no number and no date."""
    return column.column_type.is_number or column.column_type.has_date


def is_value_of(column: Column, text: str | None) -> bool:
    """Whether what a Reader gives is a number for a column of numbers, and a date for one of dates."""
    if text is None:
        return False
    if column.column_type.is_number:
        return is_number(text, fraction=True)
    return not column.column_type.has_date or is_of_kind("datetime", text)


def reader(mapping: ColumnMapping, column: Column, *, stated: bool = False) -> Reader | None:
    """How the mapping reads the values of the column, without NULL. None if Python cannot read them so.

    `stated`: the type of the column was chosen, so that 007 and 12e5 are numbers in another notation.
    """
    if any(TRANSFORMS[name].in_python is None for name in mapping.transforms):
        return None
    as_number = stated and column.column_type.is_number
    if column.column_type.is_number:
        column = replace(column, type=ANY_NUMBER)
    normalized = number_reader(mapping.transforms, column)

    def read(text: str) -> str | None:
        read_text = normalized(text)
        if read_text is None:
            return None
        if mapping.datetime_format:
            return (
                stored_text(mapping.datetime_format, read_text) if matches(mapping.datetime_format, read_text) else None
            )
        return plain_number(read_text) if as_number else read_text

    return read
