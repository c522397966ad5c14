"""Selects the combinations that run in additional rounds, the finals, before a recommendation. Numbers only.

Of many equal combinations, one leads by chance after a few runs. The best ones therefore run again, together with the
planned settings, and a lead by chance disappears.
"""

from collections.abc import Sequence

from importer.engine.tuning.ranking import Measured, rank
from importer.engine.tuning.rounds import final_rounds

# The number of best combinations in the finals; the planned one comes in addition.
BEST = 3
# Share of the best median. A combination that is further behind after two runs or more does not catch up.
NEAR = 0.85


def finalists(measured: Sequence[Measured], planned: int) -> list[int]:
    """The numbers of the combinations that run again: those of the BEST best within NEAR of the best, and `planned`.

    Empty if that is only one, or if each ran only once: one round is no base for a choice.
    """
    ranking = rank(measured)
    if not ranking or len(ranking[0].measured.rates) < 2:
        return []
    near = [each.measured.combination for each in ranking[:BEST] if each.of_best >= NEAR]
    again = [each.measured.combination for each in ranking if each.measured.combination in (*near, planned)]
    return again if len(again) > 1 else []


def is_choice(finalists: Sequence[int], measured: Sequence[Measured]) -> bool:
    """Whether the finalists were chosen: other combinations with rates were left behind."""
    return any(each.rates and each.combination not in finalists for each in measured)


def most_finals(combinations: int, repeats: int) -> int:
    """The largest number of trials in the finals, for this number of combinations and repeats."""
    if repeats < 2:
        return 0
    sizes = range(2, min(BEST + 1, combinations) + 1)
    return max((size * final_rounds(repeats, chosen=size < combinations) for size in sizes), default=0)
