"""Two combinations compared within rounds: the exact test, and the interval that belongs to it."""

from itertools import product
from math import log

import pytest

from importer.engine.tuning.paired import LEAST_ROUNDS, LEVEL, MEDIUM, chance, interval, log_ratios

# Sizes of differences without ties, in no order.
SIZES = (0.3, 0.05, 0.11, 0.02, 0.2, 0.5, 0.07, 0.9)


def signed(rounds: int) -> list[list[float]]:
    """The same differences with all possible signs."""
    return [
        [sign * size for sign, size in zip(signs, SIZES, strict=False)] for signs in product((1, -1), repeat=rounds)
    ]


def rank_sum_against(logs: list[float]) -> int:
    return sum(rank for rank, each in enumerate(sorted(logs, key=abs), start=1) if each <= 0)


def test_only_rounds_with_both_are_compared():
    assert log_ratios({1: 10.0, 2: 20.0, 4: 5.0}, {2: 10.0, 3: 1.0, 4: 10.0}) == [log(2), log(0.5)]


@pytest.mark.parametrize("rounds", [1, 4, 7])
def test_chance_equals_the_count_over_all_signs(rounds):
    everything = signed(rounds)
    for logs in everything:
        as_clear = sum(rank_sum_against(other) <= rank_sum_against(logs) for other in everything)
        assert chance(logs) == as_clear / len(everything)


def test_equal_rates_count_against_the_faster():
    assert chance([0.0, 0.0, 0.0]) == 1
    assert chance([]) == 1


def test_five_rounds_are_the_fewest_for_a_verdict():
    assert chance([0.1] * LEAST_ROUNDS) <= MEDIUM < chance([0.1] * (LEAST_ROUNDS - 1))


@pytest.mark.parametrize("rounds", [2, 5, 8])
def test_the_interval_has_exactly_its_coverage_without_a_difference(rounds):
    found = [interval(logs) for logs in signed(rounds)]
    (level,) = {each.level for each in found}
    assert level == sum(each.low <= 1 <= each.high for each in found) / len(found)
    assert (level >= LEVEL) == (rounds >= LEAST_ROUNDS)


@pytest.mark.parametrize("rounds", [5, 6, 8])
def test_the_interval_lies_above_one_where_the_test_says_faster(rounds):
    for logs in signed(rounds):
        assert (interval(logs).low > 1) == (chance(logs) <= MEDIUM)


def test_one_round_has_no_interval_and_few_have_all_ratios_in_it():
    assert interval([0.3]) is None
    few = interval([log(1.5), log(0.8), log(1.1)])
    assert (few.low, few.high, few.level, few.rounds) == (pytest.approx(0.8), pytest.approx(1.5), 0.75, 3)
    # The median of the means of all pairs, of logarithms: between that of 1.5 and 0.8, and 1.1.
    assert few.times == pytest.approx((1.1 * (1.5 * 0.8) ** 0.5) ** 0.5)
