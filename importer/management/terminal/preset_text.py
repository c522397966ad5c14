"""Presets as lines for a terminal, from their documents (docs/contracts.md)."""

from collections.abc import Iterator, Mapping
from typing import Any

from importer.engine.plan.options import Options, changed_options
from importer.engine.stored import from_json


def preset_line(preset: Mapping[str, Any]) -> str:
    """A preset in a list."""
    used = f"used {preset['used'][:10]}" if preset["used"] else "not used yet"
    return f"{preset['name']}: {preset['table']} of {preset['target']}, {len(preset['header'])} fields, {used}"


def preset_lines(preset: Mapping[str, Any]) -> Iterator[str]:
    """What a preset sets: the column of each field, the other columns, and the options that differ from the usual."""
    yield f"{preset['name']}: {preset['table']} of {preset['target']}"
    for field, each in zip(preset["header"], preset["mapping"], strict=False):
        how = ", ".join(filter(None, (*each["transforms"], each["datetime_format"])))
        null = f", NULL: {', '.join(each['null_markers'])}" if each["null_markers"] else ""
        yield f"  {field} -> {each['column'] or '(left out)'}{f' ({how})' if how else ''}{null}"
    for filling in preset["fillings"]:
        yield f"  {filling['column']} = {filling['text'] or '@' + filling['source']}"
    for label, value in changed_options(from_json(Options, preset["options"])):
        yield f"  {label}: {value}"
