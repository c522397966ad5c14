"""What differs between a thing as it is stored and as a file wants it, field by field."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_SHOWN = 70  # characters of a value
ADD, CHANGE, DELETE = "add", "change", "delete"


@dataclass(frozen=True)
class FieldChange:
    """A field with its old and new value, as JSON has them. Of a secret both are None."""

    field: str
    old: Any
    new: Any
    secret: bool = False

    def line(self, *, is_new: bool) -> str:
        """The change in words; of a new thing its value."""
        if self.secret:
            return f"{self.field}: {'set' if is_new else 'changed'}"
        if is_new:
            return f"{self.field}: {_shown(self.new)}"
        return f"{self.field}: {_shown(self.old)} -> {_shown(self.new)}"


@dataclass(frozen=True)
class Change:
    """A change of one thing: ADD, CHANGE or DELETE. `kind` is its word, such as target."""

    kind: str
    name: str
    action: str
    fields: tuple[FieldChange, ...] = field(default=())


def differences(old: Any, new: Any, name: str = "") -> Iterator[FieldChange]:
    """The fields in which two values of one shape differ: keys of mappings, positions in lists of one length."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from differences(old.get(key), new.get(key), f"{name}.{key}" if name else str(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True), 1):
            yield from differences(before, after, f"{name}.{number}")
    elif old != new:
        yield FieldChange(name, old, new)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    plain = isinstance(value, str) and value != "" and value.isprintable()
    text = value if plain else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."
