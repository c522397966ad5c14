"""Which of several targets or connections a form begins with: one that its last check has found ready."""

from collections.abc import Iterable
from typing import TypeVar

from importer.models import SourceConnection, Target

Checked = TypeVar("Checked", Target, SourceConnection)


def ready_first(rows: Iterable[Checked]) -> list[Checked]:
    """The rows in their order: those that are ready, those that nobody has checked, those with a problem to fix."""
    return sorted(rows, key=_standing)


def _standing(row: Target | SourceConnection) -> int:
    if not row.checked_at:
        return 1
    return 2 if any(each["status"] == "fail" for each in row.findings) else 0
