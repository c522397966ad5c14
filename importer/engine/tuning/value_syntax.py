"""Parses and writes lists of values of a lab's settings: `256K, 1M` for chunk sizes, `on, off` for switches."""

from collections.abc import Iterable

from importer.engine.errors import Problem
from importer.engine.plan.option_specs import OptionKind, named
from importer.engine.tuning.grid import TUNABLE, Value
from importer.engine.units import parse_size, short_size

NONE = "none"


def read_values(name: str, text: str) -> tuple[Value, ...]:
    """Parse a list such as `1M, 4M` into values of the setting, without repetitions. Raises Problem for other texts."""
    if name not in TUNABLE:
        raise Problem(f"A lab cannot vary {name}.", advice=f"It can vary {', '.join(TUNABLE)}.", option=name)
    parts = [each.strip() for each in text.split(",")]
    return tuple(dict.fromkeys(_read(name, each) for each in parts if each))


def write_values(name: str, values: Iterable[Value]) -> str:
    """The inverse of read_values()."""
    return ", ".join(_write(name, each) for each in values)


def _read(name: str, text: str) -> Value:
    if text == NONE:
        return None
    option = named(name)
    if option.kind is OptionKind.SWITCH:
        if text in ("on", "off"):
            return text == "on"
        raise Problem(f"{name} {text!r} is not on or off.", advice="Write on, off.", option=name)
    if option.kind is OptionKind.CHOICE:
        return text
    if option.kind is OptionKind.SIZE:
        size = parse_size(text.replace(" ", ""))
        if size:
            return size
        raise Problem(f"{text!r} is not a size such as 512K, 32M or 1G.", advice="Write 256K, 1M, 4M.", option=name)
    number = text.replace("_", "")
    if number.isascii() and number.isdigit() and len(number) < 19:
        return int(number)
    raise Problem(f"{name} {text!r} is not a number.", advice="Write whole numbers with commas between.", option=name)


def _write(name: str, value: Value) -> str:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "on" if value else "off"
    return short_size(value) if named(name).kind is OptionKind.SIZE and isinstance(value, int) else str(value)
