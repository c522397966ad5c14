"""Counts the work of a call, where its time would depend on the machine."""

from collections.abc import Callable
from cProfile import Profile
from dataclasses import dataclass
from typing import Any

from django.db import connection

# Steps between two calls of SQLite's progress handler.
COUNTED = 100


@dataclass(frozen=True)
class Cost:
    """Functions called, of Python and of C, and steps of SQLite's virtual machine."""

    calls: int
    steps: int


def calls_of(do: Callable[[], Any], folder: str = "") -> int:
    """The functions that a call of `do` calls, of Python and of C; with `folder`, those of Python in such a path.

    Counted in C, which takes a fraction of the time of a function of Python for each call.
    """
    profile = Profile(builtins=not folder)
    profile.runcall(do)
    return sum(
        each.callcount
        for each in profile.getstats()
        if not folder or (not isinstance(each.code, str) and folder in each.code.co_filename)
    )


def cost_of(do: Callable[[], Any]) -> Cost:
    """Count the work of a call in this thread. The application's tables must be in SQLite, as in the tests."""
    steps = 0

    def count_steps() -> int:
        nonlocal steps
        steps += COUNTED
        return 0

    connection.ensure_connection()
    connection.connection.set_progress_handler(count_steps, COUNTED)
    try:
        calls = calls_of(do)
    finally:
        connection.connection.set_progress_handler(None, 0)
    return Cost(calls, steps)
