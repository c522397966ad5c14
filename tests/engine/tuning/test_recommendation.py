"""What a lab says about numbers: the order, how sure it is, and what it advises."""

from itertools import combinations as choices

import pytest

from importer.engine.tuning.ranking import Measured, chance, confidence, rank
from importer.engine.tuning.recommendation import recommend

SETTINGS = [{}, {"parallelism": 4}, {"parallelism": 8}]


def measured(*rates: tuple[float, ...]) -> list[Measured]:
    return [Measured(number, each) for number, each in enumerate(rates)]


@pytest.mark.parametrize(
    ("faster", "slower"), [((5, 4, 6), (1, 2, 3)), ((5, 2, 6), (1, 4, 3)), ((1, 2), (3, 4, 5)), ((9,), (1, 2, 3, 4))]
)
def test_chance_is_what_counting_all_orders_gives(faster, slower):
    wins = sum(one > other for one in faster for other in slower)
    everything = list(choices(range(len(faster) + len(slower)), len(faster)))
    as_clear = 0
    for places in everything:
        rest = [each for each in range(len(faster) + len(slower)) if each not in places]
        as_clear += sum(one > other for one in places for other in rest) >= wins
    assert chance(faster, slower) == as_clear / len(everything)


def test_ties_count_against_the_faster():
    assert chance((1, 1), (1, 1)) == 1


@pytest.mark.parametrize(("runs", "said"), [(1, "none"), (2, "low"), (3, "medium"), (4, "medium"), (5, "high")])
def test_few_runs_cannot_be_sure_however_far_apart_they_are(runs, said):
    fast, slow = tuple(range(100, 100 + runs)), tuple(range(1, 1 + runs))
    assert confidence(chance(fast, slow), runs) == said


def test_one_wild_run_changes_neither_the_order_nor_the_median():
    ranking = rank(measured((100, 101, 102, 103, 5), (90, 91, 92, 93, 9000)))
    assert [(each.measured.combination, each.measured.median) for each in ranking] == [(0, 101), (1, 92)]
    assert ranking[1].level_with_best


def test_spread_is_the_middle_half():
    assert Measured(0, (10, 20, 30, 40, 1000)).quartiles == (20, 40)
    assert Measured(0, (10, 20, 30, 40, 1000)).spread == pytest.approx(20 / 30)
    assert Measured(0, (10,)).spread == 0


class TestAdvice:
    def test_a_clear_lead_is_followed_with_its_evidence(self):
        advice = recommend(SETTINGS, measured((50, 51, 52, 53, 54), (90, 91, 92, 93, 94), (60, 61, 62, 63, 64)), 0)
        assert (advice.settings, advice.confidence) == ({"parallelism": 4}, "high")
        assert advice.times == pytest.approx(92 / 52)
        assert advice.advice == "Import with parallelism 4: 1.77 times as fast as planned."
        said = " ".join(advice.evidence)
        assert "median 92 rows/s over 5 runs, the middle half between 91 and 93" in said
        assert "the slowest, as planned, reaches 57%" in said
        assert "about 0.4% of such comparisons" in said

    def test_what_is_planned_stays_where_the_runs_do_not_tell_it_from_the_best(self):
        advice = recommend(SETTINGS, measured((99, 100, 104), (98, 101, 105), (50, 51, 52)), 0)
        assert (advice.settings, advice.times, advice.confidence) == ({}, 1, "low")
        assert advice.advice.startswith("Import as planned")
        assert "parallelism 4, 100%" in advice.evidence[1]

    def test_what_is_planned_is_told_by_its_values_where_they_are_known(self):
        whole = [{"parallelism": 2}, *SETTINGS[1:]]
        advice = recommend(whole, measured((99, 100, 104), (98, 101, 105), (50, 51, 52)), 0)
        assert advice.settings == {}
        assert advice.advice == "Import as planned (parallelism 2): nothing that was tried is clearly faster."
        assert advice.evidence[0].startswith("parallelism 2 (as planned): median 100 rows/s")

    def test_what_is_planned_may_be_the_best_for_sure(self):
        advice = recommend(SETTINGS, measured((90, 91, 92, 93, 94), (50, 51, 52, 53, 54)), 0)
        assert (advice.settings, advice.times, advice.confidence) == ({}, 1, "high")
        assert "lead over the next best" in " ".join(advice.evidence)

    def test_a_far_higher_median_is_followed_though_it_may_be_chance(self):
        advice = recommend(SETTINGS, measured((50, 100), (90, 120)), 0)
        assert (advice.settings, advice.confidence) == ({"parallelism": 4}, "low")
        assert advice.advice.startswith("Perhaps import with parallelism 4: 1.40 times")

    def test_the_best_of_many_may_be_so_by_luck(self):
        many = [{"parallelism": each} for each in range(1, 7)]
        advice = recommend(many, measured(*((each, each + 0.5) for each in range(1, 7))), 0)
        assert advice.evidence[-1].startswith("Of 6 combinations one is ahead by luck")

    def test_few_runs_are_said_to_be_few(self):
        advice = recommend(SETTINGS, measured((50, 51), (90, 91)), 0)
        assert advice.confidence == "low"
        assert "2 runs each are few: 5 or more can be sure." in advice.evidence

    def test_one_run_each_says_nothing_and_changes_nothing(self):
        advice = recommend(SETTINGS, measured((50,), (90,)), 0)
        assert (advice.settings, advice.confidence) == ({}, "none")
        assert "says nothing about how much runs differ" in " ".join(advice.evidence)

    def test_where_the_planned_one_could_not_be_measured(self):
        advice = recommend(
            SETTINGS, [Measured(0, (), failed=3), Measured(1, (90, 91, 92)), Measured(2, (60, 61, 62))], 0
        )
        assert (advice.settings, advice.times, advice.confidence) == ({"parallelism": 4}, None, "medium")
        assert "lead over the next best" in " ".join(advice.evidence)

    def test_of_a_single_one_and_of_none(self):
        assert recommend(SETTINGS, measured((1, 2, 3)), 0).confidence == "none"
        assert recommend(SETTINGS, [Measured(0, (), failed=3)], 0) is None
