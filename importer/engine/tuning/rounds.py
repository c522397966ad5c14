"""The order of trials: a warm-up round, rounds of all combinations, then the finals; each round is shuffled."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WARM_UP = 0
MOST_FINAL_ROUNDS = 5


@dataclass(frozen=True)
class Turn:
    """One trial: a combination, by its number, in a round. Trials of round WARM_UP are not counted."""

    round: int
    combination: int


def turns(combinations: int, repeats: int, seed: int, *, warm_up: bool = True) -> list[Turn]:
    """Every combination once in the warm-up round, if there is one, and once in each of `repeats` rounds.

    Rounds spread slow changes of the server's speed over all combinations. The same seed gives the same order.
    """
    return _shuffled(range(combinations), range(WARM_UP if warm_up else WARM_UP + 1, repeats + 1), seed)


def final_rounds(repeats: int) -> int:
    """The number of rounds of the finals: as many as `repeats`, at most MOST_FINAL_ROUNDS."""
    return min(repeats, MOST_FINAL_ROUNDS)


def final_turns(finalists: Sequence[int], repeats: int, seed: int) -> list[Turn]:
    """final_rounds() rounds of the finalists only; their numbers follow those of turns()."""
    return _shuffled(finalists, range(repeats + 1, repeats + final_rounds(repeats) + 1), seed)


def round_name(number: int, repeats: int) -> str:
    """The name of round `number` in a lab with `repeats` counted rounds before the finals."""
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
