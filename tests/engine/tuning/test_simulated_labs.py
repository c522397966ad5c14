"""Whole labs with simulated rates: how often a verdict is right, by finalists, finals and recommendation together.

Runs vary by 10 %, and whole rounds by 20 %. The figures are those of docs/lab.md.
"""

from math import exp
from random import Random

import pytest

from importer.engine.tuning.finals import finalists, is_choice
from importer.engine.tuning.ranking import Measured
from importer.engine.tuning.recommendation import recommend
from importer.engine.tuning.rounds import final_rounds

LABS, PLANNED = 200, 0
RUN, ROUND = 0.1, 0.2


def advised(random: Random, speeds: list[float], repeats: int) -> int:
    """The combination that a lab recommends, if its combinations have these speeds; the first is the planned one."""
    rates: list[dict[int, float]] = [{} for _ in speeds]

    def run(numbers: list[int], first: int, count: int) -> None:
        for each in range(first, first + count):
            moment = exp(random.gauss(0, ROUND))
            for number in numbers:
                rates[number][each] = speeds[number] * moment * exp(random.gauss(0, RUN))

    def measured(final: list[int], chosen_after: int) -> list[Measured]:
        return [
            Measured(number, tuple(own.values()), 0, number in final, tuple(own), chosen_after * (number in final))
            for number, own in enumerate(rates)
        ]

    run(list(range(len(speeds))), 1, repeats)
    so_far = measured([], 0)
    again = finalists(so_far, PLANNED)
    chosen = is_choice(again, so_far)
    run(again, repeats + 1, final_rounds(repeats, chosen=chosen))
    combinations = [{"parallelism": number} for number in range(len(speeds))]
    advice = recommend(combinations, measured(again, repeats if chosen else 0), PLANNED)
    return int(advice.settings.get("parallelism", PLANNED))


@pytest.mark.parametrize(
    ("speeds", "repeats", "least", "most"),
    [
        ([1.0] * 2, 3, 0, 0.07),  # The test itself errs in 5 %.
        ([1.0] * 8, 3, 0, 0.15),  # The best three of eight equal ones are compared with the plan.
        ([1.0] * 8, 5, 0, 0.15),  # Five rounds are enough for a verdict, but only the finals decide.
        ([*[1.0] * 7, 1.2], 3, 0.8, 1),
        ([*[1.0] * 7, 1.2], 5, 0.9, 1),
        ([*[1.0] * 7, 1.3], 3, 0.95, 1),
        ([1.3, *[1.0] * 7], 3, 0, 0),
    ],
)
def test_others_than_the_planned_settings_are_recommended_if_they_are_faster(speeds, repeats, least, most):
    random = Random(7)
    left = sum(advised(random, speeds, repeats) != PLANNED for _ in range(LABS)) / LABS
    assert least <= left <= most
