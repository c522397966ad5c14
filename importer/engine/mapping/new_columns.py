"""Suggests a new table for a file: names from its header, types and formats from the values of its sample.

Where a number type would change the texts (codes such as 12e5, leading zeros, versions), and where a value could be
read in two ways, the column is a text: a text loses nothing. A note says why, and how to have another type.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.mapping.columns import field_name
from importer.engine.mapping.transforms import BLANKS
from importer.engine.schema.column_names import name_columns
from importer.engine.schema.new_table import NewColumn, NewTable
from importer.engine.schema.row_size import MOST_KEY_BYTES, fit_row_size, key_bytes
from importer.engine.schema.type_inference import TypeTracker
from importer.engine.schema.value_kinds import NULL_WORDS, is_number
from importer.engine.source.profile.profile import Profile
from importer.engine.source.records.row_error import shortened

# Words in the names of columns that are often a key.
_KEY_WORDS = ("id", "key", "code", "nr", "no", "number", "uuid", "guid", "nummer")


@dataclass(frozen=True)
class NewField:
    """What the values of a field tell about its column: a type, how they are read, and why it is a text.

    `note`: for users, "" if there is nothing to say.
    """

    type: str
    transforms: tuple[str, ...] = ()
    datetime_format: str = ""
    note: str = ""


def suggest_table(schema: str, name: str, profile: Profile, null_markers: Sequence[str] | None = None) -> NewTable:
    """Suggest a table for the sample of a file.

    `null_markers`, if given, are NULL in every column; otherwise words such as NA are, in columns of numbers and dates.
    The types may be too narrow for the rest of the file: validation/type_widening.py checks that.
    """
    names, name_notes = name_columns(profile.header)
    fields = read_fields(profile, null_markers)
    suggested = [each.type for each in fields]
    types = fit_row_size(suggested)
    columns = tuple(NewColumn(*pair) for pair in zip(names, types, strict=True))
    notes = [f"{column.name}: {each.note}" for column, each in zip(columns, fields, strict=True) if each.note]
    notes += size_notes(names, suggested, types)
    table = NewTable(schema, name, columns)
    return NewTable(schema, name, columns, notes=(*name_notes, *notes, *_key_notes(profile, table)))


def read_fields(profile: Profile, null_markers: Sequence[str] | None = None) -> list[NewField]:
    """How each field of the file would be stored in a new table."""
    markers = NULL_WORDS if null_markers is None else tuple(null_markers)
    read = []
    for number in range(len(profile.header)):
        values = profile.values_of(number)
        read.append(_read_field(values, frozenset(markers), field_name(profile.header, number)))
    return read


def size_notes(names: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    """A note about columns whose type was changed because the rows could be too large otherwise."""
    changed = [name for name, old, new in zip(names, before, after, strict=True) if old != new]
    if not changed:
        return []
    shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
    return [f"{shown}: another text type than the values need, since rows could be too large otherwise."]


def _read_field(values: Counter[str], markers: frozenset[str], name: str) -> NewField:
    present = Counter({value: n for value, n in values.items() if value.strip(BLANKS) not in markers})
    tracker = _tracked(present)
    if tracker.is_typed and not tracker.code:
        return NewField(tracker.type)
    text = _tracked(values).text_type
    return NewField(text, note=_why_text(present, tracker, name))


def _tracked(values: Counter[str]) -> TypeTracker:
    tracker = TypeTracker()
    tracker.take(list(values), frozenset())
    return tracker


def _why_text(values: Counter[str], tracker: TypeTracker, name: str) -> str:
    """Why the column is a text although its values look like numbers; "" for other texts."""
    if tracker.code:
        return f"text, since {tracker.code}. --type '{name}={tracker.type}' makes it a number."
    if not values or not all(is_number(value, fraction=True) for value in values):
        return ""
    first = next(each for each in values if each[:1] == "+" or _has_leading_zero(each))
    why = "a plus sign" if first[:1] == "+" else "a leading zero"
    return f"text, since a number has no place for {why} ({shortened(first)})."


def _has_leading_zero(value: str) -> bool:
    digits = value.lstrip("+-")
    return digits[:1] in ("0", ".") and digits[:2] != "0." and len(digits) > 1


def _key_notes(profile: Profile, table: NewTable) -> list[str]:
    """A proposal of a primary key: the first column with the name of a key whose values in the sample are a key."""
    for number, column in enumerate(table.columns):
        if not is_key_name(column.name) or key_bytes(column.type) > MOST_KEY_BYTES:
            continue
        values = profile.values_of(number)
        if len(values) == len(profile.rows) and not any(value.strip() in NULL_WORDS for value in values):
            return [
                f"{column.name} could be the primary key: its values are never empty and all different in the sample."
                f" --primary-key '{column.name}' makes it so."
            ]
    return []


def is_key_name(name: str) -> bool:
    """Whether a column of this name is often a key: id, order_id, orderId, Kundennr."""
    lowered = name.lower()
    words = "".join(each if each.isalnum() else " " for each in lowered).split()
    camel = name[-2:] == "Id" or name[-2:] == "ID"
    return bool(words) and (words[-1] in _KEY_WORDS or words[0] in _KEY_WORDS or camel or words[-1].endswith("nr"))
