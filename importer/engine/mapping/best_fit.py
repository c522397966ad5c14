"""Which reading most values of a sample fit, where a few fit none."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

# Of the values that a reading is needed for; more than so many that it does not take speak against it.
MOST_MISMATCHES = 0.05

T = TypeVar("T")
Fits = Callable[[str], bool]


def count_mismatches(counts: Counter[str], fits: Fits, most: int | None = None) -> int:
    """How many values do not fit; more than `most` are not counted to the end."""
    found = 0
    for value, times in counts.items():
        if not fits(value):
            found += times
            if most is not None and found > most:
                break
    return found


def best_readings(counts: Counter[str], plainly: Fits, readings: Mapping[T, Fits]) -> list[T]:
    """Those that the fewest of these values do not fit, in their order; none of them has too many misfits.

    Values that fit `plainly` need no reading, so none helps where all do.
    """
    best: list[T] = []
    needing = count_mismatches(counts, plainly)
    fewest = int(MOST_MISMATCHES * needing)
    for name, fits in readings.items() if needing else ():
        found = count_mismatches(counts, fits, fewest)
        if found < fewest:
            best, fewest = [name], found
        elif found == fewest:
            best.append(name)
    return best
