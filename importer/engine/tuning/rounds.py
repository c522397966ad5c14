"""The order of trials: a warm-up round, rounds of all combinations, then the finals. Each round is a block.

The order within rounds is counterbalanced: each round is turned by a third against the one before, so each combination
comes first, in the middle and last about equally often. So slow changes of the server's speed, and what a position in
the round makes, fall on all combinations alike.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

WARM_UP = 0
# The fewest and the most rounds that tell. With 5 a combination that is 20 % faster is found in 6 labs of 10 whose runs
# vary by 10 %, with 8 in 9 (tests/engine/tuning/test_simulated_labs.py).
LEAST_TELLING, MOST_TELLING = 8, 10
# First, middle and last.
PARTS = 3


@dataclass(frozen=True)
class Turn:
    """One trial: a combination, by its number, in a round. Trials of round WARM_UP are not counted."""

    round: int
    combination: int


def turns(combinations: Sequence[int] | int, repeats: int, seed: int, *, warm_up: bool = True) -> list[Turn]:
    """Every combination once in the warm-up round, if there is one, and once in each of `repeats` rounds.

    `combinations`: their numbers, or how many there are. The same seed gives the same order.
    """
    numbers = range(combinations) if isinstance(combinations, int) else combinations
    first = _balanced(numbers, [WARM_UP], seed) if warm_up else []
    return first + _balanced(numbers, range(WARM_UP + 1, repeats + 1), seed)


def final_rounds(repeats: int, *, chosen: bool) -> int:
    """The number of rounds of the finals after `repeats` rounds.

    `chosen`: whether combinations were left behind, so that only the finals tell; else all rounds do.
    """
    telling = min(max(LEAST_TELLING, 2 * repeats), MOST_TELLING)
    return telling if chosen else max(0, telling - repeats)


def final_turns(finalists: Sequence[int], repeats: int, seed: int, *, chosen: bool) -> list[Turn]:
    """final_rounds() rounds of the finalists only; their numbers follow those of turns()."""
    last = repeats + final_rounds(repeats, chosen=chosen)
    return _balanced(finalists, range(repeats + 1, last + 1), seed)


def round_name(number: int, repeats: int) -> str:
    """The name of round `number` in a lab with `repeats` counted rounds before the finals."""
    if number == WARM_UP:
        return "warm-up"
    return f"round {number}" if number <= repeats else f"final {number - repeats}"


def _balanced(combinations: Sequence[int], rounds: Iterable[int], seed: int) -> list[Turn]:
    """The turns of these rounds, in which each combination comes first, in the middle and last about equally often."""
    shuffled = random.Random(seed)  # noqa: S311 - an order, not a secret
    numbers = shuffled.sample(combinations, len(combinations))
    order: list[Turn] = []
    for at, number in enumerate(rounds if numbers else ()):
        turned = _turned(numbers, at)
        # The order within a part is free, except for the first and the last place.
        for low, high in pairwise((1, len(turned) // PARTS, 2 * len(turned) // PARTS, len(turned) - 1)):
            turned[low:high] = shuffled.sample(turned[low:high], max(0, high - low))
        order += [Turn(number, each) for each in turned]
    return order


def _turned(numbers: Sequence[int], at: int) -> list[int]:
    """The numbers in round `at` (from 0): turned by a third in each round, so that in as many rounds as there are
    numbers each has each place once. The next rounds of that many are in the reverse order.
    """
    count = len(numbers)
    step = max(1, round(count / PARTS))
    until_same = count // gcd(step, count)
    shift = (at * step + at // until_same) % count
    turned = [*numbers[shift:], *numbers[:shift]]
    return turned[::-1] if at // count % 2 else turned
