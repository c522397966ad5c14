"""In which order trials run: rounds of all combinations, each round shuffled, after one that only warms up; then the
finals, rounds of the best few.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WARM_UP = 0
MOST_FINAL_ROUNDS = 5


@dataclass(frozen=True)
class Turn:
    """A combination, by its number, in a round; those of round WARM_UP are not counted."""

    round: int
    combination: int


def turns(combinations: int, repeats: int, seed: int, *, warm_up: bool = True) -> list[Turn]:
    """Every combination once in the warm-up round, if there is one, and in each of `repeats` rounds.

    So what changes on the server from minute to minute meets all of them alike. The same seed gives the same order.
    """
    return _shuffled(range(combinations), range(WARM_UP if warm_up else WARM_UP + 1, repeats + 1), seed)


def final_rounds(repeats: int) -> int:
    """As many again, while they are few."""
    return min(repeats, MOST_FINAL_ROUNDS)


def final_turns(finalists: Sequence[int], repeats: int, seed: int) -> list[Turn]:
    """final_rounds() of these combinations only, which follow those of turns()."""
    return _shuffled(finalists, range(repeats + 1, repeats + final_rounds(repeats) + 1), seed)


def round_name(number: int, repeats: int) -> str:
    """What a round is called where turns() had `repeats` of them."""
    if number == WARM_UP:
        return "warm-up"
    return f"round {number}" if number <= repeats else f"final {number - repeats}"


def _shuffled(combinations: Sequence[int], rounds: Iterable[int], seed: int) -> list[Turn]:
    shuffled = random.Random(seed)  # noqa: S311 - an order, not a secret
    order: list[Turn] = []
    for number in rounds:
        numbers = list(combinations)
        shuffled.shuffle(numbers)
        order += [Turn(number, each) for each in numbers]
    return order
