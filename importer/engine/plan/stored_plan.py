"""Converts a plan to JSON for storage, and back. Reads what older versions stored as well."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from importer.engine.plan.plan import ImportPlan, LoadStatements
from importer.engine.stored import from_json, to_json

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
    return {**to_json(plan.statements, _STATEMENT_KEYS), **values}


def plan_from_json(values: Mapping[str, Any]) -> ImportPlan:
    """The plan that plan_to_json() or an older version wrote.

    Raises msgspec.ValidationError, with the path, for a value that the annotations do not allow.
    """
    keys = {each.name: _STATEMENT_KEYS.get(each.name, each.name) for each in fields(LoadStatements)}
    statements = {name: values[key] for name, key in keys.items() if key in values}
    return from_json(ImportPlan, {**values, "statements": statements}, _PLAN_KEYS)
