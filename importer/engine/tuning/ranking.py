"""What trials say about combinations: medians, spreads, an order, and how sure it is. Numbers only.

Rates differ from run to run, and a few runs say little. So nothing is assumed about how they are spread: medians, the
middle half of the runs, and of two combinations how likely so clear an order is by chance (exact Mann-Whitney test).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from statistics import median, quantiles

# As likely by chance as that, and the order is taken for sure, or for probable. Three runs each reach 1 in 20, five 1
# in 252.
HIGH, MEDIUM = 0.01, 0.05


@dataclass(frozen=True)
class Measured:
    """The rows per second of one combination's trials, warm-up left out; `failed` of them gave none.

    `final`: it ran in the finals, too, so its rates are more and owe less to luck.
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
        """The middle half of the runs lies between them."""
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
    """A combination in its place: `behind` is how likely it looks so far behind the best only by chance.

    `of_best` is its median beside the best one's; more than 1 where that was in the finals, and it was not.
    """

    measured: Measured
    of_best: float
    behind: float

    @property
    def level_with_best(self) -> bool:
        """Whether the runs do not tell it from the best."""
        return self.behind > MEDIUM


def rank(measured: Iterable[Measured]) -> list[Ranked]:
    """The combinations that were measured: those of the finals before all others, then the highest median first."""
    found = sorted((each for each in measured if each.rates), key=lambda each: (not each.final, -each.median))
    return [
        Ranked(each, each.median / found[0].median, 1.0 if each is found[0] else chance(found[0].rates, each.rates))
        for each in found
    ]


def chance(faster: Sequence[float], slower: Sequence[float]) -> float:
    """How likely `faster` would be so far ahead if both were alike: one-sided, ties against it."""
    wins = sum(one > other for one in faster for other in slower)
    m, n = len(faster), len(slower)
    return sum(_orders(m, n, count) for count in range(wins, m * n + 1)) / comb(m + n, m)


@cache
def _orders(m: int, n: int, wins: int) -> int:
    """In how many orders of m and n runs the m win exactly so many of the m x n comparisons."""
    if wins < 0:
        return 0
    if not m or not n:
        return int(wins == 0)
    return _orders(m - 1, n, wins - n) + _orders(m, n - 1, wins)


def confidence(behind: float, runs: int) -> str:
    """One of "high", "medium" and "low", or "none" where there is only one run of either."""
    if runs < 2:
        return "none"
    return "high" if behind <= HIGH else "medium" if behind <= MEDIUM else "low"
