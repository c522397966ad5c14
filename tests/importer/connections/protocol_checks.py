"""Checks that the tests of all protocols share."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from importer.connections import operations
from importer.connections.listed_files import ListedFile
from importer.engine.errors import Problem
from importer.models import SourceConnection

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def find(connection: SourceConnection, pattern: str = "*.csv", subfolders: bool = False) -> list[ListedFile]:
    return operations.find(connection, pattern, NOW, UTC, subfolders)


def expect_names_in_utf8(connection: SourceConnection, base: Path) -> None:
    """Files and folders with other names are left out, and the check names them."""
    for name in (b"caf\xe9.csv", b"b.csv", b"caf\xe9/a.csv", b"caf\xc3\xa9/a.csv"):
        path = Path(os.fsdecode(os.fsencode(base) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.write_text("n\n1\n")
    assert [each.name for each in find(connection)] == ["b.csv"]
    assert set(operations.folders(connection, "")) <= {"café"}
    assert [each.name for each in find(connection, "café/*")] == ["café/a.csv"]
    (found,) = (each for each in operations.check(connection) if each["name"] == "names")
    assert "2 names are not UTF-8" in found["message"]
    assert "caf?.csv" in found["message"]


def expect_missing_base_reported(connection: SourceConnection) -> None:
    connection.base += "/none"
    for pattern in ("*.csv", "{date:%Y}/*.csv"):
        with pytest.raises(Problem, match=r"not there|refuses: 550") as caught:
            find(connection, pattern)
        assert caught.value.where == connection.base


def expect_refusal(connection: SourceConnection, change: Mapping[str, Any], said: str) -> None:
    """With these fields and settings changed, listing fails, and the check's last finding is a failure."""
    for name, value in change.items():
        if hasattr(connection, name):
            setattr(connection, name, value)
        else:
            connection.settings[name] = value
    with pytest.raises(Problem, match=said):
        find(connection)
    assert operations.check(connection)[-1]["status"] == "fail"
