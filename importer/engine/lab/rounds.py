"""In which order trials run: rounds of all combinations, each round shuffled, after one that only warms up."""

import random
from dataclasses import dataclass

WARM_UP = 0


@dataclass(frozen=True)
class Turn:
    """A combination, by its number, in a round; those of round WARM_UP are not counted."""

    round: int
    combination: int


def turns(combinations: int, repeats: int, seed: int, *, warm_up: bool = True) -> list[Turn]:
    """Every combination once in the warm-up round, if there is one, and in each of `repeats` rounds.

    So what changes on the server from minute to minute meets all of them alike. The same seed gives the same order.
    """
    shuffled = random.Random(seed)  # noqa: S311 - an order, not a secret
    order: list[Turn] = []
    for number in range(WARM_UP if warm_up else WARM_UP + 1, repeats + 1):
        numbers = list(range(combinations))
        shuffled.shuffle(numbers)
        order += [Turn(number, each) for each in numbers]
    return order
