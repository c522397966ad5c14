"""From the options of `load` and `plan` to the body of a request for an import (docs/api.md)."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

from importer.engine.mapping.columns import FieldOverride
from importer.engine.plan.option_specs import OPTIONS
from importer.engine.source.formats.options import FORMAT_OPTIONS
from importer.management.argument_types import once_each
from importer.management.import_options import FORMAT_FIELDS, SWITCHES

# Their values go as they are written: the server reads them.
_AS_WRITTEN = ("delimiter", "comment", *(each.name for each in FORMAT_OPTIONS))
_FORMAT = ("format", "line_end", *FORMAT_FIELDS, *(each.name for each in FORMAT_OPTIONS))


def keep_written(parser: ArgumentParser) -> None:
    """Let the parser check the options whose values the server reads, and keep them as they are written."""
    for action in parser._actions:
        if action.dest in _AS_WRITTEN and callable(action.type):
            action.type = _checked(action.type)


def _checked(read: Callable[[str], Any]) -> Callable[[str], str]:
    def keep(text: str) -> str:
        read(text)
        return text

    return keep


def body_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Everything but the files. What was not given is left out, so that a preset decides it."""
    wanted = {
        "target": options["target"],
        "table": options["table"],
        "preset": options["preset"],
        "match": options["match"],
        "format": _format(options),
        "null": options["null"],
        "columns": [_column(each) for each in options["map"]],
        "generated": [{"column": each.column, "source": each.source, "text": each.text} for each in options["set"]],
        "add_columns": once_each("--add-column", options["add_column"]),
        "options": _options(options),
        "new_table": _new_table(options),
        "ignore_fields": options["ignore_fields"],
        "accept_guesses": options["accept_guesses"],
        "all_members": options["all_members"],
    }
    return {name: value for name, value in wanted.items() if value}


def _format(options: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: options[name] for name in _FORMAT if options[name] is not None}
    switched = {field: values[options[flag]] for flag, (field, values) in SWITCHES.items() if options[flag] is not None}
    return given | switched


def _column(override: FieldOverride) -> dict[str, Any]:
    values = {
        "field": override.field,
        "column": override.column,
        "transforms": override.transforms,
        "null": override.null_markers,
        "date_format": override.datetime_format,
    }
    return {name: value for name, value in values.items() if value is not None}


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    given = {}
    for each in OPTIONS:
        value = options.get(each.name) if each.flag else None
        if value is not None:
            given[each.name] = once_each(each.flag, value) if isinstance(value, list) else value
    return given


def _new_table(options: Mapping[str, Any]) -> dict[str, Any]:
    made = {"types": dict(options["type"] or ()), "primary_key": options["primary_key"]}
    given: dict[str, Any] = {name: value for name, value in made.items() if value}
    return given | ({"widen": False} if options["no_widen"] else {})
