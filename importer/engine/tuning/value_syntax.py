"""Parses and writes lists of values of a lab's settings: `256K, 1M` for chunk sizes, `on, off` for switches."""

from collections.abc import Iterable

from importer.engine.errors import Problem
from importer.engine.plan.option_kinds import NONE
from importer.engine.plan.option_specs import named
from importer.engine.tuning.grid import TUNABLE, Value


def read_values(name: str, text: str) -> tuple[Value, ...]:
    """Parse a list such as `1M, 4M` into values of the setting, without repetitions. Raises Problem for other texts."""
    if name not in TUNABLE:
        raise Problem(f"A lab cannot vary {name}.", advice=f"It can vary {', '.join(TUNABLE)}.", option=name)
    parts = [each.strip() for each in text.split(",")]
    return tuple(dict.fromkeys(_read(name, each) for each in parts if each))


def write_values(name: str, values: Iterable[Value]) -> str:
    """The inverse of read_values()."""
    return ", ".join(NONE if each is None else named(name).kind.write(each) for each in values)


def _read(name: str, text: str) -> Value:
    kind = named(name).kind
    try:
        value: Value = None if text == NONE else kind.read(text)
        return value
    except ValueError:
        what = f"{name} {text!r} is not {kind.texts}."
        raise Problem(what, advice="Write values with commas between.", option=name) from None
