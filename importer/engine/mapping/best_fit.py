"""Finds the reading (transform or date format) that fits most values of a sample, if a few values fit none."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

# A reading is not suggested if more than this share of the values that need one does not fit it.
MOST_MISMATCHES = 0.05

T = TypeVar("T")
Fits = Callable[[str], bool]


def count_mismatches(counts: Counter[str], fits: Fits, most: int | None = None) -> int:
    """The number of values that do not fit; counting stops once it exceeds `most`."""
    mismatches = 0
    for value, times in counts.items():
        if not fits(value):
            mismatches += times
            if most is not None and mismatches > most:
                break
    return mismatches


def best_readings(counts: Counter[str], plainly: Fits, readings: Mapping[T, Fits]) -> list[T]:
    """The readings with the fewest mismatches, in their order; empty if every reading has too many.

    Values that fit `plainly` need no reading. If all values fit `plainly`, the result is empty.
    """
    best: list[T] = []
    needing = count_mismatches(counts, plainly)
    fewest = int(MOST_MISMATCHES * needing)
    for name, fits in readings.items() if needing else ():
        mismatches = count_mismatches(counts, fits, fewest)
        if mismatches < fewest:
            best, fewest = [name], mismatches
        elif mismatches == fewest:
            best.append(name)
    return best
