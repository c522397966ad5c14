"""The report of an import with all of its keys (docs/contracts.md, The report)."""

from collections.abc import Mapping
from typing import Any

from config.contracts.documents import REPORT
from config.contracts.outcomes import Outcome

NO_ROWS = dict.fromkeys(("source", "loaded", "replaced", "unchanged", "skipped", "rejected", "missing"), 0)


def complete(ended: Outcome | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """The report with all keys, in their order; those without a value are empty."""
    nothing: dict[str, Any] = {
        "schema": REPORT.schema,
        "job": None,
        "outcome": ended and ended.words,
        "exit_code": ended and ended.exit_code,
        "colour": ended and ended.colour.value,
        "rows": {**NO_ROWS, "source_is_final": False},
        "files": [],
        "lines": {},
        "balanced": False,
        "reading": None,
        "plan": None,
        "loaded_before": None,
        "approval": None,
        "priority": None,
        "seconds": {},
        "rates": {},
        "why": [],
        "attempts": [],
        "hosts": {},
        "rejects": {},
        "notices": [],
        "problem": None,
        "debug": {},
    }
    return {**nothing, **values}
