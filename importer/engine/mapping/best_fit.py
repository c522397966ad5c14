"""Finds the readings (transforms or date formats) that fit most values of a sample, if a few values fit none."""

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


def fitting(counts: Counter[str], plainly: Fits, readings: Mapping[T, Fits]) -> list[T]:
    """The readings with few mismatches, the fewest first, otherwise in their order.

    Values that fit `plainly` need no reading. If all values fit `plainly`, the result is empty.
    """
    needing = count_mismatches(counts, plainly)
    most = int(MOST_MISMATCHES * needing)
    mismatches = {name: count_mismatches(counts, fits, most) for name, fits in readings.items()} if needing else {}
    return sorted((name for name, count in mismatches.items() if count <= most), key=mismatches.__getitem__)
