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

    Empty if at most BEST combinations were measured, if each ran only once, or if none is near the best.
    """
    ranking = rank(measured)
    if len(ranking) <= BEST or len(ranking[0].measured.rates) < 2:
        return []
    near = [each.measured.combination for each in ranking[:BEST] if each.of_best >= NEAR]
    if len(near) < 2:
        return []
    return [each.measured.combination for each in ranking if each.measured.combination in (*near, planned)]


def most_finals(combinations: int, repeats: int) -> int:
    """The largest number of trials in the finals, for this number of combinations and repeats."""
    return final_rounds(repeats) * (BEST + 1) if combinations > BEST and repeats > 1 else 0
