"""Nobody but the test works on its jobs, where it asks for that."""

from collections.abc import Iterator

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
