"""Ranks combinations by their trials: medians, spreads, order and confidence. Numbers only.

Rates differ from run to run, and there are few runs. Nothing is assumed about their distribution: the statistics are
medians, the middle half of the runs, and for two combinations the exact Mann-Whitney test.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from statistics import median, quantiles

# Largest probability of the order by chance for high and for medium confidence. Three runs of each combination reach
# 1 in 20, five reach 1 in 252.
HIGH, MEDIUM = 0.01, 0.05
NONE_SEEN = "no difference seen"


@dataclass(frozen=True)
class Measured:
    """The rates (rows per second) of one combination's trials, without the warm-up; `failed` trials gave no rate.

    `final`: it also ran in the finals, so it has more rates.
    """

    combination: int
    rates: tuple[float, ...]
    failed: int = 0
    final: bool = False

    @property
    def median(self) -> float:
        return median(self.rates)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The lower and upper quartile: the middle half of the rates lies between them."""
        if len(self.rates) < 2:
            return self.rates[0], self.rates[0]
        low, _, high = quantiles(self.rates, n=4, method="inclusive")
        return low, high

    @property
    def spread(self) -> float:
        """The width of the middle half as a share of the median."""
        low, high = self.quartiles
        return (high - low) / self.median


@dataclass(frozen=True)
class Ranked:
    """A combination in the ranking.

    `of_best` is its median as a share of the first one's; it may exceed 1 if only the first one was in the finals.
    `behind` is the probability that it is so far behind the first one by chance. `overlaps`: one of its runs was at
    least as fast as one of the first one's.
    """

    measured: Measured
    of_best: float
    behind: float
    overlaps: bool

    @property
    def level_with_best(self) -> bool:
        """Whether the runs show no significant difference from the best."""
        return self.behind > MEDIUM

    @property
    def difference(self) -> str:
        """How it compares with the best: NONE_SEEN, "perhaps slower" if there are too few runs to tell, or "slower"."""
        if not self.level_with_best:
            return "slower"
        return NONE_SEEN if self.overlaps or len(self.measured.rates) == 1 else "perhaps slower"


def rank(measured: Iterable[Measured]) -> list[Ranked]:
    """The combinations with rates: those of the finals before all others, each group by median, the highest first."""
    ordered = sorted((each for each in measured if each.rates), key=lambda each: (not each.final, -each.median))
    return [
        Ranked(
            each,
            each.median / ordered[0].median,
            1.0 if each is ordered[0] else chance(ordered[0].rates, each.rates),
            max(each.rates) >= min(ordered[0].rates),
        )
        for each in ordered
    ]


def chance(faster: Sequence[float], slower: Sequence[float]) -> float:
    """The probability that `faster` is so far ahead if both are equal: exact, one-sided; ties count against it."""
    wins = sum(one > other for one in faster for other in slower)
    m, n = len(faster), len(slower)
    return sum(_orders(m, n, count) for count in range(wins, m * n + 1)) / comb(m + n, m)


@cache
def _orders(m: int, n: int, wins: int) -> int:
    """The number of orders of m and n runs in which the m win exactly `wins` of the m x n comparisons."""
    if wins < 0:
        return 0
    if not m or not n:
        return int(wins == 0)
    return _orders(m - 1, n, wins - n) + _orders(m, n - 1, wins)


def confidence(behind: float, runs: int) -> str:
    """One of "high", "medium" and "low", or "none" if `runs`, the smaller number of runs of the two, is 1."""
    if runs < 2:
        return "none"
    return "high" if behind <= HIGH else "medium" if behind <= MEDIUM else "low"
