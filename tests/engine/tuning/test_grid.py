"""Combinations of a grid, the order of trials, and the budget."""

from collections import Counter

import pytest

from importer.engine.errors import Problem
from importer.engine.stored import from_json, to_json
from importer.engine.tuning.budget import Budget, Spent, TrialCost, why_not
from importer.engine.tuning.grid import GRIDS, Grid, combinations, words
from importer.engine.tuning.rounds import turns
from importer.engine.units import MIB


class TestGrid:
    @pytest.mark.parametrize("name", GRIDS)
    def test_every_predefined_grid_has_several_combinations(self, name):
        grid = GRIDS[name]
        assert len(combinations(grid)) > 1
        assert from_json(Grid, to_json(grid)) == grid

    def test_rows_per_statement_apply_only_to_methods_with_statements(self):
        grid = Grid("own", {"method": ("load_data_local", "insert"), "rows_per_statement": (1, 100)})
        assert combinations(grid) == [
            {"method": "load_data_local"},
            {"method": "insert", "rows_per_statement": 1},
            {"method": "insert", "rows_per_statement": 100},
        ]

    @pytest.mark.parametrize(
        ("values", "left"),
        [
            ({"method": ("insert",), "rows_per_statement": (10, 1000), "commit_rows": (100,)}, 1),
            ({"foreign_keys": ("keep", "defer"), "foreign_key_checks": (True, False)}, 3),
        ],
    )
    def test_contradicting_settings_are_not_tried(self, values, left):
        assert len(combinations(Grid("own", values))) == left

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"mode": ("append",)}, "A lab cannot vary mode"),
            ({"parallelism": (65,)}, r"parallelism cannot be 65\. It may be a whole number from 1 to 64"),
            ({"indexes": ("auto",)}, "indexes cannot be auto"),
            ({"unique_checks": ("off",)}, "yes or no"),
            ({"parallelism": tuple(range(1, 65)), "commit_rows": (1, 2, 3, 4)}, "256 combinations"),
            ({"parallelism": ()}, "0 combinations"),
        ],
    )
    def test_impossible_grid_is_refused(self, values, message):
        with pytest.raises(Problem, match=message):
            combinations(Grid("own", values))

    def test_combination_in_words(self):
        settings = {"chunk_bytes": MIB // 4, "parallelism": 2, "unique_checks": False}
        assert words(settings) == "chunk size 256 KiB, parallelism 2, unique keys: not checked"
        put_back = "secondary indexes: take off, put back after the load"
        assert words({"indexes": "defer", "method": "insert"}) == f"{put_back}, method INSERT"
        assert words({}) == "as planned"


def test_every_round_has_every_combination_in_its_own_order():
    order = turns(6, 3, seed=7)
    rounds = [[turn.combination for turn in order if turn.round == number] for number in range(4)]
    assert [turn.round for turn in order] == sorted(turn.round for turn in order)
    assert all(sorted(each) == list(range(6)) for each in rounds)
    assert len({tuple(each) for each in rounds}) > 1
    assert turns(6, 3, seed=7) == order != turns(6, 3, seed=8)


@pytest.mark.parametrize("combinations", [2, 3, 4, 8, 17])
@pytest.mark.parametrize("repeats", [3, 6, 10])
def test_each_combination_comes_first_in_the_middle_and_last_about_equally_often(combinations, repeats):
    order = [turn for turn in turns(combinations, repeats, seed=5) if turn.round]
    places = [at % combinations for at, _ in enumerate(order)]
    ends = [part * combinations // 3 for part in (1, 2)]
    for wanted in (
        lambda at: at == 0,
        lambda at: at == combinations - 1,
        lambda at: at < ends[0],
        lambda at: ends[0] <= at < ends[1],
        lambda at: at >= ends[1],
    ):
        counts = Counter(turn.combination for turn, at in zip(order, places, strict=True) if wanted(at))
        often = [counts[each] for each in range(combinations)]
        assert max(often) - min(often) <= 2


class TestBudget:
    def spent(self, seconds: float, *trials: TrialCost) -> Spent:
        return Spent(seconds, 100 * len(trials), trials)

    def test_trial_that_needs_more_than_the_remaining_seconds_does_not_begin(self):
        spent = self.spent(50, TrialCost(0, 20, 1), TrialCost(0, 12, 1), TrialCost(1, 8, 1))
        assert why_not(Budget(seconds=60), spent, 0, 1, 1) == (
            "50 of 60 seconds are used, and it would take about 20.0"
        )
        assert why_not(Budget(seconds=60), spent, 1, 1, 1) == ""

    def test_first_trial_of_a_combination_is_estimated_by_the_others(self):
        spent = self.spent(50, TrialCost(0, 20, 1), TrialCost(1, 8, 1), TrialCost(2, 12, 1))
        assert "about 12.0" in why_not(Budget(seconds=60), spent, 9, 1, 1)
        assert why_not(Budget(seconds=62), spent, 9, 1, 1) == ""

    def test_rows_and_disk_space_are_limited(self):
        spent = self.spent(0, TrialCost(0, 1, 5000))
        assert why_not(Budget(rows=150), spent, 0, 50, 1) == ""
        assert "it would load 51" in why_not(Budget(rows=150), spent, 0, 51, 1)
        assert "about 5,000 bytes; 4,999 are" in why_not(Budget(target_bytes=4999), spent, 1, 1, 1)
        assert "about 6,000 bytes" in why_not(Budget(target_bytes=5999), Spent(0, 0), 0, 1, 6000)

    def test_budget_without_limits_allows_everything_and_zero_is_refused(self):
        spent = self.spent(10**6, TrialCost(0, 10**6, 10**12))
        assert why_not(Budget(None, None, None, None), spent, 0, 10**9, 10**12) == ""
        with pytest.raises(Problem, match="allows nothing"):
            Budget(rows=0)
