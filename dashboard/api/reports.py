"""The report of an import in answers: docs/contracts.md describes it, and docs/schemas/report.json is its schema."""

from typing import Annotated, Any

from pydantic import WithJsonSchema

# What the description of the API has of it.
SCHEMA = {
    "type": "object",
    "description": "The report of an import (docs/contracts.md); docs/schemas/report.json is its whole schema.",
    "required": ["schema", "job", "outcome", "exit_code", "rows", "balanced", "reading", "plan", "problem"],
    "properties": {
        "schema": {"type": "string", "examples": ["millrace.report/1"]},
        "job": {"type": ["integer", "null"], "description": "Null of an import that did not begin."},
        "outcome": {"type": ["string", "null"], "description": "Null while the import is under way."},
        "exit_code": {"type": ["integer", "null"]},
        "rows": {"type": "object"},
        "why": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Of an import under way: why it waits or is slow.",
        },
        "balanced": {"type": "boolean"},
        "reading": {"type": ["object", "null"]},
        "plan": {"type": ["object", "null"]},
        "loaded_before": {
            "type": ["object", "null"],
            "description": "The import that had loaded the same content into the table: job, at, by, rows.",
        },
        "problem": {"type": ["object", "null"]},
    },
}
# In the description of an operation, dashboard/api/openapi.py puts a reference to the schema in its place.
PLACE = {"title": "Report", "type": "object"}
Report = Annotated[dict[str, Any], WithJsonSchema(PLACE)]
