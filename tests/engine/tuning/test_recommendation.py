"""Ranking, confidence and recommendation of a lab."""

from math import log

import pytest

from importer.engine.tuning.paired import chance
from importer.engine.tuning.ranking import Measured, confidence, rank
from importer.engine.tuning.recommendation import recommend

SETTINGS = [{}, {"parallelism": 4}, {"parallelism": 8}]


def measured(*rates: tuple[float, ...]) -> list[Measured]:
    return [Measured(number, each) for number, each in enumerate(rates)]


@pytest.mark.parametrize(("rounds", "level"), [(1, "none"), (4, "none"), (5, "medium"), (7, "high")])
def test_few_rounds_give_no_high_confidence(rounds, level):
    fast, slow = Measured(0, tuple(range(100, 100 + rounds))), Measured(1, tuple(range(1, 1 + rounds)))
    assert confidence(chance(fast.compared(slow)), rounds) == level


def test_rates_are_compared_within_rounds():
    """Each round is slower than the one before by more than the two differ: unpaired runs would show nothing."""
    fast, slow = Measured(0, (110, 55, 27, 13, 6)), Measured(1, (100, 50, 25, 12, 5))
    assert chance(fast.compared(slow)) == 1 / 32
    assert Measured(0, (9, 9), rounds=(2, 4)).compared(Measured(1, (3, 1), rounds=(1, 4))) == [log(9)]


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
        advice = recommend(
            SETTINGS,
            measured((50, 51, 52, 53, 54, 50, 51), (90, 91, 92, 93, 94, 95, 91), (60, 61, 62, 63, 64, 60, 61)),
            0,
        )
        assert (advice.settings, advice.confidence) == ({"parallelism": 4}, "high")
        assert advice.times == advice.interval.times == pytest.approx(1.78, abs=0.01)
        assert 1.74 < advice.interval.low < advice.times < advice.interval.high == pytest.approx(1.85, abs=0.01)
        assert (advice.interval.rounds, advice.interval.level >= 0.9) == (7, True)
        assert advice.advice == f"Import with parallelism 4: {advice.times:.2f} times as fast as planned."
        evidence = " ".join(advice.evidence)
        assert "median 92 rows/s over 7 runs, the middle half between 91 and 94" in evidence
        assert "the slowest, as planned, reaches 55%" in evidence
        assert "times as fast as planned in 7 rounds with both; 92% interval 1.7" in evidence

    def test_planned_settings_stay_without_a_significant_difference(self):
        advice = recommend(SETTINGS, measured((99, 100, 104, 99, 98), (98, 101, 105, 99, 99), (50, 51, 52, 50, 49)), 0)
        assert (advice.settings, advice.times, advice.interval, advice.confidence) == ({}, 1, None, "low")
        assert advice.advice.startswith("Import as planned")
        assert "parallelism 4, 100%" in advice.evidence[1]

    def test_planned_settings_are_named_by_their_values_if_known(self):
        whole = [{"parallelism": 2}, *SETTINGS[1:]]
        advice = recommend(whole, measured((99, 100, 104, 99, 98), (98, 101, 105, 99, 99), (50, 51, 52, 50, 49)), 0)
        assert advice.settings == {}
        assert advice.advice == "Import as planned (parallelism 2): nothing that was tried was seen to be faster."
        assert advice.evidence[0].startswith("parallelism 2 (as planned): median 99 rows/s")

    def test_planned_settings_may_be_the_best_with_medium_confidence(self):
        advice = recommend(SETTINGS, measured((90, 91, 92, 93, 94), (50, 51, 52, 53, 54)), 0)
        assert (advice.settings, advice.times, advice.confidence) == ({}, 1, "medium")
        assert "a lead over the closest of the others is this clear in about 3.1%" in " ".join(advice.evidence)

    def test_the_second_is_recommended_if_only_it_is_surely_faster_than_planned(self):
        """The first has the higher median, but was slower than planned in two rounds of six."""
        rates = measured((50, 50, 50, 50, 50, 50), (90, 91, 40, 92, 41, 93), (60, 61, 62, 63, 64, 65))
        advice = recommend(SETTINGS, rates, 0)
        assert [each.measured.combination for each in rank(rates, 0)] == [1, 2, 0]
        assert advice.settings == {"parallelism": 8}

    @pytest.mark.parametrize(("rounds", "words"), [(1, "1 round"), (4, "4 rounds")])
    def test_there_is_no_verdict_with_too_few_rounds(self, rounds, words):
        """However large the difference is."""
        advice = recommend(SETTINGS, measured((50,) * rounds, (900,) * rounds), 0)
        assert (advice.settings, advice.times, advice.interval, advice.confidence) == ({}, 1, None, "none")
        assert advice.advice == f"Import as planned: {words} cannot tell settings apart."
        assert f"{words} of the fastest and the planned settings can be compared, and a verdict needs 5" in " ".join(
            advice.evidence
        )

    def test_there_is_no_verdict_if_the_planned_settings_ran_in_too_few_rounds(self):
        rates = [Measured(0, (50, 50, 50)), *measured((0,), (90,) * 8, (80,) * 8)[1:]]
        advice = recommend(SETTINGS, rates, 0)
        assert (advice.settings, advice.confidence) == ({}, "none")
        assert "3 rounds of the fastest and the planned settings can be compared" in " ".join(
            sentence.lower() for sentence in advice.evidence
        )

    def test_one_run_has_no_middle_half(self):
        (said, *_) = recommend(SETTINGS, measured((1200,), (900,)), 0).evidence
        assert said.endswith(": 1,200 rows/s in one run.")

    def test_rounds_that_overlap_show_no_difference(self):
        assert rank(measured((50, 100), (90, 99)))[1].difference == "not told apart"
        assert rank(measured((50, 80), (90, 99)))[1].difference == "perhaps slower"
        assert rank(measured((50,) * 5, (90,) * 5))[1].difference == "slower"

    def test_best_of_many_may_lead_by_chance(self):
        many = [{"parallelism": each} for each in range(1, 7)]
        advice = recommend(many, measured(*((each, each + 0.5) for each in range(1, 7))), 0)
        assert advice.evidence[-1].startswith("Of 6 combinations one may lead by chance")

    def test_next_best_is_compared_if_the_planned_settings_failed(self):
        few, enough = (
            recommend(
                SETTINGS,
                [
                    Measured(0, (), failed=3),
                    Measured(1, tuple(range(90, 90 + rounds))),
                    Measured(2, tuple(range(60, 60 + rounds))),
                ],
                0,
            )
            for rounds in (3, 5)
        )
        assert (few.settings, few.times, few.confidence) == ({}, None, "none")
        assert (enough.settings, enough.times, enough.confidence) == ({"parallelism": 4}, None, "medium")
        assert "lead over the closest of the others" in " ".join(enough.evidence)

    def test_single_combination_has_low_confidence_and_none_no_recommendation(self):
        assert recommend(SETTINGS, measured((1, 2, 3)), 0).confidence == "none"
        assert recommend(SETTINGS, [Measured(0, (), failed=3)], 0) is None
