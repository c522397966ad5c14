"""When one rate is clearly below others: the watch's arithmetic. How often it is wrong: `python -m bench.watch`."""

import math
import statistics
from collections.abc import Sequence

# Of so many imports at least, and the latest so many at most. Fewer than six, and the spread that they happen to have
# says too little; more than twelve, and what was usual a month ago counts.
FEWEST, MOST = 6, 12
# Clearly: a fifth, and so many deviations (the MAD as a standard deviation) of the others below their median, and a
# tenth below all of them but one. So a table that has two usual speeds is not news each time it meets the lower one,
# and a slowdown that stays is told twice, then it is what is usual.
LEAST_EFFECT = 0.2
DEVIATIONS = 4.0
BELOW_THE_REST = 0.9
# Makes the median of the absolute deviations what the standard deviation is, were the noise normal.
_MAD = 1.4826


def clearly_slower(rate: float, others: Sequence[float]) -> bool:
    """Whether a rate lies below those of the others, two or more, by more than chance explains.

    Reckoned in logarithms: what slows a load down multiplies its time.
    """
    logs = [math.log(each) for each in others]
    median = statistics.median(logs)
    # The median of a few is itself off by chance.
    deviation = _MAD * statistics.median(abs(each - median) for each in logs) * math.sqrt(1 + 1 / len(logs))
    below = median - math.log(rate)
    return (
        below > -math.log(1 - LEAST_EFFECT)
        and below > DEVIATIONS * deviation
        and rate < BELOW_THE_REST * sorted(others)[1]
    )
