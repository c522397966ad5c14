"""For tests that take a job's steps themselves: nobody else works on it, and its copies lie in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack import Stack


@pytest.fixture(scope="module")
def no_workers() -> Iterator[None]:
    """The stack's workers, if earlier tests have started them, rest while this module's tests take the steps."""
    stack = Stack.started
    if stack:
        stack.stop_workers()
    yield
    if stack:
        stack.start_workers()


@pytest.fixture
def plain_dir(settings, tmp_path: Path) -> Path:
    """The folder for plain and sorted copies; rejects have another of the test's own."""
    settings.PLAIN_DIR, settings.REJECTS_DIR = tmp_path / "plain", tmp_path / "rejects"
    return settings.PLAIN_DIR
