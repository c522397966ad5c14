"""The report of an import with all of its keys (docs/contracts.md, The report)."""

from collections.abc import Mapping
from typing import Any

from config.contracts.documents import REPORT
from config.contracts.outcomes import UNAPPROVED, Outcome

NO_ROWS = dict.fromkeys(
    ("source", "loaded", "replaced", "unchanged", "skipped", "rejected", "deleted", "marked", "missing"), 0
)


def complete(ended: Outcome | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """The report with all keys, in their order; those without a value are empty."""
    nothing: dict[str, Any] = {
        "schema": REPORT.schema,
        "job": None,
        "outcome": ended and ended.words,
        "exit_code": ended and ended.exit_code,
        "then": None,
        "colour": ended and ended.colour.value,
        "rows": {**NO_ROWS, "source_is_final": False},
        "files": [],
        "lines": {},
        "balanced": False,
        "compared": None,
        "undo": None,
        "reading": None,
        "plan": None,
        "loaded_before": None,
        "approval": None,
        "priority": None,
        "seconds": {},
        "rates": {},
        "why": [],
        "attempts": [],
        "lock_waits": [],
        "hosts": {},
        "rejects": {},
        "notices": [],
        "outside_changes": [],
        "problem": None,
        "held_up": None,
        "debug": {},
    }
    return {**nothing, **values}


def is_over(report: Mapping[str, Any]) -> bool:
    """Whether nothing happens any more without somebody else: the import has ended, or waits for approval.

    Before it waits, the whole file is read for the plan that is approved.
    """
    waits = report["exit_code"] == UNAPPROVED.exit_code
    return report["outcome"] is not None and (not waits or report["approval"] is not None)
