"""Dataclasses to JSON for storage, and back: what an older version stored is read by the same two functions.

A field that an older version did not have takes its default; a key that is no longer a field is ignored.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

T = TypeVar("T")

# Field names to JSON keys, for the fields of a class whose key is another one.
Keys = Mapping[str, str]


def to_json(value: Any, keys: Keys | None = None) -> dict[str, Any]:
    """The dataclass and those inside it as dictionaries, with `keys` for the fields of the outermost one."""
    values = asdict(value)
    return {(keys or {}).get(name, name): each for name, each in values.items()}


def from_json(kind: type[T], values: Mapping[str, Any], keys: Keys | None = None) -> T:
    """The dataclass that to_json() wrote, perhaps by an older version. Lists become the tuples of its annotations.

    Raises msgspec.ValidationError, with the path to it, for a value that the annotations do not allow.
    """
    import msgspec  # by what reads stored values only

    names = {key: name for name, key in (keys or {}).items()}
    return msgspec.convert({names.get(key, key): each for key, each in values.items()}, kind)
