"""Converts dataclasses to JSON for storage, and back, also from JSON that an older version stored.

A field that an older version did not have takes its default. A key that is no longer a field is ignored.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar

T = TypeVar("T")

_PLAIN = frozenset((str, int, bool, NoneType))
# Field names to JSON keys, for the fields whose JSON key differs from their name.
Keys = Mapping[str, str]


def to_json(value: Any, keys: Keys | None = None) -> dict[str, Any]:
    """Convert the dataclass, with those inside it, to dictionaries. `keys` applies to the outermost dataclass."""
    values = _as_builtin(value)
    return {(keys or {}).get(name, name): each for name, each in values.items()}


def from_json(kind: type[T], values: Mapping[str, Any], keys: Keys | None = None) -> T:
    """Read a dataclass from the JSON of to_json(), of this or an older version. Lists become tuples where annotated.

    Raises msgspec.ValidationError, with the path to the value, if the annotations do not allow a value.
    """
    import msgspec  # Here, because only code that reads stored values needs it.

    names = {key: name for name, key in (keys or {}).items()}
    return msgspec.convert({names.get(key, key): each for key, each in values.items()}, kind)


def _as_builtin(value: Any) -> Any:
    """The value with dataclasses as dictionaries of all their fields, in half of the time of dataclasses.asdict().

    msgspec.to_builtins() leaves out a field that msgspec.convert() has given its default.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    # The comprehensions look at the type, too: most values are plain, and a call for each takes twice the time.
    if kind in (tuple, list):
        return kind([each if type(each) in _PLAIN else _as_builtin(each) for each in value])
    if kind is dict:
        return {key: each if type(each) in _PLAIN else _as_builtin(each) for key, each in value.items()}
    if (names := _field_names(kind)) is None:  # type: ignore[arg-type]  # mypy takes no class for hashable
        return value
    return {name: each if type(each := getattr(value, name)) in _PLAIN else _as_builtin(each) for name in names}


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """The names of a dataclass' fields; None for another type."""
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else None
