"""Which combinations run some rounds more before anything is advised. Numbers only.

Of many that are alike, one is ahead by the luck of a few runs. The best of them run again beside what would be done
anyway, and luck does not come twice.
"""

from collections.abc import Sequence

from importer.engine.tuning.ranking import Measured, rank
from importer.engine.tuning.rounds import final_rounds

# So many of the best, and what is planned.
BEST = 3
# Of the best median; what is further behind after two runs or more does not catch up.
NEAR = 0.85


def finalists(measured: Sequence[Measured], planned: int) -> list[int]:
    """The numbers of the combinations to try again: the best that are near each other, and the `planned` one.

    None where so few were tried, where runs were single ones (a first look), and where nothing is near the best.
    """
    ranking = rank(measured)
    if len(ranking) <= BEST or len(ranking[0].measured.rates) < 2:
        return []
    near = [each.measured.combination for each in ranking[:BEST] if each.of_best >= NEAR]
    if len(near) < 2:
        return []
    return [each.measured.combination for each in ranking if each.measured.combination in (*near, planned)]


def most_finals(combinations: int, repeats: int) -> int:
    """How many trials finalists() can make of so many combinations."""
    return final_rounds(repeats) * (BEST + 1) if combinations > BEST and repeats > 1 else 0
