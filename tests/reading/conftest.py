"""Fixtures of the cases: a folder for the file, and the server in the case's time zone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.targets import TestServer

pytest.register_assert_rewrite("tests.reading.check")  # A failure there shows the values.


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    """For the file; working copies and rejects are in the same folder."""
    settings.PLAIN_DIR, settings.REJECTS_DIR = tmp_path / "plain", tmp_path / "rejects"
    return tmp_path


@pytest.fixture
def in_zone(request: pytest.FixtureRequest, server: TestServer) -> Iterator[None]:
    """The server is in the case's time zone."""
    zone = request.getfixturevalue("case").zone
    if zone:
        server.run(f"SET GLOBAL time_zone = '{zone}'")
    yield
    if zone:
        server.run("SET GLOBAL time_zone = 'SYSTEM'")
