"""Tells the fields of the form that a user has set from those that show a detected value.

The form sends every field. `shown` holds the values that the page showed, without empty ones; a field with another
value was changed by the user. `answered` holds the names of the fields that were changed or answered before.

The page has fields for some of the columns alone. Those of the other columns have the values of `shown`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from dashboard.fields.format_fields import FORMAT_FIELDS
from dashboard.fields.null_markers import show_markers
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn, Lookup, ValueList, field_name
from importer.engine.source.decisions import Answer, Decision

T = TypeVar("T")

SHOWN, ANSWERED, ANSWER = "shown", "answered", "answer"
_COLUMN_FIELD = re.compile(r"(column|add|read|trim|format|null|type|nulls|values|lookup)_([0-9]{1,5})")
_FILLING_FIELD = re.compile(r"(fill|filltext)_([0-9]{1,5})")


def with_answers(values: Mapping[str, str]) -> dict[str, str]:
    """The sent values, with the answer of a pressed button, and `answered` brought up to date."""
    shown = _read(values, SHOWN, dict)
    answered = {name for name in _read(values, ANSWERED, list) if isinstance(name, str) and _is_tracked(name)}
    answered |= {name for name, value in values.items() if _is_tracked(name) and value != shown.get(name, "")}
    given = {name: text for name, text in _read(values, ANSWER, dict).items() if isinstance(text, str)}
    answered |= {name for name in given if _is_tracked(name)}
    unseen = {name: text for name, text in shown.items() if isinstance(text, str) and _is_about_column(name)}
    kept = {**unseen, **{name: value for name, value in values.items() if name not in (SHOWN, ANSWER)}}
    return {**kept, **given, ANSWERED: json.dumps(sorted(answered))}


def restored(values: Mapping[str, str]) -> dict[str, str]:
    """Values that were stored, or that a link has. Those of a link do not say which fields were set: all were."""
    return dict(values) if not values or ANSWERED in values else with_answers(values)


def answered_fields(values: Mapping[str, str]) -> frozenset[str]:
    """The names of the fields that the user has set."""
    return frozenset(_read(values, ANSWERED, list))


def stated_positions(answered: Iterable[str], *kinds: str) -> frozenset[int]:
    """The positions (from 0) of the columns of which the user has set a field of one of the kinds."""
    matches = filter(None, map(_COLUMN_FIELD.fullmatch, answered))
    return frozenset(int(match[2]) for match in matches if match[1] in kinds)


def button_value(decision: Decision, answer: Answer, header: Sequence[str]) -> str:
    """The value of the button that gives an answer: the form's fields that it sets, as JSON."""
    if not decision.field:
        fields = {name: FORMAT_FIELDS[name].show(value) for name, value in answer.states if name in FORMAT_FIELDS}
        fields |= {name: str(value) for name, value in answer.states if name == "match"}
        return json.dumps(fields)
    number = next(number for number in range(len(header)) if field_name(header, number) == decision.field)
    fields = {}
    for name, value in answer.states:
        fields |= _of_column(name, value, number)
    return json.dumps(fields)


def shown_mapping(mapping: ColumnMapping, number: int) -> dict[str, str]:
    """The values of the form's fields for the mapping of the field at that position (from 0)."""
    return {
        **_of_column("column", mapping.column, number),
        **_of_column("transforms", mapping.transforms, number),
        **_of_column("datetime_format", mapping.datetime_format, number),
        **_of_column("null_markers", mapping.null_markers, number),
        **_of_column("values", mapping.values, number),
        **_of_column("lookup", mapping.lookup, number),
    }


def shown_filling(filling: GeneratedColumn, number: int) -> dict[str, str]:
    """The values of the form's fields for what fills the column at that position (from 0) of the table."""
    return {f"fill_{number}": filling.source, f"filltext_{number}": filling.text}


def _of_column(name: str, value: object, number: int) -> dict[str, str]:
    """The form's fields for a field of ColumnMapping."""
    if name == "transforms":
        assert isinstance(value, tuple)
        trims = [each for each in value if each.startswith("trim")]
        readings = [each for each in value if each not in trims]
        return {f"read_{number}": next(iter(readings), ""), f"trim_{number}": next(iter(trims), "")}
    if name == "null_markers":
        assert isinstance(value, tuple)
        return {f"null_{number}": show_markers(value)}
    if name == "lookup":
        return {f"lookup_{number}": value.text if isinstance(value, Lookup) else ""}
    if name == "values":
        assert isinstance(value, tuple)
        return {f"values_{number}": show_values(value)}
    form_name = {"column": "column", "datetime_format": "format", "type": "type"}[name]
    return {f"{form_name}_{number}": str(value)}


def show_values(values: ValueList) -> str:
    """A value list as the form writes it: a list of pairs as JSON, as JavaScript writes it, "" for none."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) if values else ""


def read_values(text: str) -> ValueList:
    """The inverse of show_values(); a text that no page sends is no list."""
    with suppress(ValueError, TypeError):
        if isinstance(pairs := json.loads(text), list):
            return tuple((str(old), str(new)) for old, new in pairs)
    return ()


def _is_tracked(name: str) -> bool:
    return name in FORMAT_FIELDS or name == "match" or _COLUMN_FIELD.fullmatch(name) is not None


def _is_about_column(name: str) -> bool:
    return bool(_COLUMN_FIELD.fullmatch(name) or _FILLING_FIELD.fullmatch(name))


def _read(values: Mapping[str, str], name: str, kind: type[T]) -> T:
    """The value of a hidden field as JSON; empty if it is not of that kind."""
    try:
        value = json.loads(values.get(name, ""))
    except ValueError:
        return kind()
    return value if isinstance(value, kind) else kind()
