"""Converts a plan to JSON for storage, and back; and reads stored options. Reads what older versions stored as well."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from importer.engine.plan.options import ALL_ROWS, Options
from importer.engine.plan.plan import ImportPlan, LoadStatements
from importer.engine.stored import from_json, to_json

# The number of this release's stored plans. A release increases it if its plans may ask for something that workers of
# the release before would not do: another method, another form of chunks. They leave such a plan alone. They must still
# be able to read and show it: keys are added, and none changes its type.
FORMAT = 1
FORMAT_KEY = "format"
# What plans had that were stored before there was a number.
FIRST_FORMAT = 1
# A method of older versions: INSERT with a row and a commit each.
_SINGLE = "insert_single"

# Fields whose JSON key has another name.
_PLAN_KEYS = {"temporary_changes": "arrangement"}
_STATEMENT_KEYS = {
    "plain": "statement",
    "null_word": "null_word_statement",
    "traced": "traced_statement",
    "as_bytes": "bytes_statement",
    "as_bytes_ascii_only": "bytes_ascii_only",
    "pipe_folder": "files_folder",
}


def plan_to_json(plan: ImportPlan) -> dict[str, Any]:
    """The plan as one flat object: the statements are keys next to the others, where queries and reports read them."""
    values = to_json(plan, _PLAN_KEYS)
    del values["statements"]
    return {FORMAT_KEY: FORMAT, **to_json(plan.statements, _STATEMENT_KEYS), **values}


def format_of(values: Mapping[str, Any]) -> int:
    """The number of the stored plan."""
    return int(values.get(FORMAT_KEY, FIRST_FORMAT))


def is_newer(values: Mapping[str, Any]) -> bool:
    """Whether a newer release has stored the plan, so that this one does not know all that it asks for."""
    return format_of(values) > FORMAT


def plan_from_json(values: Mapping[str, Any]) -> ImportPlan:
    """The plan that plan_to_json() or an older version wrote.

    Raises msgspec.ValidationError, with the path, for a value that the annotations do not allow.
    """
    keys = {each.name: _STATEMENT_KEYS.get(each.name, each.name) for each in fields(LoadStatements)}
    statements = {name: values[key] for name, key in keys.items() if key in values}
    if statements.get("method") == _SINGLE:
        statements["method"] = "insert"
    return from_json(ImportPlan, {**values, "statements": statements}, _PLAN_KEYS)


def options_from_json(values: Mapping[str, Any]) -> Options:
    """The options that to_json() or an older version wrote. Raises as plan_from_json() does."""
    return from_json(Options, options_as_now(values))


def options_as_now(values: Mapping[str, Any]) -> dict[str, Any]:
    """Stored options, in which today's say what removed ones said: `reject_limit`, and the method insert_single."""
    now = dict(values)
    stated = (now.get("max_rejects"), now.get("max_reject_percent")) != (None, None)
    if now.get("on_error") == "reject" and now.get("reject_limit") == "none" and not stated:
        now["max_reject_percent"] = ALL_ROWS
    if "scope" not in now and now.get("on_duplicate") == "fail":
        now["on_duplicate"] = ""  # Older versions had one word for what now depends on the mode.
    if now.get("method") == _SINGLE:
        now |= {"method": "insert", "rows_per_statement": 1, "commit_rows": 1}
    return now
