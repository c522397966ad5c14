"""Finals: the best combinations of a lab and the planned one run again."""

import pytest

from importer import lab
from importer.engine.tuning.budget import Budget
from importer.engine.units import MIB
from importer.lab.results import planned_number
from importer.models import Lab, Trial
from tests.importer.labs import created_lab, leaves_nothing, take_step, to_end, to_trial
from tests.importer.steps import run
from tests.targets import on_one_server

pytestmark = [pytest.mark.usefixtures("no_workers"), on_one_server]

# The last of them is the planned combination.
MANY_SIZES = {"chunk_bytes": (4096, 6144, MIB)}
# Rates by combination that replace the random rates of tiny trials.
RATES = (100.0, 60.0, 50.0)


def after_rounds(begun: Lab, trials: int, rates: tuple[float, ...]) -> None:
    """Run the lab to the last trial of its rounds, and set the rates of its combinations."""
    for _ in range(trials):
        run(to_trial(begun))
        take_step(begun)
    for number, rate in enumerate(rates):
        assert begun.trials.filter(combination=number).update(rows_per_second=rate) == 3


def test_the_best_combinations_and_the_planned_one_run_again_in_finals(target, path, database):
    begun = created_lab(target, path, MANY_SIZES, repeats=2)
    after_rounds(begun, trials=9, rates=RATES)
    done = to_end(begun)
    again = [(each.round, each.combination) for each in done.trials.all() if each.final]
    planned = planned_number(done)
    assert planned == 2
    assert sorted(again) == [(round_, number) for round_ in range(3, 11) for number in (0, planned)]
    assert {each.status for each in done.trials.all()} == {Trial.Status.DONE}
    outcome = lab.outcome(done)
    assert [len(each["rates"]) for each in outcome["ranking"]] == [10, 10, 2]
    # Only the finals decide.
    (ratio,) = (each["to_planned"] for each in outcome["ranking"][:2] if each["to_planned"])
    assert (ratio["rounds"], ratio["low"] <= ratio["times"] <= ratio["high"]) == (8, True)
    assert "ran again in finals" in outcome["recommendation"]["evidence"][-1]
    leaves_nothing(done, database)


def test_finals_beyond_the_budget_are_left_out_with_the_reason(target, path, database):
    begun = created_lab(target, path, MANY_SIZES, repeats=2, budget=Budget(rows=9 * 500))
    after_rounds(begun, trials=9, rates=RATES)
    done = to_end(begun)
    outcome = lab.outcome(done)
    assert (done.status, outcome["trials"]["done"], outcome["trials"]["left out"]) == (Lab.Status.DONE, 9, 16)
    assert "4,500 of 4,500 rows" in outcome["left_out"][0]["why"]
    assert [each["settings"] for each in outcome["ranking"]][:2] == [done.combinations[0], done.combinations[1]]
    evidence = " ".join(outcome["recommendation"]["evidence"])
    assert "ran again" not in evidence
    assert "2 rounds of the fastest and the planned settings can be compared" in evidence
