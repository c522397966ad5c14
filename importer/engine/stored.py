"""Converts dataclasses to JSON for storage, and back, also from JSON that an older version stored.

A field that an older version did not have takes its default. A key that is no longer a field is ignored.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

# Field names to JSON keys, for the fields whose JSON key differs from their name.
Keys = Mapping[str, str]


def to_json(value: Any, keys: Keys | None = None) -> dict[str, Any]:
    """Convert the dataclass, with those inside it, to dictionaries. `keys` applies to the outermost dataclass."""
    # Here, because only code that stores or reads values needs it; ten times as fast as dataclasses.asdict().
    import msgspec

    values = msgspec.to_builtins(value)
    return {(keys or {}).get(name, name): each for name, each in values.items()}


def from_json(kind: type[T], values: Mapping[str, Any], keys: Keys | None = None) -> T:
    """Read a dataclass from the JSON of to_json(), of this or an older version. Lists become tuples where annotated.

    Raises msgspec.ValidationError, with the path to the value, if the annotations do not allow a value.
    """
    import msgspec

    names = {key: name for name, key in (keys or {}).items()}
    return msgspec.convert({names.get(key, key): each for key, each in values.items()}, kind)
