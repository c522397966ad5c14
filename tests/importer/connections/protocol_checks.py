"""Checks that the tests of all protocols share."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from importer import connections
from importer.connections.listed_files import ListedFile
from importer.engine.errors import Problem
from importer.models import SourceConnection

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def find(connection: SourceConnection, pattern: str = "*.csv", subfolders: bool = False) -> list[ListedFile]:
    return connections.find(connection, pattern, NOW, UTC, subfolders)


def expect_refusal(connection: SourceConnection, change: Mapping[str, Any], said: str) -> None:
    """With these fields and settings changed, listing fails, and the check's last finding is a failure."""
    for name, value in change.items():
        if hasattr(connection, name):
            setattr(connection, name, value)
        else:
            connection.settings[name] = value
    with pytest.raises(Problem, match=said):
        find(connection)
    assert connections.check(connection)[-1]["status"] == "fail"
