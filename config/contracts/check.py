"""The document of a check: a whole file that was read and not loaded (docs/schemas/check.json)."""

from collections.abc import Mapping
from typing import Any

from config.contracts.documents import CHECK


def check_document(values: Mapping[str, Any]) -> dict[str, Any]:
    """The document with all keys; those without a value are empty, as of a check that came to no result."""
    nothing: dict[str, Any] = {
        "exit_code": 0,
        "file": None,
        "rows": {"source": 0, "bad": 0, "source_is_final": False},
        "lines": {},
        "reading": None,
        "create_table": None,
        "bad_rows": {"reasons": [], "first": []},
        "problem": None,
    }
    return CHECK.of({**nothing, **values})
