"""Suggests a new table for a file: names from its header, types and formats from the values of its sample.

A type that the file states, as a dump and Parquet do, is used instead.

Where a number type would change the texts (codes such as 12e5, leading zeros, versions), and where a value could be
read in two ways, the column is a text: a text loses nothing. A note says why, and how to have another type. What could
be read in two ways is a question (decisions.py).
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from importer.engine.errors import Problem
from importer.engine.mapping.columns import (
    ColumnMapping,
    FieldOverride,
    field_name,
    overrides_by_position,
    with_listed,
)
from importer.engine.mapping.new_table.fields import (
    FieldNames,
    NewField,
    read_as_stated,
    read_field,
    text_type,
)
from importer.engine.mapping.readings import has_decimal_comma, is_grouped_only
from importer.engine.mapping.transforms import BLANKS
from importer.engine.schema.column_names import name_columns
from importer.engine.schema.column_types import Family, column_type
from importer.engine.schema.new_table import NewColumn, NewTable
from importer.engine.schema.row_size import MOST_KEY_BYTES, fit_row_size, key_bytes
from importer.engine.schema.type_inference import check_type
from importer.engine.schema.value_kinds import NULL_WORDS
from importer.engine.source.formats.format import ANY_TEXT
from importer.engine.source.profile.profile import Profile

# Words in the names of columns that are often a key.
_KEY_WORDS = ("id", "key", "code", "nr", "no", "number", "uuid", "guid", "nummer")


def suggest_table(
    schema: str,
    name: str,
    profile: Profile,
    null_markers: Sequence[str] | None = None,
    overrides: Sequence[FieldOverride] = (),
) -> NewTable:
    """Suggest a table for the sample of a file.

    `null_markers`, if given, are NULL in every column; otherwise words such as NA are, in columns of numbers and dates.
    `overrides`: given formats, which decide types, NULL markers and value lists of single fields. The types may be too
    narrow for the rest of the file: validation/type_widening.py checks that. Raises Problem if an override names an
    unknown field.
    """
    profile = with_listed(profile, overrides_by_position(overrides, profile.header))
    names, name_notes = name_columns(profile.header)
    fields = read_fields(profile, names, null_markers, overrides)
    suggested = [each.type or _text_type(profile, number) for number, each in enumerate(fields)]
    suggested = _with_stated_types(profile, suggested, overrides)
    types = fit_row_size(suggested)
    columns = tuple(NewColumn(*pair) for pair in zip(names, types, strict=True))
    notes = [f"{column.name}: {each.note}" for column, each in zip(columns, fields, strict=True) if each.note]
    notes += _size_notes(names, suggested, types)
    stated = _stated_key(profile, columns)
    proposed = (stated[0] if len(stated) == 1 else "") if stated else _proposed_key(profile, columns)
    return NewTable(schema, name, columns, notes=(*name_notes, *notes), proposed_key=proposed, stated_key=stated)


def _with_stated_types(profile: Profile, suggested: Sequence[str], overrides: Sequence[FieldOverride]) -> list[str]:
    """The types; where the file states one, and no format was given for the field, that one."""
    given = {
        number
        for number, each in overrides_by_position(overrides, profile.header).items()
        if each.transforms or each.datetime_format
    }
    types = list(suggested)
    for number, stated in enumerate(profile.types):
        if stated == ANY_TEXT and number not in given:
            types[number] = _text_type(profile, number)
        elif stated and number not in given:
            # One that only its own server has, such as a geometry, is none for a new table.
            with suppress(Problem):
                types[number] = check_type(stated)
    return types


def formats_of(mapping: Sequence[ColumnMapping]) -> tuple[FieldOverride, ...]:
    """The formats, transforms, NULL markers and value lists of a given mapping, as overrides of suggest_table()."""
    return tuple(
        FieldOverride(
            f"#{number}",
            each.column,
            each.transforms or None,
            each.null_markers,
            each.datetime_format or None,
            each.values,
        )
        for number, each in enumerate(mapping, start=1)
    )


def read_fields(
    profile: Profile,
    names: Sequence[str],
    null_markers: Sequence[str] | None = None,
    overrides: Sequence[FieldOverride] = (),
) -> list[NewField]:
    """How each field of the file is stored in a new table. `names`: those of its columns."""
    fixed = overrides_by_position(overrides, profile.header)
    markers = tuple(NULL_WORDS if null_markers is None else null_markers)
    read = []
    for number, name in enumerate(names):
        override = fixed.get(number)
        null = {*markers, *((override and override.null_markers) or ())}
        values = Counter({text: n for text, n in profile.values_of(number).items() if text.strip(BLANKS) not in null})
        if override and (override.transforms or override.datetime_format):
            read.append(read_as_stated(values, tuple(override.transforms or ()), override.datetime_format or ""))
        else:
            read.append(read_field(_names(profile, number, name), values, profile.dialect.delimiter))
    return _with_doubtful_points(profile, names, read)


def _names(profile: Profile, number: int, column: str) -> FieldNames:
    return FieldNames(field_name(profile.header, number), column)


def _with_doubtful_points(profile: Profile, names: Sequence[str], fields: Sequence[NewField]) -> list[NewField]:
    """The fields; where some have a decimal comma, 1.234 of others may be 1234: those are texts."""
    if not any(has_decimal_comma(each.transforms) for each in fields):
        return list(fields)
    checked = []
    for number, (name, field) in enumerate(zip(names, fields, strict=True)):
        is_plain = column_type(field.type).family is Family.DECIMAL and not field.transforms
        if is_plain and is_grouped_only(profile.values_of(number)):
            flags = _names(profile, number, name)
            note = (
                "text, since the point may be between thousands: other fields have a decimal comma."
                f" {flags.mapped('thousands-dot')} leaves it out, {flags.typed(field.type)} keeps it."
            )
            checked.append(NewField(note=note))
        else:
            checked.append(field)
    return checked


def _text_type(profile: Profile, number: int) -> str:
    return text_type(profile.values_of(number))


def _size_notes(names: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    """A note about columns whose type was changed because the rows could be too large otherwise."""
    changed = [name for name, old, new in zip(names, before, after, strict=True) if old != new]
    if not changed:
        return []
    shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
    return [f"{shown}: another text type than the values need, since rows could be too large otherwise."]


def _stated_key(profile: Profile, columns: Sequence[NewColumn]) -> tuple[str, ...]:
    """The columns of the primary key that the file states; () if a new table cannot have it."""
    key = [columns[number] for number in profile.primary_key]
    fits = sum(key_bytes(column.type) for column in key) <= MOST_KEY_BYTES
    return tuple(column.name for column in key) if fits else ()


def _proposed_key(profile: Profile, columns: Sequence[NewColumn]) -> str:
    """The first column with the name of a key whose values in the sample are a key; "" if there is none."""
    for number, column in enumerate(columns):
        if not is_key_name(column.name) or key_bytes(column.type) > MOST_KEY_BYTES:
            continue
        values = profile.values_of(number)
        if len(values) == len(profile.rows) and not any(value.strip() in NULL_WORDS for value in values):
            return column.name
    return ""


def is_key_name(name: str) -> bool:
    """Whether a column of this name is often a key: id, order_id, orderId, Kundennr."""
    words = "".join(each if each.isalnum() else " " for each in name.lower()).split()
    camel = name[-2:] in ("Id", "ID")
    return bool(words) and (words[-1] in _KEY_WORDS or words[0] in _KEY_WORDS or camel or words[-1].endswith("nr"))
