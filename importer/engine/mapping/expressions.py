"""Renders SQL for the value of a column from SQL for the text of a field.

A value arrives exactly, or its row is bad: a text that cannot be converted becomes a text that no column of that type
can hold, so that the server warns with the row's number; for MEDIUMBLOB and LONGBLOB the statement fails. SQL functions
alone do not ensure that: STR_TO_DATE() ignores text after the date, its warnings have no row number
(server-behaviour.md), and other functions return NULL.
"""

import re
from dataclasses import dataclass, replace

from importer.engine.mapping import date_formats
from importer.engine.mapping.columns import ColumnMapping, Lookup
from importer.engine.mapping.time_transforms import at_utc
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.schema.column_types import ColumnType, Family
from importer.engine.schema.table import Column

# The numbers that a column of the family stores; validation finds those that lose digits.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
UNCHANGED = {
    Family.INTEGER: r"[+-]?[0-9]+(?:\.0*)?",
    Family.FLOATING: rf"{_NUMBER}(?:[eE][+-]?[0-9]{{1,3}})?",
    Family.DECIMAL: rf"{_NUMBER}(?:[eE][+-]?[0-9]{{1,3}})?",
    Family.YEAR: "[0-9]{4}",
}
# Longer texts, in bytes, are no numbers, dates or lists, and a pattern that repeats a group would exhaust the server's
# stack.
LONGEST = 20_000


def is_plain(mapping: ColumnMapping) -> bool:
    """Whether the field's text goes into the column unchanged."""
    converted = mapping.datetime_format or mapping.transforms or mapping.values or mapping.lookup
    return not (converted or mapping.null_markers)


def without_markers(mapping: ColumnMapping, type_: ColumnType) -> ColumnMapping:
    """The mapping for data in which the scan found no NULL marker of this field, so that none is compared.

    The scan sees each value that is no number or time, and so each marker without a digit; not where a transform or a
    format reads the value, or a value list replaces it, nor in texts. There the markers stay.
    """
    seen = type_.is_number or type_.is_temporal or type_.family is Family.YEAR
    converted = mapping.transforms or mapping.datetime_format or mapping.values or mapping.lookup
    if not seen or converted or any(map(str.isdigit, "".join(mapping.null_markers))):
        return mapping
    return replace(mapping, null_markers=())


def expression(text: str, mapping: ColumnMapping, column: Column, refused: str = "") -> str:
    """Render SQL for the value. `text` is SQL for the field's text; NULL stays NULL.

    A text of the value list is replaced first. One that equals a NULL marker becomes NULL; both byte for byte after
    cleaning. `refused` is SQL for the result of a
    text that cannot be converted; "" for a text of which the column warns.
    """
    for name, each in TRANSFORMS.items():
        if each.cleans and name in mapping.transforms:
            text = each.expression(text, column)
    if mapping.values:
        text = _replaced(text, mapping)
    value = _looked_up(text, mapping.lookup, refused) if mapping.lookup else _Value(text, column, refused).of(mapping)
    if not mapping.null_markers:
        return value
    # Compared as bytes: as text, "na" and "NA " would equal "NA" in most collations. On MariaDB they would even equal a
    # _binary literal, because the variable's collation wins (server-behaviour.md).
    markers = ", ".join(f"_binary{quote_text(marker)}" for marker in mapping.null_markers)
    return f"IF(CAST({text} AS BINARY) IN ({markers}), NULL, {value})"


def _replaced(text: str, mapping: ColumnMapping) -> str:
    """SQL for the text that stands for `text`, which is compared as bytes, as NULL markers are."""
    pairs = (f"WHEN _binary{quote_text(old)} THEN {quote_text(new)}" for old, new in mapping.replacements.items())
    return f"CASE CAST({text} AS BINARY) {' '.join(pairs)} ELSE {text} END"


def _looked_up(text: str, lookup: Lookup, refused: str) -> str:
    """SQL for the number of the row with the text. What is found without one is none, so that the column warns."""
    from importer.engine.mapping.lookups import NONE, SEVERAL, found

    value = found(text, lookup)
    return f"IF({value} IN ('{NONE}', '{SEVERAL}'), {refused}, {value})" if refused else value


@dataclass(frozen=True)
class _Value:
    """The SQL for a cleaned text in a column."""

    text: str
    column: Column
    refused: str

    def of(self, mapping: ColumnMapping) -> str:
        if mapping.datetime_format:
            return self._date(mapping.datetime_format)
        reading = next((TRANSFORMS[name] for name in mapping.transforms if not TRANSFORMS[name].cleans), None)
        if reading is None:
            return self._checked() if mapping.transforms else self.text
        value = reading.expression(self.text, self.column)
        if reading.takes is None:
            return replace(self, text=value)._checked()
        wanted = reading.words
        if reading.returns_null:
            return f"COALESCE({value}, IF({self.text} IS NULL, NULL, {self._refused(wanted)}))"
        return self._where(self._matches(reading.takes(self.column)), value, wanted)

    def _date(self, datetime_format: str) -> str:
        pattern = date_formats.format_pattern(datetime_format)
        text, read = self.text, datetime_format
        if date_formats.MONTH in datetime_format:
            text, read = date_formats.named_month(text, datetime_format)
        value = f"STR_TO_DATE({text}, {quote_text(read)})"
        if datetime_format.endswith(date_formats.OFFSET):
            value = at_utc(self._without_offset(datetime_format.removesuffix(date_formats.OFFSET)), self.column)
        elif datetime_format.endswith("Z"):
            value = at_utc(value, self.column)
        return self._where(self._matches(pattern), value, datetime_format)

    def _without_offset(self, datetime_format: str) -> str:
        """SQL for the moment in UTC of a text in this format with an offset behind it: +02:00, +0200 or Z."""
        text = self.text
        length = f"CASE WHEN RIGHT({text}, 1) = 'Z' THEN 1 WHEN SUBSTR({text}, -3, 1) = ':' THEN 6 ELSE 5 END"
        zone = f"RIGHT({text}, {length})"
        minutes = f"CAST(SUBSTR({zone}, 2, 2) AS SIGNED) * 60 + CAST(RIGHT({text}, 2) AS SIGNED)"
        signed = f"IF(RIGHT({text}, 1) = 'Z', 0, IF(LEFT({zone}, 1) = '-', 1, -1) * ({minutes}))"
        local = f"STR_TO_DATE(LEFT({text}, CHAR_LENGTH({text}) - ({length})), {quote_text(datetime_format)})"
        return f"DATE_ADD({local}, INTERVAL {signed} MINUTE)"

    def _checked(self) -> str:
        """The cleaned text, if it is a value of the column. Validation finds those that are stored with a loss."""
        kind, type_ = self.column.kind, self.column.column_type
        if type_.is_temporal:
            return self._where(self._matches(date_formats.native_pattern(type_.family)), self.text, f"a plain {kind}")
        if type_.family in UNCHANGED:
            return self._where(self._matches(UNCHANGED[type_.family]), self.text, f"a plain {kind}")
        if type_.family is Family.BIT:
            return self.of(ColumnMapping("", transforms=("number",)))
        return self._listed() if type_.is_list else self.text

    def _listed(self) -> str:
        """The text, if it is a member of the ENUM or SET; the server would also accept a number as a position.

        Case may differ here; the server refuses that itself if the column's collation is case-sensitive.
        """
        if self.column.column_type.family is Family.ENUM:
            lowered = ", ".join(f"CAST(LOWER({quote_text(member)}) AS BINARY)" for member in self.column.members)
            known = f"CAST(LOWER(RTRIM({self.text})) AS BINARY) IN ({lowered})"
            return self._where(known, self.text, "in the list")
        one = "|".join(f"{re.escape(member)} *" for member in self.column.members)
        return self._where(self._matches(f"(?:(?:{one})(?:,(?:{one}))*)?"), self.text, "in the list")

    def _where(self, taken: str, value: str, wanted: str) -> str:
        """`value` if the condition `taken` is true and the value is not NULL, else a text that the column refuses."""
        refused = self._refused(wanted)
        return f"CASE WHEN {taken} THEN COALESCE({value}, {refused}) WHEN {self.text} IS NOT NULL THEN {refused} END"

    def _refused(self, wanted: str) -> str:
        return self.refused or _refused(self.text, wanted, self.column)

    def _matches(self, pattern: str) -> str:
        r"""Whether the whole text matches. `\z`, because `$` would also match before a line end at the end."""
        regexp = quote_text(rf"^(?:{pattern})\z")
        return f"(LENGTH({self.text}) <= {LONGEST} AND {self.text} REGEXP {regexp})"


def _refused(text: str, wanted: str, column: Column) -> str:
    """SQL for a text of which the column warns, with the row's number. The text says what was `wanted`."""
    type_ = column.column_type
    if type_.family is Family.BIT:
        return "REPEAT('?', 9)"
    if type_.holds_megabytes:
        return _failing(text, wanted, column)
    if type_.takes_hex:
        return f"REPEAT('?', {most_bytes(column) + 1})"
    if type_.family is Family.CHARACTER and type_.fixed:
        return f"CONCAT({text}, REPEAT('?', {(column.declared_size or 1) + 1}))"
    words = f"not {wanted}: "
    while any(member.lower().startswith(words.lower()) for member in column.members):
        words = f"({words}"
    return f"CONCAT({quote_text(words)}, {text})"


def _failing(text: str, wanted: str, column: Column) -> str:
    """SQL that ends the statement with error 1690, whose message has these words (server-behaviour.md).

    The sum is too large for every text. It has the text, so that the server computes it for this row only.
    """
    words = f"not {wanted}: column {quote_name(column.name)}, "
    return f"~0 + (1 + LENGTH(CONCAT({quote_text(words)}, LEFT({text}, 1))))"


def most_bytes(column: Column) -> int:
    """The maximum bytes of a column of binary data."""
    return column.column_type.size or column.declared_size or 1
