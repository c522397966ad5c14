"""Recognizes usual values of columns with a date format or a number transform, without reading each of them."""

import re
from dataclasses import replace

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.date_formats import PARTS, format_pattern
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column
from importer.engine.schema.type_inference import ANY_NUMBER, precision_of, scale_of

# Days that every month has.
_USUAL_DAY = "(?:0?[1-9]|1[0-9]|2[0-8])"
_CLOCK = ("%H", "%k", "%h", "%l", "%i", "%s", "%f", "%p")
# Digits that every integer type of that many bytes has.
_WHOLE_DIGITS = {1: 2, 2: 4, 3: 6, 4: 9, 8: 18}


def usual_values(mapping: ColumnMapping, column: Column) -> re.Pattern[str] | None:
    """A pattern of values that the column certainly stores as the mapping reads them; None if it has none.

    It matches only values that typed_values.reader() reads, and that the column's type fits.
    """
    if mapping.datetime_format:
        return None if mapping.transforms else _usual_dates(mapping.datetime_format, column)
    if len(mapping.transforms) == 1 and column.column_type.family in (Family.INTEGER, Family.DECIMAL):
        return _usual_numbers(mapping.transforms[0], column)
    return None


def _usual_dates(datetime_format: str, column: Column) -> re.Pattern[str] | None:
    parts = set(re.findall("%.", datetime_format))
    has_year, has_clock = "%Y" in parts, bool(parts & set(_CLOCK))
    if "%f" in parts or not has_year or (has_clock and column.column_type.family is not Family.MOMENT):
        return None
    pattern = format_pattern(datetime_format)
    for day in ("%d", "%e"):
        pattern = pattern.replace(PARTS[day], _USUAL_DAY)
    # The year 0000 is no date.
    return re.compile(pattern.replace(PARTS["%Y"], "[1-9][0-9]{3}"))


def _usual_numbers(name: str, column: Column) -> re.Pattern[str] | None:
    transform = TRANSFORMS[name]
    if transform.in_python is None or transform.takes is None:
        return None
    mark = "," if transform.in_python("1,5") == "1.5" else "."
    scale = scale_of(column.type)
    whole = _WHOLE_DIGITS.get(column.column_type.size, 0) or precision_of(column.type) - scale
    if whole < 1:
        return None
    decimals = f"(?:[{mark}][0-9]{{1,{scale}}})?" if scale else ""
    grouped = f"|[1-9][0-9]{{0,2}}(?:[^0-9{mark}][0-9]{{3}}){{1,{(whole - 3) // 3}}}" if whole >= 6 else ""
    sign = "" if column.type.endswith("unsigned") else "-?"
    # No leading zeros, which codes have.
    shape = f"{sign}(?:0|[1-9][0-9]{{0,{whole - 1}}}{grouped}){decimals}"
    return re.compile(f"(?={shape}$){transform.takes(replace(column, type=ANY_NUMBER))}")
