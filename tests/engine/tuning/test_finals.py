"""The combinations that run again in finals, and their effect on the recommendation."""

import pytest

from importer.engine.tuning.finals import finalists, is_choice, most_finals
from importer.engine.tuning.ranking import Measured, rank
from importer.engine.tuning.recommendation import recommend
from importer.engine.tuning.rounds import final_turns, round_name, turns

SETTINGS = [{"parallelism": each} for each in range(1, 7)]


def rated(*medians: float) -> list[Measured]:
    return [Measured(number, (each - 1, each, each + 1)) for number, each in enumerate(medians)]


@pytest.mark.parametrize(
    ("medians", "again"),
    [
        ((100, 99, 98, 97, 96, 50), [0, 1, 2, 5]),  # The best three and the planned one.
        ((60, 86, 84, 70, 100, 50), [4, 1, 5]),  # None below 85 % of the best.
        ((60, 70, 65, 50, 94, 100), [5, 4]),  # The planned one may be among the best.
        ((60, 70, 65, 50, 80, 100), []),  # None is near the best.
        ((50, 99, 98, 50, 50, 100), [5, 1, 2]),
        ((100, 99, 98), [0, 1, 2]),  # Three rounds are too few for a verdict: all run again.
    ],
)
def test_best_combinations_run_again_with_the_planned_one(medians, again):
    assert finalists(rated(*medians), 5) == again


def test_combination_that_failed_or_ran_once_does_not_run_again():
    failed = [*rated(100, 99, 98, 97), Measured(4, (), failed=3)]
    assert finalists(failed, planned=4) == [0, 1, 2]
    assert finalists([Measured(number, (100,)) for number in range(6)], 5) == []


@pytest.mark.parametrize(
    ("combinations", "repeats", "final", "most"),
    [
        (1, 3, 0, 0),
        (2, 3, 10, 10),
        (3, 3, 15, 16),
        (4, 3, 20, 24),
        (9, 2, 32, 32),
        (9, 9, 40, 40),
        (2, 10, 0, 0),
        (9, 1, 0, 0),
    ],
)
def test_number_of_finals_is_at_most_the_announced_one(combinations, repeats, final, most):
    rates = [Measured(number, tuple(100.0 for _ in range(repeats))) for number in range(combinations)]
    again = finalists(rates, planned=combinations - 1)
    turned = final_turns(again, repeats, seed=1, chosen=is_choice(again, rates))
    assert (len(turned), most_finals(combinations, repeats)) == (final, most)


def test_finals_are_rounds_that_follow_the_others():
    order = final_turns([5, 2, 3], 3, seed=7, chosen=False)
    assert [turn.round for turn in order] == [number for number in range(4, 9) for _ in range(3)]
    assert final_turns([5, 2, 3], 3, seed=7, chosen=True)[-1].round == 11
    assert all({turn.combination for turn in order if turn.round == number} == {2, 3, 5} for number in (4, 5, 6))
    assert turns(6, 3, seed=7)[-1].round == 3
    assert [round_name(number, 3) for number in (0, 1, 3, 4, 6)] == [
        "warm-up",
        "round 1",
        "round 3",
        "final 1",
        "final 3",
    ]


class TestRecommendationAfterFinals:
    @staticmethod
    def final(number: int, rates: tuple[float, ...], after: int = 3) -> Measured:
        return Measured(number, rates, final=True, chosen_after=after)

    def test_lead_by_chance_that_does_not_repeat_is_not_recommended(self):
        """The second leads clearly in the three rounds by which it was chosen, but not in the five that follow."""
        final = [
            self.final(0, (99, 100, 101, 100, 101, 102, 100, 99)),
            self.final(1, (199, 200, 201, 97, 104, 99, 101, 98)),
            *rated(90, 90, 90, 90)[2:],
        ]
        assert rank(final, 0)[0].ratio.rounds == 5
        advice = recommend(SETTINGS, final, 0)
        assert (advice.settings, advice.times) == ({}, 1)
        assert advice.evidence[-1] == (
            "So that none of 4 wins by chance, the best ran again in finals, which alone decide: parallelism 2;"
            " parallelism 1 (as planned)."
        )

    def test_combination_outside_the_finals_does_not_win(self):
        results = [
            self.final(0, (80,) * 8),
            self.final(1, (99, 100, 101, 97, 98, 99, 98, 99)),
            *rated(0, 0, 102)[2:],
        ]
        ranking = rank(results)
        assert [each.measured.combination for each in ranking] == [1, 0, 2]
        assert ranking[2].of_best > 1
        assert recommend(SETTINGS, results, 0).settings == {"parallelism": 2}

    def test_combination_outside_the_finals_does_not_win_by_the_rounds_before_them(self):
        """The plan was slow in the five rounds that chose the finalists, and in the finals as fast as they are."""
        results = [
            self.final(0, (80, 81, 82, 83, 84, *(99, 101) * 5), after=5),
            self.final(1, (99, 98, 99, 98, 99, *(101, 99) * 5), after=5),
            Measured(2, (90, 91, 92, 93, 94)),
        ]
        assert rank(results, 0)[2].ratio.low > 1
        assert recommend(SETTINGS, results, 0).settings == {}

    @pytest.mark.parametrize("before", [3, 5])
    def test_finals_that_the_budget_has_ended_give_no_verdict(self, before):
        final = [self.final(number, (rate,) * (before + 4), after=before) for number, rate in enumerate((80, 99))]
        advice = recommend(SETTINGS, [*final, Measured(2, (90,) * before)], 0)
        assert (advice.settings, advice.confidence) == ({}, "none")
        assert advice.advice.endswith("4 rounds cannot tell settings apart.")
