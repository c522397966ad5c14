"""Says messages of the engine for people at a browser: an option of the command line becomes the field of the form.

The engine's messages name options, such as `--on-error reject`. Pages say “Invalid rows: reject” instead.
"""

import re
from collections.abc import Mapping

from dashboard.fields.format_fields import FORMAT_FIELDS
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.plan.option_specs import OPTIONS

# Switches of the command line, and what the form calls them.
_SWITCHES = {
    "--header": "Header row: Yes",
    "--no-header": "Header row: No",
    "--trailing-delimiter": "Trailing delimiter: Ignore",
    "--no-trailing-delimiter": "Trailing delimiter: Empty column",
    "--keep-blank-lines": "Blank lines: Load as rows",
    "--skip-repeated-header": "Repeated header rows: Skip",
    "--no-skip-repeated-header": "Repeated header rows: Load as data",
    "--unquoted-empty-null": "Unquoted empty value: NULL",
    "--ignore-fields": "Column: left out",
    "--accept-guesses": "Accept the first answers",
    "--once": "Repeated content: Refuse it",
    "--no-once": "Repeated content: Load it, with a note",
    "--clear-password": "Allow a readable password",
    "--allow-private": "Private addresses allowed",
}
# Options with a value that are neither in OPTIONS nor a field of the format.
_FIELDS = {
    "--null": "NULL is written as",
    "--map": "Column",
    "--match": "Match columns by",
    "--type": "Type",
    "--primary-key": "Primary key",
    "--tls": "TLS",
    "--tls-ca": "CA file",
}
# Of --map FIELD=COLUMN:READING, the readings with a value.
_OF_READINGS = {"null": _FIELDS["--null"], "date": "Date and time format"}
_OF_ONE = ("--map", "--type")
_VALUE = r"'[^']*'|[\w#=*+:/][\w#=*+:/-]*(?:\([^)]*\))?"
_OPTION = re.compile(rf"--([a-z][a-z-]+)(?: ({_VALUE}))?")


def in_browser(text: str) -> str:
    """The text with each option of an import as the field of the form; other options stay as they are."""
    return _OPTION.sub(_as_field, text)


def _as_field(found: re.Match[str]) -> str:
    flag, value = f"--{found[1]}", found[2]
    if flag in _SWITCHES:
        return f"“{_SWITCHES[flag]}”" + (f" {value}" if value else "")
    if flag not in _LABELS:
        return found[0]
    if not value:
        return f"“{_LABELS[flag]}”"
    if flag in _OF_ONE and "=" in value:
        return _of_one(flag, value.strip("'"))
    return f"“{_LABELS[flag]}: {_words(flag, value)}”"


def _of_one(flag: str, value: str) -> str:
    """A field of one column's header: NAME=TYPE, or FIELD=COLUMN:READING."""
    name, _, text = value.partition("=")
    column, _, reading = text.partition(":")
    if flag == "--map" and reading:
        return f"“{_reading(reading)}” for {name}"
    return f"“{_LABELS[flag]}: {column if flag == '--map' else text}” for {name}"


def _reading(words: str) -> str:
    """The field of a column's header for how --map reads its values, with the words of the page."""
    kind, _, value = words.partition("=")
    if kind in _OF_READINGS:
        return f"{_OF_READINGS[kind]}: {value or 'nothing'}"
    return "Read as: " + ", ".join(TRANSFORMS[name].label if name in TRANSFORMS else name for name in words.split(","))


def _words(flag: str, value: str) -> str:
    text = value.strip("'")
    return _OFFERED.get(flag, {}).get(text, text) or "nothing"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


_LABELS: Mapping[str, str] = {
    **_FIELDS,
    **{_flag(name): each.label for name, each in FORMAT_FIELDS.items()},
    **{each.flag: each.label for each in OPTIONS},
}
# The words of each value that an option's form offers.
_OFFERED: Mapping[str, Mapping[str, str]] = {each.flag: each.offered for each in OPTIONS}
