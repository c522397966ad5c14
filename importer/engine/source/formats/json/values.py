"""Reads JSON objects as rows: each value is its own text in the file, so that no digit of a number is lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from importer.engine.errors import RecordUnreadable, SourceProblem
from importer.engine.source.formats.copy_records import LINE_END, NULL, TAB, RowRefused
from importer.engine.source.formats.format import MOST_FIELDS
from importer.engine.source.records.copy_escapes import ESCAPED, escaped
from importer.engine.source.records.refused import (
    CUT_JSON,
    HALF_CHARACTER,
    KEY_TWICE,
    NO_JSON,
    NO_OBJECT,
    NOT_UTF8,
    TOO_DEEP,
    UNKNOWN_KEY,
)
from importer.engine.source.records.row_error import shortened

if TYPE_CHECKING:
    import msgspec

_WHITE = b" \t\r\n"
_KINDS = {"[": "an array", '"': "a text", "t": "true", "f": "false", "n": "null"}
# Of a file with very many different sets of keys, no more are remembered.
MOST_SHAPES = 1000


@cache
def _objects() -> msgspec.json.Decoder[dict[str, msgspec.Raw]]:
    import msgspec  # Here, because only JSON files need it.

    return msgspec.json.Decoder(dict[str, msgspec.Raw])


@cache
def _texts() -> msgspec.json.Decoder[str]:
    import msgspec

    return msgspec.json.Decoder(str)


def _refusals() -> tuple[type[Exception], ...]:
    """What msgspec raises for a text that it cannot read: RecursionError for some thousand arrays within each other."""
    import msgspec

    return msgspec.DecodeError, UnicodeError, RecursionError


def where(line: int) -> str:
    return f"line {line:,}"


def members(raw: bytes, line: int) -> dict[str, bytes]:
    """The members of an object, each value as its text in the file. Raises RowRefused if it is no JSON object."""
    try:
        return {name: bytes(value) for name, value in _objects().decode(raw).items()}
    except _refusals() as error:
        raise _no_object(raw, line, error) from error


def _no_object(raw: bytes, line: int, error: Exception) -> RowRefused:
    import msgspec

    text = raw.strip()
    if isinstance(error, msgspec.ValidationError):
        kind = _KINDS.get(text[:1].decode(errors="replace"), "a number")
        what = f"There is {kind} where an object with the values of a row is expected."
        return RowRefused(NO_OBJECT, RecordUnreadable(what, where(line)), raw)
    try:
        json.loads(raw, parse_constant=_refuse_constant)
    except RecursionError:
        return too_deep(line, raw)
    except UnicodeDecodeError as problem:
        return not_utf8(raw, problem, line)
    except ValueError as problem:
        cut = "Unterminated" in str(problem) or getattr(problem, "pos", 0) >= len(text.decode(errors="replace"))
        what = "The JSON ends in the middle of an object" if cut else f"This is no JSON: {problem}"
        shown = shortened(text.decode(errors="replace")[-40:] if cut else text.decode(errors="replace"))
        unreadable = RecordUnreadable(f"{what.rstrip('.')}: {shown}", where(line))
        return RowRefused(CUT_JSON if cut else NO_JSON, unreadable, raw)
    what = "A text has half of a character (a lone surrogate), which no column can store."
    return RowRefused(HALF_CHARACTER, RecordUnreadable(what, where(line)), raw)


def too_deep(line: int, raw: bytes = b"") -> RowRefused:
    """A row that has arrays or objects within each other, too many for the parser."""
    what = "A row has too many arrays or objects within each other to be read."
    return RowRefused(TOO_DEEP, RecordUnreadable(what, where(line)), raw)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"JSON has no {name}")


def not_utf8(raw: bytes, error: UnicodeDecodeError, line: int) -> RowRefused:
    """A row with bytes that are not UTF-8."""
    byte = f"{raw[error.start : error.start + 1].hex()} at position {error.start + 1:,}"
    what = f"The byte {byte} of the line is not UTF-8, which JSON is written in."
    return RowRefused(NOT_UTF8, RecordUnreadable(what, where(line)), raw)


class Keys:
    """The keys of all rows, in the order of their first appearance."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}

    def add(self, raw: bytes, line: int) -> None:
        """Add the keys of a row. Raises RowRefused if it is no object, and SourceProblem for one key too many."""
        try:
            row = _objects().decode(raw)
        except _refusals() as error:
            raise _no_object(raw, line, error) from error
        if not row.keys() <= self._known.keys():
            self._known.update(dict.fromkeys(row))
            if len(self._known) > MOST_FIELDS:
                raise SourceProblem(
                    f"The rows have more than {MOST_FIELDS:,} different keys, and no table has more columns.",
                    where(line),
                    "Write the keys as values: a row for each pair of a key and a value.",
                )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._known)


@dataclass(frozen=True)
class _Shape:
    """The keys of a row: the position of each field among them (-1: it has none), and the bytes of the keys."""

    positions: tuple[int, ...]
    key_bytes: int
    in_order: bool


@dataclass
class JsonRows:
    """Converts the JSON objects of a file to records of the copy with these fields."""

    fields: Sequence[str]
    _shapes: dict[tuple[str, ...], _Shape] = field(default_factory=dict)

    def record(self, raw: bytes, line: int) -> bytes:
        """The record for an object. Raises RowRefused for one that is no JSON, or has a key twice or an unknown one."""
        row = members(raw, line)
        names = tuple(row)
        shape = self._shapes.get(names) or self._shape(names, raw, line)
        values = list(row.values())
        _refuse_keys_twice(raw, values, shape, line)
        if not shape.in_order:
            values = [values[position] if position >= 0 else b"null" for position in shape.positions]
        if any(mark in raw for mark in ESCAPED):
            return TAB.join([_value(value, raw, line) for value in values]) + LINE_END
        plain = [each[1:-1] if each[:1] == b'"' else NULL if each == b"null" else each for each in values]
        return TAB.join(plain) + LINE_END

    def _shape(self, names: tuple[str, ...], raw: bytes, line: int) -> _Shape:
        at = {name: number for number, name in enumerate(names)}
        unknown = [name for name in names if name not in self._known]
        if unknown:
            what = (
                f"The key {unknown[0]!r} is not among those in the first part of the file, from which the import was"
                " planned."
            )
            raise RowRefused(UNKNOWN_KEY, RecordUnreadable(what, where(line)), raw)
        positions = tuple(at.get(name, -1) for name in self.fields)
        key_bytes = sum(len(name.encode().translate(None, _WHITE)) + 3 for name in names)
        shape = _Shape(positions, key_bytes, names == tuple(self.fields))
        if len(self._shapes) < MOST_SHAPES:
            self._shapes[names] = shape
        return shape

    @property
    def _known(self) -> frozenset[str]:
        return frozenset(self.fields)


def _refuse_keys_twice(raw: bytes, values: Sequence[bytes], shape: _Shape, line: int) -> None:
    """Raise RowRefused if the object has a key twice: a parser gives the last value only, and one would be lost.

    An object of n members has two braces, n - 1 commas, and for each key two quotes and a colon. If it has more bytes
    apart from white space than that, its keys and its values, the keys are looked at one by one.
    """
    needed = max(2, len(values) + 1) + shape.key_bytes + len(b"".join(values).translate(None, _WHITE))
    if len(raw.translate(None, _WHITE)) == needed:
        return
    try:
        twice = json.loads(raw, object_pairs_hook=_key_twice)
    except RecursionError as error:
        raise too_deep(line, raw) from error
    if twice:
        raise RowRefused(KEY_TWICE, RecordUnreadable(f"The key {twice!r} stands twice in one row.", where(line)), raw)


def _key_twice(pairs: list[tuple[str, Any]]) -> str:
    """A key that these members have twice; "" for none."""
    names = [name for name, _ in pairs]
    return next((name for number, name in enumerate(names) if name in names[:number]), "")


def _value(value: bytes, row: bytes, line: int) -> bytes:
    if value.startswith(b'"'):
        try:
            return escaped(_texts().decode(value).encode())
        except _refusals() as error:
            refused = _no_object(value, line, error)
            raise RowRefused(refused.refusal, refused.problem, row) from error
    return NULL if value == b"null" else escaped(value)
