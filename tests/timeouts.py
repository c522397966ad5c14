"""A plugin of pytest: one thread for the limits of time of all tests, where pytest-timeout has one for each."""

import threading
from time import monotonic
from typing import Any

import pytest
from pytest_timeout import timeout_timer

# Seconds between two looks.
LOOK_EVERY = 1
# The present test with its settings, and when it must have ended.
_running: tuple[float, pytest.Item, Any] | None = None
_watch: threading.Thread | None = None


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    """Begin to count the test's time."""
    global _running, _watch
    _running = monotonic() + settings.timeout, item, settings
    if not _watch:
        _watch = threading.Thread(target=_look, name="limits of time", daemon=True)
        _watch.start()
    return True


def pytest_timeout_cancel_timer(item: pytest.Item) -> bool:
    """The test has ended."""
    global _running
    _running = None
    return True


def _look() -> None:
    """End the process with the stacks of all threads when a test has run for too long."""
    # Tests change the functions of `time`.
    pause = threading.Event()
    while not pause.wait(LOOK_EVERY):
        running = _running
        if running and monotonic() > running[0]:
            timeout_timer(*running[1:])
