"""Suggests a mapping from a file's sample: columns, NULL markers, transforms and date formats; users can change it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from importer.engine.errors import Problem
from importer.engine.mapping.columns import (
    ColumnMapping,
    FieldOverride,
    map_by_name,
    overrides_by_position,
    with_listed,
)
from importer.engine.mapping.readings import choose, non_null_values, trimmed
from importer.engine.mapping.transforms import BLANKS
from importer.engine.schema.column_types import Family, column_type
from importer.engine.schema.new_table import NewTable
from importer.engine.schema.table import Column, Table
from importer.engine.schema.value_kinds import NULL_WORDS
from importer.engine.source.profile.profile import Profile
from importer.engine.source.records.null_words import NULL_MARK

BY_NAME, BY_POSITION = "name", "position"
MATCHES = (BY_NAME, BY_POSITION)


def suggest_mapping(
    profile: Profile,
    table: Table,
    null_markers: Sequence[str] | None = None,
    match: str = "",
    overrides: Sequence[FieldOverride] = (),
) -> tuple[ColumnMapping, ...]:
    """Suggest for each field its column, the NULL markers, the transforms and the date format.

    `match` is one of MATCHES; "" means by name, or by position if the file has no header and as many fields as the
    table takes values. `null_markers`, if given, apply to every column that takes NULL, or numbers its row for it.
    Otherwise an empty text means NULL in all number and date columns, and so does a word such as NA in the sample of
    one of them. In a text column NA may be a value: there it stays text, and mapping/warnings.py notes it. The mark
    `\\N` means NULL in every column that takes NULL, unless the sample also has it in quotes. `overrides` replace
    suggestions. Raises Problem if an override names an unknown field or column.
    """
    fixed = overrides_by_position(overrides, profile.header)
    profile = with_listed(profile, fixed)
    left_out = {number for number, each in fixed.items() if not each.column}
    mapping = _with_columns(_columns(profile, table, match, left_out), fixed, table)
    text: tuple[str, ...] = ()
    if null_markers is None:
        text = (NULL_MARK,) if _marks_null(profile) else ()
        words = _null_words_seen(profile, mapping, table)
    else:
        words = text = tuple(dict.fromkeys(null_markers))
    suggested = []
    for number, field in enumerate(mapping):
        if not field.column:
            suggested.append(field)
            continue
        column = table.column(field.column)
        markers = text if column.auto_increment else ()
        if column.nullable:
            markers = words if column.column_type.is_typed else text
        marked = replace(field, null_markers=markers)
        if number in fixed and fixed[number].lookup:
            # A number's NULL words may be names.
            marked = replace(field, null_markers=("", *text) if markers and null_markers is None else text)
            trimming = _trimming(non_null_values(profile, number, marked), column)
            suggested.append(with_override(replace(marked, transforms=trimming), fixed[number]))
            continue
        values = non_null_values(profile, number, marked)
        of_bytes = number in profile.of_bytes
        reading = choose(trimmed(values), column, profile.dialect.delimiter, of_bytes=of_bytes).chosen
        marked = replace(
            marked,
            transforms=(*_trimming(values, column), *reading.transforms),
            datetime_format=reading.datetime_format,
        )
        suggested.append(with_override(marked, fixed[number]) if number in fixed else marked)
    return tuple(suggested)


def map_to_new(
    profile: Profile,
    table: Table,
    null_markers: Sequence[str] | None = None,
    overrides: Sequence[FieldOverride] = (),
) -> tuple[ColumnMapping, ...]:
    """Suggest the mapping for a new table made from the file: each field goes into the column at its position.

    Parameters and errors as in suggest_mapping(). In number and date columns an empty value is NULL even if the sample
    has none: otherwise the first one after the sample would widen the column to a text.
    """
    mapping = suggest_mapping(profile, table, null_markers, BY_POSITION, overrides)
    mapping = _with_new_formats(profile, table, mapping, null_markers, overrides)
    if null_markers is not None:
        return mapping
    nullable = {column.name for column in table.columns if column.column_type.is_typed and column.nullable}
    return tuple(
        replace(each, null_markers=tuple(dict.fromkeys(("", *each.null_markers)))) if each.column in nullable else each
        for each in mapping
    )


def with_suggested_null(
    table: NewTable,
    profile: Profile,
    mapping: Sequence[ColumnMapping],
    null_markers: Sequence[str] | None,
    overrides: Sequence[FieldOverride] = (),
) -> NewTable:
    """The new table with the names of the columns whose NULL markers in the mapping are those that are suggested.

    `null_markers` and the `overrides` have those that a user has given.
    """
    if null_markers is not None:
        return table
    suggested = set(_null_words_seen(with_listed(profile, dict(enumerate(mapping))), mapping, table.as_table()))
    given = {at for at, each in overrides_by_position(overrides, profile.header).items() if each.null_markers}
    names = (each.column for at, each in enumerate(mapping) if at not in given and set(each.null_markers) == suggested)
    return replace(table, suggested_null=tuple(filter(None, names)))


def _with_new_formats(
    profile: Profile,
    table: Table,
    mapping: Sequence[ColumnMapping],
    null_markers: Sequence[str] | None,
    overrides: Sequence[FieldOverride],
) -> tuple[ColumnMapping, ...]:
    """The mapping with the formats by which suggest_table() found the types, where a column still has its type."""
    from importer.engine.mapping.new_table.suggestion import read_fields

    fixed = overrides_by_position(overrides, profile.header)
    given = {at for at, each in fixed.items() if each.transforms is not None or each.datetime_format is not None}
    fields = read_fields(with_listed(profile, fixed), [each.column for each in mapping], null_markers, overrides)
    formatted = []
    for number, (each, field) in enumerate(zip(mapping, fields, strict=True)):
        family = table.column(each.column).column_type.family if each.column else None
        same = bool(field.type) and column_type(field.type).family is family
        read = replace(each, transforms=field.transforms, datetime_format=field.datetime_format)
        formatted.append(read if same and number not in given else each)
    return tuple(formatted)


def _with_columns(
    mapping: Sequence[ColumnMapping], fixed: dict[int, FieldOverride], table: Table
) -> tuple[ColumnMapping, ...]:
    """The mapping with the columns of the overrides, which no other field fills then."""
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


def with_override(suggested: ColumnMapping, override: FieldOverride) -> ColumnMapping:
    """The suggestion with the override's values. Given transforms replace a suggested date format, and vice versa."""
    names = ("transforms", "null_markers", "datetime_format", "values", "lookup")
    values = {name: getattr(override, name) for name in names if getattr(override, name) is not None}
    if override.transforms and override.datetime_format is None:
        values["datetime_format"] = ""
    if override.datetime_format and override.transforms is None:
        values["transforms"] = ()
    return replace(suggested, **values)


def _trimming(values: Iterable[str], column: Column) -> tuple[str, ...]:
    """Trims where a blank is never part of a value: in numbers, dates, times and lists."""
    type_ = column.column_type
    trims = type_.is_number or type_.is_temporal or type_.family is Family.YEAR or bool(column.members)
    return ("trim",) if trims and any(value != value.strip(BLANKS) for value in values) else ()


def _columns(profile: Profile, table: Table, match: str, left_out: Collection[int]) -> tuple[ColumnMapping, ...]:
    if match == BY_NAME or (profile.dialect.header and not match):
        return map_by_name(profile.header, table)
    taken = table.fillable_columns
    given = tuple(column for column in taken if not column.auto_increment)
    for columns in (taken, given):
        if len(columns) in (len(profile.header), len(profile.header) - len(left_out)):
            skipped = left_out if len(columns) < len(profile.header) else ()
            given_names = iter([column.name for column in columns])
            return tuple(ColumnMapping("" if at in skipped else next(given_names)) for at in range(len(profile.header)))
    if not match:
        return tuple(ColumnMapping("") for _ in profile.header)
    names = [column.name for column in taken] + [""] * len(profile.header)
    return tuple(ColumnMapping(name) for name, _ in zip(names, profile.header, strict=False))


def _null_words_seen(profile: Profile, mapping: Sequence[ColumnMapping], table: Table) -> tuple[str, ...]:
    """The empty text, and the NULL words among the sample's values for number, date and time columns.

    They are no valid values there. An empty text may come later in the file than the sample.
    """
    seen: set[str] = set()
    for number, each in enumerate(mapping):
        if each.column and table.column(each.column).column_type.is_typed:
            seen.update(profile.values_of(number))
    if _marks_null(profile):
        seen.add(NULL_MARK)
    return tuple(word for word in NULL_WORDS if not word or word in seen)


def _marks_null(profile: Profile) -> bool:
    return profile.null_mark and not profile.quoted_null_mark
