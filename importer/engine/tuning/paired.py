"""Compares two combinations by the ratios of their rates in the rounds that both have: exact, and without assumptions
about the distribution of rates. Numbers only.

The test is Wilcoxon's signed-rank test on the logarithms of the ratios, its probability counted over all signs; the
interval is the set of ratios that the test does not reject. Within a round both combinations met the same server, one
after the other in an order that is counterbalanced, so without a difference a ratio is as likely to be r as 1/r. That
is all that the test assumes. (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3.1 and 3.3.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import exp, log
from statistics import median

# The least coverage of an interval that has enough rounds for it, and the largest probability of an order by chance.
LEVEL, MEDIUM = 0.9, 0.05
# The fewest rounds in which the test can reach MEDIUM: 1 in 2 ** 5.
LEAST_ROUNDS = 5


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one combination is as another: the estimate `times`, and the interval `low` to `high`.

    `level` is the coverage of the interval, 0 to 1. It is LEVEL or more from LEAST_ROUNDS `rounds` on, and less before.
    """

    times: float
    low: float
    high: float
    level: float
    rounds: int


def log_ratios(one: Mapping[int, float], other: Mapping[int, float]) -> list[float]:
    """The logarithms of one's rate divided by the other's, for each round (the key) that both have."""
    return [log(one[number] / other[number]) for number in sorted(one.keys() & other.keys())]


def interval(logs: Sequence[float]) -> Ratio | None:
    """The ratio with its interval (Hodges and Lehmann's estimate, Tukey's interval); None below two rounds."""
    if len(logs) < 2:
        return None
    averages = sorted((one + other) / 2 for one, other in combinations_with_replacement(logs, 2))
    tails = _tails(list(range(2, 2 * len(logs) + 1, 2)))
    # Each average that is cut off at an end is one step of the rank sum.
    cut = max((each for each in range(len(averages) // 2) if 1 - 2 * tails[2 * each] >= LEVEL), default=0)
    low, high = averages[cut], averages[-1 - cut]
    return Ratio(exp(median(averages)), exp(low), exp(high), 1 - 2 * tails[2 * cut], len(logs))


def chance(logs: Sequence[float]) -> float:
    """The probability that ratios are so clearly above 1 if there is no difference: one-sided; equal rates count
    against it. 1 without rounds.
    """
    sizes = sorted(abs(each) for each in logs)
    # Doubled, so that the mean rank of equal sizes is a whole number.
    ranks = [2 * sizes.index(abs(each)) + sizes.count(abs(each)) + 1 for each in logs]
    against = sum(rank for rank, each in zip(ranks, logs, strict=True) if each <= 0)
    return _tails(ranks)[against]


def _tails(ranks: Sequence[int]) -> list[float]:
    """For each sum from 0 on: the probability that the ranks with one sign add up to at most this sum."""
    counts = [1] + [0] * sum(ranks)
    for rank in ranks:
        counts = [count + (counts[total - rank] if total >= rank else 0) for total, count in enumerate(counts)]
    tails, so_far = [], 0
    for count in counts:
        so_far += count
        tails.append(so_far / 2 ** len(ranks))
    return tails
