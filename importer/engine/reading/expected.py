"""The columns of a table as the sniffer expects them in a file."""

import re
from collections.abc import Callable
from functools import partial

from importer.engine.mapping import date_formats
from importer.engine.mapping.transforms import BLANKS, LISTED
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, Table
from importer.engine.schema.value_kinds import NULL_WORDS, is_number
from importer.engine.source.profile.expected_columns import ExpectedColumn

_TIME = re.compile(r"-?[0-9]{1,3}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?")


def expected_columns(table: Table) -> tuple[ExpectedColumn, ...]:
    """The columns that a file can fill, in the table's order: all but those that the server computes."""
    return tuple(
        ExpectedColumn(column.name, _fits(column), column.required, column.auto_increment, column.column_type.takes_hex)
        for column in table.fillable_columns
    )


def _fits(column: Column) -> Callable[[str], bool] | None:
    """Whether a text can be a value of the column in one of the known formats; None if it takes every text."""
    if not column.column_type.is_typed:
        return None
    return partial(_is_value, column)


def _is_value(column: Column, text: str) -> bool:
    text = text.strip(BLANKS)
    if text in NULL_WORDS or text == r"\N":
        return True
    type_ = column.column_type
    if type_.has_date:
        return date_formats.is_date(text)
    if type_.family is Family.TIME:
        return _TIME.fullmatch(text) is not None
    if not type_.is_number and type_.family is not Family.YEAR:
        return True
    return is_number(text, fraction=True) or any(
        each.fits(text, column) for each in LISTED if each.in_python and each.takes
    )
