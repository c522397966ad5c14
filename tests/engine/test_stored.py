"""Dataclasses are stored as JSON and read back, also if an older version stored them."""

import json
from dataclasses import dataclass

import msgspec
import pytest

from importer.engine.stored import from_json, to_json


@dataclass(frozen=True)
class Part:
    name: str
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    ratio: float | None = None
    facts: dict[str, int | float | str | bool] | None = None


WHOLE = Whole((Part("a", (1, 2)), Part("b")), 1, {"rows": 3, "engine": "InnoDB", "empty": True, "share": 0.5})


def through_json(values):
    return json.loads(json.dumps(values))


def test_stored_dataclass_is_read_back():
    assert from_json(Whole, through_json(to_json(WHOLE))) == WHOLE


def test_stored_json_without_a_field_takes_its_default_and_an_unknown_key_is_ignored():
    assert from_json(Whole, {"parts": [{"name": "a", "colour": "red"}], "gone": 1}) == Whole((Part("a"),))


def test_stored_field_may_have_another_key():
    keys = {"parts": "pieces"}
    stored = through_json(to_json(WHOLE, keys))
    assert "pieces" in stored
    assert "parts" not in stored
    assert from_json(Whole, stored, keys) == WHOLE


def test_wrong_stored_value_is_named_by_its_path():
    with pytest.raises(msgspec.ValidationError, match=r"\$\.parts\[0\]\.name"):
        from_json(Whole, {"parts": [{"name": 1}]})
