"""Ranking, confidence and recommendation of a lab."""

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
def test_chance_equals_the_count_over_all_orders(faster, slower):
    wins = sum(one > other for one in faster for other in slower)
    everything = list(choices(range(len(faster) + len(slower)), len(faster)))
    as_clear = 0
    for places in everything:
        rest = [each for each in range(len(faster) + len(slower)) if each not in places]
        as_clear += sum(one > other for one in places for other in rest) >= wins
    assert chance(faster, slower) == as_clear / len(everything)


def test_ties_count_against_the_faster():
    assert chance((1, 1), (1, 1)) == 1


@pytest.mark.parametrize(("runs", "level"), [(1, "none"), (2, "low"), (3, "medium"), (4, "medium"), (5, "high")])
def test_few_runs_give_no_high_confidence(runs, level):
    fast, slow = tuple(range(100, 100 + runs)), tuple(range(1, 1 + runs))
    assert confidence(chance(fast, slow), runs) == level


def test_outlier_changes_neither_order_nor_median():
    ranking = rank(measured((100, 101, 102, 103, 5), (90, 91, 92, 93, 9000)))
    assert [(each.measured.combination, each.measured.median) for each in ranking] == [(0, 101), (1, 92)]
    assert ranking[1].level_with_best


def test_spread_is_that_of_the_middle_half():
    assert Measured(0, (10, 20, 30, 40, 1000)).quartiles == (20, 40)
    assert Measured(0, (10, 20, 30, 40, 1000)).spread == pytest.approx(20 / 30)
    assert Measured(0, (10,)).spread == 0


class TestRecommendation:
    def test_clear_lead_is_recommended_with_evidence(self):
        advice = recommend(SETTINGS, measured((50, 51, 52, 53, 54), (90, 91, 92, 93, 94), (60, 61, 62, 63, 64)), 0)
        assert (advice.settings, advice.confidence) == ({"parallelism": 4}, "high")
        assert advice.times == pytest.approx(92 / 52)
        assert advice.advice == "Import with parallelism 4: 1.77 times as fast as planned."
        evidence = " ".join(advice.evidence)
        assert "median 92 rows/s over 5 runs, the middle half between 91 and 93" in evidence
        assert "the slowest, as planned, reaches 57%" in evidence
        assert "about 0.4% of comparisons" in evidence

    def test_planned_settings_stay_without_a_significant_difference(self):
        advice = recommend(SETTINGS, measured((99, 100, 104), (98, 101, 105), (50, 51, 52)), 0)
        assert (advice.settings, advice.times, advice.confidence) == ({}, 1, "low")
        assert advice.advice.startswith("Import as planned")
        assert "parallelism 4, 100%" in advice.evidence[1]

    def test_planned_settings_are_named_by_their_values_if_known(self):
        whole = [{"parallelism": 2}, *SETTINGS[1:]]
        advice = recommend(whole, measured((99, 100, 104), (98, 101, 105), (50, 51, 52)), 0)
        assert advice.settings == {}
        assert advice.advice == "Import as planned (parallelism 2): nothing that was tried was seen to be faster."
        assert advice.evidence[0].startswith("parallelism 2 (as planned): median 100 rows/s")

    def test_planned_settings_may_be_the_best_with_high_confidence(self):
        advice = recommend(SETTINGS, measured((90, 91, 92, 93, 94), (50, 51, 52, 53, 54)), 0)
        assert (advice.settings, advice.times, advice.confidence) == ({}, 1, "high")
        assert "lead over the next best" in " ".join(advice.evidence)

    def test_much_higher_median_is_recommended_with_low_confidence_if_each_run_was_faster(self):
        advice = recommend(SETTINGS, measured((50, 80), (90, 120)), 0)
        assert (advice.settings, advice.confidence) == ({"parallelism": 4}, "low")
        assert advice.advice.startswith("Perhaps import with parallelism 4: 1.62 times")

    def test_runs_that_overlap_show_no_difference(self):
        rates = measured((50, 100), (90, 120))
        assert [each.difference for each in rank(rates)][1] == "no difference seen"
        advice = recommend(SETTINGS, rates, 0)
        assert (advice.settings, advice.confidence) == ({}, "low")
        assert "No difference seen from the best" in " ".join(advice.evidence)

    def test_best_of_many_may_lead_by_chance(self):
        many = [{"parallelism": each} for each in range(1, 7)]
        advice = recommend(many, measured(*((each, each + 0.5) for each in range(1, 7))), 0)
        assert advice.evidence[-1].startswith("Of 6 combinations one may lead by chance")

    def test_few_runs_are_mentioned(self):
        advice = recommend(SETTINGS, measured((50, 51), (90, 91)), 0)
        assert advice.confidence == "low"
        assert "Only 2 runs of each: high confidence needs 5 or more." in advice.evidence

    def test_single_runs_change_nothing(self):
        advice = recommend(SETTINGS, measured((50,), (90,)), 0)
        assert (advice.settings, advice.confidence) == ({}, "none")
        assert "says nothing about how much runs differ" in " ".join(advice.evidence)

    def test_next_best_is_compared_if_the_planned_settings_failed(self):
        advice = recommend(
            SETTINGS, [Measured(0, (), failed=3), Measured(1, (90, 91, 92)), Measured(2, (60, 61, 62))], 0
        )
        assert (advice.settings, advice.times, advice.confidence) == ({"parallelism": 4}, None, "medium")
        assert "lead over the next best" in " ".join(advice.evidence)

    def test_single_combination_has_low_confidence_and_none_no_recommendation(self):
        assert recommend(SETTINGS, measured((1, 2, 3)), 0).confidence == "none"
        assert recommend(SETTINGS, [Measured(0, (), failed=3)], 0) is None
