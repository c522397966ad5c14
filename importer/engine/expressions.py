"""SQL for the value of a column, from SQL for the text of a field.

A text that cannot become a value becomes one that no column of that kind can hold, so that the server warns and gives
the row's number: a value arrives exactly, or its row is bad. Functions alone would do neither: STR_TO_DATE() ignores
what follows the date, its own warnings have no row number (facts.md), and UNHEX() and others answer NULL.
"""

import re

from importer.engine import dates
from importer.engine.mapping import ColumnMapping
from importer.engine.sql import quote_text
from importer.engine.table import Column
from importer.engine.transforms import INTEGERS, TRANSFORMS
from importer.engine.values import DATE_KINDS, TIME_KINDS

LISTS = ("enum", "set")
# Bytes that fit into these, so that one more does not.
BLOBS = {"tinyblob": 255, "blob": 65535, "mediumblob": 16777215}
# What a column keeps as it is, of numbers that SQL would read with a point or an exponent.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
UNCHANGED = {
    **dict.fromkeys(INTEGERS, r"[+-]?[0-9]+(?:\.0*)?"),
    **dict.fromkeys(("float", "double"), rf"{_NUMBER}(?:[eE][+-]?[0-9]{{1,3}})?"),
    "decimal": _NUMBER,
    "year": "[0-9]{4}",
}
# Longer texts are no numbers, dates or lists, and make a server run out of stack on a pattern that repeats a group.
LONGEST = 20_000


def is_plain(mapping: ColumnMapping) -> bool:
    """Whether the field's text goes into the column as it is."""
    return not (mapping.null_markers or mapping.datetime_format or mapping.transforms)


def expression(text: str, mapping: ColumnMapping, column: Column) -> str:
    """SQL for the value, `text` being SQL for the field's text. NULL stays NULL.

    A text equal to a NULL marker, byte for byte and after cleaning, becomes NULL.
    """
    for name, each in TRANSFORMS.items():
        if each.cleans and name in mapping.transforms:
            text = each.expression(text, column)
    value = _value(text, mapping, column)
    if not mapping.null_markers:
        return value
    # Compared as bytes: as text, "na" and "NA " would equal "NA" in most collations, on MariaDB even beside a _binary
    # literal, because the variable's collation wins (facts.md).
    markers = ", ".join(f"_binary{quote_text(marker)}" for marker in mapping.null_markers)
    return f"IF(CAST({text} AS BINARY) IN ({markers}), NULL, {value})"


def _value(text: str, mapping: ColumnMapping, column: Column) -> str:
    if mapping.datetime_format:
        return _date(text, mapping.datetime_format, column)
    reading = next((TRANSFORMS[name] for name in mapping.transforms if not TRANSFORMS[name].cleans), None)
    if reading is None:
        return _checked(text, column) if mapping.transforms else text
    value = reading.expression(text, column)
    if reading.takes is None:
        return _checked(value, column)
    taken = _matches(text, reading.takes(column), any_length=reading.any_length)
    return _where(text, taken, value, reading.label.lower(), column)


def _date(text: str, datetime_format: str, column: Column) -> str:
    pattern = dates.pattern(datetime_format, dates.fraction_digits(column))
    value = f"STR_TO_DATE({text}, {quote_text(datetime_format)})"
    return _where(text, _matches(text, pattern), value, datetime_format, column)


def _checked(text: str, column: Column) -> str:
    """A text that was cleaned, where the column would change it silently; exactness.py looks at texts as they are."""
    if column.kind in UNCHANGED:
        return _where(text, _matches(text, UNCHANGED[column.kind]), text, f"a plain {column.kind}", column)
    if column.kind in DATE_KINDS | TIME_KINDS:
        return _where(text, _matches(text, dates.native(column)), text, f"a plain {column.kind}", column)
    if column.kind == "bit":
        number = TRANSFORMS["number"]
        assert number.takes
        return _where(text, _matches(text, number.takes(column)), number.expression(text, column), "a number", column)
    if column.kind == "char":
        return _where(text, f"{text} NOT LIKE '% '", text, "without spaces behind", column)
    return _listed(text, column)


def _listed(text: str, column: Column) -> str:
    """The text where it is in the column's list: the server would also take a number, as a place in the list.

    Letters may differ in case; the server itself refuses that where the column's collation does.
    """
    if column.kind not in LISTS:
        return text
    if column.kind == "enum":
        lowered = ", ".join(f"CAST(LOWER({quote_text(member)}) AS BINARY)" for member in column.members)
        return _where(text, f"CAST(LOWER({text}) AS BINARY) IN ({lowered})", text, "in the list", column)
    one = "|".join(re.escape(member) for member in column.members)
    return _where(text, _matches(text, f"(?:(?:{one})(?:,(?:{one}))*)?"), text, "in the list", column)


def _where(text: str, taken: str, value: str, wanted: str, column: Column) -> str:
    """`value` where the text is `taken` and a value comes of it, else a text that the column refuses."""
    refused = _refused(text, wanted, column)
    return f"CASE WHEN {taken} THEN COALESCE({value}, {refused}) WHEN {text} IS NOT NULL THEN {refused} END"


def _matches(text: str, pattern: str, *, any_length: bool = False) -> str:
    r"""Whether the whole text does; `\z`, as `$` would also match before a line end at the end."""
    regexp = quote_text(rf"^(?:{pattern})\z")
    length = "" if any_length else f"LENGTH({text}) <= {LONGEST} AND "
    return f"({length}{text} REGEXP {regexp})"


def _refused(text: str, wanted: str, column: Column) -> str:
    """SQL for what a column of this kind can only warn of, with the row's number; it says what was wanted."""
    if column.kind == "bit":
        return "REPEAT('?', 9)"
    if column.kind in ("binary", "varbinary"):
        return f"REPEAT('?', {_size(column) + 1})"
    if column.kind in BLOBS:
        return f"REPEAT('?', {BLOBS[column.kind] + 1})"
    if column.kind == "char":
        return f"CONCAT({text}, REPEAT('?', {_size(column) + 1}))"
    words = f"not {wanted}: "
    while any(member.lower().startswith(words.lower()) for member in column.members):
        words = f"({words}"
    return f"CONCAT({quote_text(words)}, {text})"


def _size(column: Column) -> int:
    found = re.search(r"\((\d+)\)", column.type)
    return int(found[1]) if found else 1
