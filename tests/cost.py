"""Counts the work of a call, where its time would depend on the machine."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from django.db import connection

# Steps between two calls of SQLite's progress handler.
COUNTED = 100


@dataclass(frozen=True)
class Cost:
    """Functions called, of Python and of C, and steps of SQLite's virtual machine."""

    calls: int
    steps: int


def cost_of(do: Callable[[], Any]) -> Cost:
    """Count the work of a call in this thread. The application's tables must be in SQLite, as in the tests."""
    calls = steps = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    def count_steps() -> int:
        nonlocal steps
        steps += COUNTED
        return 0

    connection.ensure_connection()
    connection.connection.set_progress_handler(count_steps, COUNTED)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        do()
    finally:
        sys.setprofile(before)
        connection.connection.set_progress_handler(None, 0)
    return Cost(calls, steps)
