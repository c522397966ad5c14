"""Remembers what was found out about the values of a field: each preview of a file asks the same of the same sample."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
# Answers that a function keeps: a preview of a thousand fields finds those of the one before.
MOST_KEPT = 2048


class _Values:
    """Values with their counts, as a part of a key."""

    __slots__ = ("_hash", "_items", "counts")

    def __init__(self, counts: dict[str, Any]) -> None:
        self.counts = counts
        self._items = tuple(counts.items())
        self._hash = hash(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Values) and self._items == other._items


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which keeps its last MOST_KEPT answers. Its arguments are values with their counts, or hashable.

    Nobody may change an answer.
    """

    answer: Callable[..., R] = function

    def computed(*args: Any, **named: Any) -> R:
        return answer(*(each.counts if isinstance(each, _Values) else each for each in args), **named)

    kept: Callable[..., R] = lru_cache(MOST_KEPT)(computed)

    @wraps(function)
    def asked(*args: P.args, **named: P.kwargs) -> R:
        return kept(*(_Values(each) if isinstance(each, dict) else each for each in args), **named)

    return asked
