"""Ranks combinations by their trials: medians, spreads, and their differences within rounds. Numbers only.

Rates differ from run to run, and there are few runs. Nothing is assumed about their distribution: the statistics are
medians, the middle half of the runs, and for two combinations the ratios within rounds (paired.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median, quantiles

from importer.engine.tuning.paired import LEAST_ROUNDS, MEDIUM, Ratio, chance, interval, log_ratios

# Largest probability of the order by chance for high confidence; MEDIUM for medium. Seven rounds can reach it.
HIGH = 0.01
NONE_SEEN = "not told apart"


@dataclass(frozen=True)
class Measured:
    """The rates (rows per second) of one combination's trials, without the warm-up; `failed` trials gave no rate.

    `rounds` are the numbers of the rounds of these rates; () means 1, 2, 3 and so on. `final`: it also ran in the
    finals, so it has more rates. `chosen_after`: the last round of those by which it was chosen for the finals out of
    more combinations; 0 if there was no choice.
    """

    combination: int
    rates: tuple[float, ...]
    failed: int = 0
    final: bool = False
    rounds: tuple[int, ...] = ()
    chosen_after: int = 0

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

    def compared(self, other: "Measured") -> list[float]:
        """The logarithms of its rates divided by the other's, in the rounds that tell.

        Two combinations that were chosen for the finals because they were fast are compared in the finals only: the
        rounds by which they were chosen favour those that were fast by chance.
        """
        after = min(self.chosen_after, other.chosen_after)
        return log_ratios(self._by_round(after), other._by_round(after))

    def _by_round(self, after: int) -> dict[int, float]:
        numbers = self.rounds or range(1, len(self.rates) + 1)
        return {number: rate for number, rate in zip(numbers, self.rates, strict=True) if number > after}


@dataclass(frozen=True)
class Ranked:
    """A combination in the ranking.

    `of_best` is its median as a share of the first one's; it may exceed 1 if only the first one was in the finals.
    `behind` is the probability that it is so far behind the first one by chance, in `rounds` rounds. `overlaps`: in one
    of these it was at least as fast. `ratio` compares it with the planned combination; None for that one itself, and
    with fewer than two rounds of both.
    """

    measured: Measured
    of_best: float
    behind: float
    overlaps: bool
    rounds: int
    ratio: Ratio | None = None

    @property
    def level_with_best(self) -> bool:
        """Whether the runs show no significant difference from the best."""
        return self.behind > MEDIUM

    @property
    def difference(self) -> str:
        """How it compares with the best: NONE_SEEN, "perhaps slower" if there are too few rounds to tell, "slower"."""
        if not self.level_with_best:
            return "slower"
        return NONE_SEEN if self.overlaps or self.rounds < 2 or self.rounds >= LEAST_ROUNDS else "perhaps slower"


def rank(measured: Iterable[Measured], planned: int | None = None) -> list[Ranked]:
    """The combinations with rates: those of the finals before all others, each group by median, the highest first.

    `planned` is the number of the planned combination.
    """
    ordered = sorted((each for each in measured if each.rates), key=lambda each: (not each.final, -each.median))
    reference = next((each for each in ordered if each.combination == planned), None)
    return [_ranked(each, ordered[0], reference) for each in ordered]


def _ranked(each: Measured, best: Measured, planned: Measured | None) -> Ranked:
    lead = best.compared(each) if each is not best else []
    ratio = interval(each.compared(planned)) if planned and each is not planned else None
    return Ranked(each, each.median / best.median, chance(lead), any(one <= 0 for one in lead), len(lead), ratio)


def confidence(behind: float, rounds: int) -> str:
    """One of "high", "medium" and "low", or "none" with too few rounds for a verdict."""
    if rounds < LEAST_ROUNDS:
        return "none"
    return "high" if behind <= HIGH else "medium" if behind <= MEDIUM else "low"
