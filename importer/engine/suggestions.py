"""Which field of a file goes into which column, and how its values read: a guess from the sample, to be checked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from importer.engine.dates import DateReading, read_dates
from importer.engine.errors import Problem
from importer.engine.mapping import AskedField, ColumnMapping, asked_by_position, map_by_name
from importer.engine.profile import Profile
from importer.engine.table import Column, Table
from importer.engine.transforms import BINARIES, BLANKS, NUMBERS, TRANSFORMS
from importer.engine.values import DATE_KINDS, NULL_WORDS, NUMBER_KINDS, TIME_KINDS, is_number

BY_NAME, BY_POSITION = "name", "position"
MATCHES = (BY_NAME, BY_POSITION)
# Where a comma can be both, it is the decimal one in files that do not use it as their delimiter.
_COMMA_IS_DECIMAL = ("decimal-comma", "thousands-dot", "thousands-space", "thousands-comma", "thousands-apostrophe")
_COMMA_IS_DELIMITER = ("thousands-comma", "thousands-apostrophe", "decimal-comma", "thousands-dot", "thousands-space")


def suggest_mapping(
    profile: Profile,
    table: Table,
    null_markers: Sequence[str] | None = None,
    match: str = "",
    asked: Sequence[AskedField] = (),
) -> tuple[ColumnMapping, ...]:
    """For each field the column, the texts that mean NULL, and how its values read.

    Columns go as `match` says, one of MATCHES; "" means by name, or by position where the file has no header and as
    many fields as the table takes values. `null_markers` are used as they are for every nullable column. Without them,
    an empty text or a word such as NA that stands in the sample of a number or date column means NULL in all of those.
    In a text column NA may well be a value: there it stays one until somebody says otherwise, and mapping_notes() asks.
    What was `asked` for a field stands. Raises Problem if that is about a field or a column that is not there.
    """
    fixed = asked_by_position(asked, profile.header)
    mapping = _with_columns(_columns(profile, table, match), fixed, table)
    text: tuple[str, ...] = ()
    if null_markers is None:
        typed = _null_words_seen(profile, mapping, table)
    else:
        typed = text = tuple(dict.fromkeys(null_markers))
    suggested = []
    for number, field in enumerate(mapping):
        if not field.column:
            suggested.append(field)
            continue
        column = table.column(field.column)
        markers = (typed if _typed(column) else text) if column.nullable else ()
        marked = replace(field, null_markers=markers)
        values = _said(profile, number, marked)
        marked = replace(marked, transforms=_transforms(values, column, profile.dialect.delimiter))
        if column.kind in DATE_KINDS:
            marked = replace(marked, datetime_format=_read_dates(profile, number, marked).format)
        suggested.append(_as_asked(marked, fixed[number]) if number in fixed else marked)
    return tuple(suggested)


def map_to_new(
    profile: Profile,
    table: Table,
    null_markers: Sequence[str] | None = None,
    asked: Sequence[AskedField] = (),
) -> tuple[ColumnMapping, ...]:
    """The same for a table that is to be made from the file: every field goes into the column that it stands for.

    In number and date columns an empty value is NULL, even if the sample has none: else the first one after it would
    make a text of its column.
    """
    mapping = suggest_mapping(profile, table, null_markers, BY_POSITION, asked)
    if null_markers is not None:
        return mapping
    typed = {column.name for column in table.columns if _typed(column) and column.nullable}
    return tuple(
        replace(each, null_markers=tuple(dict.fromkeys(("", *each.null_markers)))) if each.column in typed else each
        for each in mapping
    )


def mapping_notes(profile: Profile, table: Table, mapping: Sequence[ColumnMapping]) -> tuple[str, ...]:
    """What to look at before this mapping is used: doubtful dates and numbers, words that may mean NULL."""
    notes = []
    if not any(each.column for each in mapping):
        notes.append("No field has the name of a column: choose the columns by hand.")
    for number, each in enumerate(mapping):
        if not each.column:
            continue
        column = table.column(each.column)
        if not each.datetime_format and column.kind in DATE_KINDS:
            doubt = _read_dates(profile, number, each).doubt
            notes += [f"{each.column}: {doubt}"] if doubt else []
        notes += _number_doubts(_said(profile, number, each), each, column)
    words = {word for each in mapping for word in each.null_markers if word}
    for number, each in enumerate(mapping):
        kept = words & set(_values(profile, number)) - set(each.null_markers) if each.column else set()
        notes += [f"{each.column}: {word} stays text here; elsewhere it means NULL." for word in sorted(kept)]
    return tuple(notes)


def _with_columns(
    mapping: Sequence[ColumnMapping], fixed: dict[int, AskedField], table: Table
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


def _as_asked(suggested: ColumnMapping, asked: AskedField) -> ColumnMapping:
    """What was asked for, and the suggestion where nothing was; a reading of its own takes the place of a date's."""
    names = ("transforms", "null_markers", "datetime_format")
    said = {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    if asked.transforms and asked.datetime_format is None:
        said["datetime_format"] = ""
    if asked.datetime_format and asked.transforms is None:
        said["transforms"] = ()
    return replace(suggested, **said)


def _transforms(values: Sequence[str], column: Column, delimiter: str) -> tuple[str, ...]:
    """What makes values of the column of these texts; nothing where they are values already, or nothing does."""
    if column.kind == "bit":
        return next(((name,) for name in ("number", "yes-no") if _all_fit(name, values, column)), ())
    if column.kind in BINARIES:
        return ("hex",) if values and all(_is_hex(value) for value in values) else ()
    if column.kind not in NUMBERS:
        return _trimming(values) if _typed(column) or column.members else ()
    if all(is_number(value, column.kind) for value in values):
        return ()
    trimming = _trimming(values)
    bare = [value.strip(BLANKS) for value in values]
    if all(is_number(value, column.kind) for value in bare):
        return trimming
    order = _COMMA_IS_DELIMITER if delimiter == "," else _COMMA_IS_DECIMAL
    return next(((*trimming, name) for name in (*order, "yes-no") if _all_fit(name, bare, column)), ())


def _trimming(values: Sequence[str]) -> tuple[str, ...]:
    return ("trim",) if any(value != value.strip(BLANKS) for value in values) else ()


def _all_fit(name: str, values: Sequence[str], column: Column) -> bool:
    return all(TRANSFORMS[name].fits(value, column) for value in values)


def _is_hex(value: str) -> bool:
    """Written so that it can be nothing else."""
    return len(value) % 2 == 0 and re.fullmatch("0[xX][0-9A-Fa-f]+", value) is not None


def _number_doubts(values: Sequence[str], mapping: ColumnMapping, column: Column) -> list[str]:
    """One note where all the values could be other numbers as well."""
    chosen = next((name for name in mapping.transforms if name in _COMMA_IS_DECIMAL), "")
    if not chosen:
        return []
    bare = [value.strip(BLANKS) for value in values]
    for other in _COMMA_IS_DECIMAL:
        if other != chosen and _all_fit(other, bare, column):
            first = next((value for value in bare if _number(value, other) != _number(value, chosen)), "")
            if first:
                return [
                    f"{column.name}: {first!r} is read as {_number(first, chosen)}; it could also be"
                    f" {_number(first, other)} ({TRANSFORMS[other].label.lower()}). Please check."
                ]
    return []


def _number(value: str, name: str) -> str:
    twin = TRANSFORMS[name].twin
    assert twin
    return twin(value)


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
        if each.column and _typed(table.column(each.column)):
            seen.update(_values(profile, number))
    return tuple(word for word in NULL_WORDS if word in seen)


def _typed(column: Column) -> bool:
    return column.kind in NUMBER_KINDS | DATE_KINDS | TIME_KINDS


def _read_dates(profile: Profile, number: int, mapping: ColumnMapping) -> DateReading:
    trimmed = "trim" in mapping.transforms
    return read_dates(value.strip(BLANKS) if trimmed else value for value in _said(profile, number, mapping))


def _said(profile: Profile, number: int, mapping: ColumnMapping) -> list[str]:
    """The different values of the sample that are no NULL."""
    values = dict.fromkeys(_values(profile, number))
    return [value for value in values if value.strip(BLANKS) not in mapping.null_markers]


def _values(profile: Profile, number: int) -> Iterator[str]:
    return (row[number] for row in profile.rows if number < len(row))
