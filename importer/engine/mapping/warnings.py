"""Notes about a mapping that a user should check, from the sample."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from importer.engine.mapping import date_formats
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.readings import Fits, count_mismatches, non_null_values
from importer.engine.mapping.transforms import BLANKS, TRANSFORMS
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, Table
from importer.engine.schema.value_kinds import is_number
from importer.engine.source.profile.profile import Profile
from importer.engine.source.profile.remembered import remembered
from importer.engine.source.records.null_words import NULL_MARK
from importer.engine.source.records.row_error import shortened
from importer.engine.units import count_of

# Spreadsheets show a number of 12 digits and more with 6 of them, and write into a CSV file what they show. Larger
# exponents than identifiers have are those of measurements.
_SHORTENED = re.compile(r"-?[1-9](\.[0-9]{1,5})?E\+(?P<exponent>1[1-9])")


def mapping_notes(profile: Profile, table: Table, mapping: Sequence[ColumnMapping]) -> tuple[str, ...]:
    """Notes about values that fit no reading, and about words that mean or may mean NULL."""
    notes = _empty_record_notes(profile)
    if not any(each.column for each in mapping):
        notes.append("No field has the name of a column: choose the columns yourself.")
    for number, each in enumerate(mapping):
        if not each.column:
            continue
        column = table.column(each.column)
        values = non_null_values(profile, number, each)
        notes += _mismatch_notes(values, each, column)
        notes += _currency_notes(each)
        notes += _lost_digits_notes(values, each)
    return (*notes, *_null_notes(profile, table, mapping))


def _empty_record_notes(profile: Profile) -> list[str]:
    """A note on records without a value, as which a spreadsheet writes blank rows into a CSV file: `;;;`."""
    empty = ("", profile.dialect.null)
    lines = [
        line
        for line, row in zip(profile.lines, profile.rows, strict=True)
        if len(row) > 1 and all(value.strip(BLANKS) in empty for value in row)
    ]
    if not lines:
        return []
    some = "1 has" if len(lines) == 1 else f"{len(lines):,} have"
    return [
        f"Of the first {count_of(len(profile.rows), 'record')} {some} no value in any field, such as line"
        f" {lines[0]:,}; each is a"
        " row of the table. If they were blank rows of a spreadsheet, delete them there, and export it again."
    ]


def _currency_notes(mapping: ColumnMapping) -> list[str]:
    """A note where amounts lose the currency that all of them have."""
    signs = (TRANSFORMS[name].currency for name in mapping.transforms)
    return [
        f"{mapping.column}: each value is in {sign}; the column keeps the number. Another currency is a bad value."
        for sign in signs
        if sign
    ]


def _lost_digits_notes(values: Counter[str], mapping: ColumnMapping) -> list[str]:
    """A note on long numbers as a spreadsheet shows and exports them: 4006381333931 as 4.00638E+12."""
    found = next(filter(None, map(_SHORTENED.fullmatch, values)), None)
    if not found:
        return []
    digits = int(found["exponent"]) + 1
    return [
        f"{mapping.column}: {found[0]} shows at most 6 of {digits} digits. If a spreadsheet wrote it, the others are"
        " lost: format the column there as a whole number, and export it again."
    ]


def _null_notes(profile: Profile, table: Table, mapping: Sequence[ColumnMapping]) -> list[str]:
    """Notes where words of the sample are read as NULL, and where they stay text."""
    words = {word for each in mapping for word in each.null_markers if word}
    null: dict[str, list[str]] = {}
    text_notes = []
    for number, each in enumerate(mapping):
        if not each.column:
            continue
        seen = words & profile.values_of(number).keys()
        for word in sorted(seen):
            if word not in each.null_markers:
                text_notes.append(f"{each.column}: {word} stays text here; elsewhere it means NULL.")
            elif word == NULL_MARK or table.column(each.column).column_type.is_typed:
                null.setdefault(word, []).append(each.column)
    if profile.null_mark and NULL_MARK in words - null.keys():
        text_notes.append(f"{NULL_MARK} is read as NULL.")
    return [*(f"{word} is read as NULL in {', '.join(columns)}." for word, columns in null.items()), *text_notes]


@remembered
def _mismatch_notes(values: Counter[str], mapping: ColumnMapping, column: Column) -> list[str]:
    """A note if values are no numbers or dates in the column's reading."""
    fits = _reading(mapping, column)
    if fits is None or not (count := count_mismatches(values, fits)):
        return []
    first = next(value for value in values if not fits(value))
    they = "it will be a bad row" if count == 1 else "they will be bad rows"
    named = " or named as NULL" if column.nullable or column.auto_increment else "; the column takes no NULL"
    return [
        f"{column.name}: {count:,} of {count_of(values.total(), 'value')} {'does' if count == 1 else 'do'} not fit"
        f" {column.type}, such as {shortened(first)}: {they}, unless read in another way{named}."
    ]


def named_fields(
    profile: Profile, table: Table, mapping: Sequence[ColumnMapping], stated: Collection[int]
) -> list[int]:
    """The fields (from 0) for columns of whole numbers without a number in the sample, but of `stated` formats."""
    found = []
    for number, each in enumerate(mapping):
        integer = each.column and table.column(each.column).column_type.family is Family.INTEGER
        if integer and number not in stated and not (each.lookup or each.values or each.datetime_format):
            values = non_null_values(profile, number, each)
            reads = _reading(each, table.column(each.column))
            if values and reads and not any(map(reads, values)):
                found.append(number)
    return found


def _reading(mapping: ColumnMapping, column: Column) -> Fits | None:
    """A rough test whether a value fits the mapping's reading; validation and the server are stricter."""
    type_, form = column.column_type, mapping.datetime_format
    blanks = BLANKS if "trim" in mapping.transforms else ""
    if mapping.lookup or not (type_.has_date or type_.is_number):
        return None
    chosen = next((TRANSFORMS[name] for name in mapping.transforms if not TRANSFORMS[name].cleans), None)
    if chosen:
        fits = chosen.matcher(column)
        return lambda value: fits(value.strip(blanks))
    if form:
        return lambda value: date_formats.matches(form, value.strip(blanks))
    if type_.has_date:
        return lambda value: date_formats.is_native(value.strip(blanks))
    return lambda value: is_number(value.strip(BLANKS), fraction=True)
