"""The statistical test for regressions. `python -m bench.watch` measures how often it is wrong."""

import math
import statistics
from collections.abc import Sequence

# The least and the most peers, of which the latest count. The spread of fewer than six is unreliable; more than twelve
# would include imports of a month ago.
FEWEST, MOST = 6, 12
# Clearly slower: a fifth and DEVIATIONS deviations (MAD, scaled to a standard deviation) below the median of the
# others, and a tenth below all but one of them. So a table with two usual speeds is not reported at each slower import,
# and a lasting slowdown is reported twice, after which it is normal.
LEAST_EFFECT = 0.2
DEVIATIONS = 4.0
BELOW_THE_REST = 0.9
# Scales the median absolute deviation (MAD) to the standard deviation of normal noise.
_MAD = 1.4826


def clearly_slower(rate: float, others: Sequence[float]) -> bool:
    """Whether a rate is below the others (two or more) by more than chance explains. All are above 0.

    Computed in logarithms, because a slowdown multiplies the duration of a load.
    """
    logs = [math.log(each) for each in others]
    median = statistics.median(logs)
    # The factor 1 + 1/n accounts for the error of the median of n values.
    deviation = _MAD * statistics.median(abs(each - median) for each in logs) * math.sqrt(1 + 1 / len(logs))
    below = median - math.log(rate)
    return (
        below > -math.log(1 - LEAST_EFFECT)
        and below > DEVIATIONS * deviation
        and rate < BELOW_THE_REST * sorted(others)[1]
    )
