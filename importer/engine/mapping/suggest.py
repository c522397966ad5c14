"""Which field of a file goes into which column, and how its values read: a guess from the sample, to be checked."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from importer.engine.errors import Problem
from importer.engine.mapping.best_fit import best_readings
from importer.engine.mapping.columns import ColumnMapping, FieldOverride, map_by_name, overrides_by_position
from importer.engine.mapping.date_formats import DateReading, read_dates
from importer.engine.mapping.transforms import BLANKS, TRANSFORMS
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, Table
from importer.engine.schema.value_kinds import NULL_WORDS, is_number
from importer.engine.source.profile.profile import Profile

BY_NAME, BY_POSITION = "name", "position"
MATCHES = (BY_NAME, BY_POSITION)
# Where a comma can be both, it is the decimal one in files that do not use it as their delimiter.
DECIMAL_COMMA_FIRST = ("decimal-comma", "thousands-dot", "thousands-space", "thousands-comma", "thousands-apostrophe")
THOUSANDS_COMMA_FIRST = ("thousands-comma", "thousands-apostrophe", "decimal-comma", "thousands-dot", "thousands-space")


def suggest_mapping(
    profile: Profile,
    table: Table,
    null_markers: Sequence[str] | None = None,
    match: str = "",
    asked: Sequence[FieldOverride] = (),
) -> tuple[ColumnMapping, ...]:
    """For each field the column, the texts that mean NULL, and how its values read.

    Columns go as `match` says, one of MATCHES; "" means by name, or by position where the file has no header and as
    many fields as the table takes values. `null_markers` are used as they are for every nullable column. Without them,
    an empty text or a word such as NA that stands in the sample of a number or date column means NULL in all of those.
    In a text column NA may well be a value: there it stays one until somebody says otherwise, and doubts.py asks.
    What was `asked` for a field stands. Raises Problem if that is about a field or a column that is not there.
    """
    fixed = overrides_by_position(asked, profile.header)
    mapping = _with_columns(_columns(profile, table, match), fixed, table)
    text: tuple[str, ...] = ()
    if null_markers is None:
        words = _null_words_seen(profile, mapping, table)
    else:
        words = text = tuple(dict.fromkeys(null_markers))
    suggested = []
    for number, field in enumerate(mapping):
        if not field.column:
            suggested.append(field)
            continue
        column = table.column(field.column)
        markers = (words if typed(column) else text) if column.nullable else ()
        marked = replace(field, null_markers=markers)
        values = values_said(profile, number, marked)
        marked = replace(marked, transforms=_transforms(values, column, profile.dialect.delimiter))
        if column.column_type.has_date:
            marked = replace(marked, datetime_format=read_dates_of(values, marked).format)
        suggested.append(_as_asked(marked, fixed[number]) if number in fixed else marked)
    return tuple(suggested)


def map_to_new(
    profile: Profile,
    table: Table,
    null_markers: Sequence[str] | None = None,
    asked: Sequence[FieldOverride] = (),
) -> tuple[ColumnMapping, ...]:
    """The same for a table that is to be made from the file: every field goes into the column that it stands for.

    In number and date columns an empty value is NULL, even if the sample has none: else the first one after it would
    make a text of its column.
    """
    mapping = suggest_mapping(profile, table, null_markers, BY_POSITION, asked)
    if null_markers is not None:
        return mapping
    nullable = {column.name for column in table.columns if typed(column) and column.nullable}
    return tuple(
        replace(each, null_markers=tuple(dict.fromkeys(("", *each.null_markers)))) if each.column in nullable else each
        for each in mapping
    )


def _with_columns(
    mapping: Sequence[ColumnMapping], fixed: dict[int, FieldOverride], table: Table
) -> tuple[ColumnMapping, ...]:
    """The mapping with the columns that were asked for, each of them in no other field."""
    taken = {each.column.lower() for each in fixed.values() if each.column}
    if unknown := taken - {name.lower() for name in table.column_names}:
        names = ", ".join(table.column_names)
        raise Problem(f"The table {table.name} has no column {min(unknown)}.", advice=f"It has {names}.")
    free = [ColumnMapping("") if each.column.lower() in taken else each for each in mapping]
    return tuple(
        ColumnMapping(table.column(fixed[number].column).name if fixed[number].column else "")
        if number in fixed
        else each
        for number, each in enumerate(free)
    )


def _as_asked(suggested: ColumnMapping, asked: FieldOverride) -> ColumnMapping:
    """What was asked for, and the suggestion where nothing was; a reading of its own takes the place of a date's."""
    names = ("transforms", "null_markers", "datetime_format")
    said = {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    if asked.transforms and asked.datetime_format is None:
        said["datetime_format"] = ""
    if asked.datetime_format and asked.transforms is None:
        said["transforms"] = ()
    return replace(suggested, **said)


def _transforms(values: Counter[str], column: Column, delimiter: str) -> tuple[str, ...]:
    """What makes values of the column of most of these texts; nothing where they are values, or nothing does."""
    type_ = column.column_type
    if type_.family is Family.BIT:
        return next(((name,) for name in ("number", "yes-no") if _all_fit(name, values, column)), ())
    if type_.takes_hex:
        return ("hex",) if values and all(_is_hex(value) for value in values) else ()
    if not type_.is_number:
        return _trimming(values) if typed(column) or column.members else ()
    plain = partial(is_number, fraction=type_.has_fraction)
    if all(map(plain, values)):
        return ()
    order = THOUSANDS_COMMA_FIRST if delimiter == "," else DECIMAL_COMMA_FIRST
    readings = {name: partial(TRANSFORMS[name].fits, column=column) for name in (*order, "yes-no")}
    best = best_readings(_bare(values), plain, readings)
    return (*_trimming(values), *best[:1])


def _trimming(values: Iterable[str]) -> tuple[str, ...]:
    return ("trim",) if any(value != value.strip(BLANKS) for value in values) else ()


def _all_fit(name: str, values: Iterable[str], column: Column) -> bool:
    return all(TRANSFORMS[name].fits(value, column) for value in values)


def _is_hex(value: str) -> bool:
    """Written so that it can be nothing else."""
    return len(value) % 2 == 0 and re.fullmatch("0[xX][0-9A-Fa-f]+", value) is not None


def _columns(profile: Profile, table: Table, match: str) -> tuple[ColumnMapping, ...]:
    if match == BY_NAME or (profile.dialect.header and not match):
        return map_by_name(profile.header, table)
    taken = [column for column in table.columns if not column.generated]
    given = [column for column in taken if not column.auto_increment]
    for columns in (taken, given):
        if len(columns) == len(profile.header):
            return tuple(ColumnMapping(column.name) for column in columns)
    if not match:
        return tuple(ColumnMapping("") for _ in profile.header)
    names = [column.name for column in taken] + [""] * len(profile.header)
    return tuple(ColumnMapping(name) for name, _ in zip(names, profile.header, strict=False))


def _null_words_seen(profile: Profile, mapping: Sequence[ColumnMapping], table: Table) -> tuple[str, ...]:
    """The words for NULL among the sample's values for number, date and time columns; none of them reads as one."""
    seen: set[str] = set()
    for number, each in enumerate(mapping):
        if each.column and typed(table.column(each.column)):
            seen.update(profile.values_of(number))
    return tuple(word for word in NULL_WORDS if word in seen)


def typed(column: Column) -> bool:
    """Whether the column holds numbers, dates or times: no text that may mean anything."""
    return column.column_type.is_typed


def read_dates_of(values: Counter[str], mapping: ColumnMapping) -> DateReading:
    """How these dates read, trimmed as the mapping says."""
    return read_dates(_bare(values) if "trim" in mapping.transforms else values)


def values_said(profile: Profile, number: int, mapping: ColumnMapping) -> Counter[str]:
    """The values of the sample that are no NULL, each with how often it is there."""
    found = profile.values_of(number)
    return Counter({value: n for value, n in found.items() if value.strip(BLANKS) not in mapping.null_markers})


def _bare(values: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for value, times in values.items():
        found[value.strip(BLANKS)] += times
    return found
