"""Times in many cells at once: which surely name a day and a time that exist."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from importer.engine.source.arrays import Mask, Words
from importer.engine.validation.cell_batch import Cells

# Digits of a second. MariaDB says a Note for more, even for zeros.
MOST_FRACTION = 6

# Times a word in which only the four digits of month and day are left, `Y-MM-DD ` from its lowest byte on, this puts
# them side by side into the highest sixteen bits; _CLOCK_PACKED the same with those of `HH:M.:S.`.
_DAY_DIGITS, _DAY_PACKED = np.uint64(0x000F_0F00_0F0F_0000), np.uint64(0x0000_0001_1010_0100)
_CLOCK_DIGITS, _CLOCK_PACKED = np.uint64(0x000F_0000_0F00_0F0F), np.uint64(0x0001_1001_0000_1000)


def _packed(word: Words, digits: np.uint64, factor: np.uint64) -> Words:
    return ((word & digits) * factor >> np.uint64(48)).view(np.int64)


def _table(texts: Iterable[str], digits: np.uint64, factor: np.uint64) -> Mask:
    """By the packed digits of a word: whether it is one of these texts of eight characters."""
    table = np.zeros(2**16, bool)
    table[_packed(np.array([text.encode() for text in texts], "S8").view("<u8"), digits, factor)] = True
    return table


_MONTHS = {month: 28 if month == 2 else 30 if month in (4, 6, 9, 11) else 31 for month in range(1, 13)}
# The days that each year has.
_DAYS = _table(
    (f"y-{month:02}-{day:02} " for month, last in _MONTHS.items() for day in range(1, last + 1)),
    _DAY_DIGITS,
    _DAY_PACKED,
)
_CLOCKS = _table(
    (f"{hour:02}:{minute}.:{second}." for hour in range(24) for minute in range(6) for second in range(6)),
    _CLOCK_DIGITS,
    _CLOCK_PACKED,
)
_LEAP_DAY = b"02-29"
# By the last two digits of a year, or by the first two of one that ends in 00: whether it surely has that day.
_LEAP = np.array([year % 4 == 0 and year != 0 for year in range(100)])
# In the word `hh:mm:ss`: what makes 6 in place of the first digit of minute or second carry, and where to.
_SIX, _CARRY = np.uint64(0x0A << 24 | 0x0A << 48), np.uint64(0x40 << 24 | 0x40 << 48)
_DATE = len("0000-00-00")


def surely_moment(cells: Cells, pattern: bytes) -> Mask:
    """Which cells look like the pattern, a date that a time may follow, and name a day and a time that exist."""
    surely = cells.match(pattern)
    if len(pattern) > _DATE:
        surely &= _CLOCKS[_packed(cells.word(), _CLOCK_DIGITS, _CLOCK_PACKED)]
        word = cells.word(8)
    else:
        word = cells.word() >> np.uint64(8)
    days = _DAYS[_packed(word, _DAY_DIGITS, _DAY_PACKED)]
    if not days.all():
        others = np.flatnonzero(surely & ~days)
        days[others] = _leap_days(cells.some(others), len(pattern) - _DATE)
    surely &= days
    return surely


def _leap_days(cells: Cells, before_end: int) -> Mask:
    """Which of the cells with a date so many bytes before their ends name a 29th of February that surely exists."""
    year, century = _pair(cells, before_end + 7), _pair(cells, before_end + 9)
    leap = np.where(year, _LEAP[year], _LEAP[century])
    for at, byte in enumerate(reversed(_LEAP_DAY), before_end + 1):
        leap &= cells.before_end(at) == byte
    return leap


def _pair(cells: Cells, before_end: int) -> Words:
    """The number that two digits make, the last of them so many bytes before the cells' ends."""
    return cells.digit_before_end(before_end + 1) * 10 + cells.digit_before_end(before_end)


def _below_sixty(word: Words) -> Mask:
    result: Mask = (word + _SIX) & _CARRY == 0
    return result


def surely_clock(cells: Cells) -> Mask:
    """Which cells are hh:mm:ss with minutes and seconds that exist."""
    return cells.match(b"00:00:00") & _below_sixty(cells.word())


@dataclass(frozen=True)
class Fractions:
    """Masks of cells: which end in a fraction of a second behind what `surely` knows, and which of these lose some of
    it where only so many digits are kept. A longer fraction than MariaDB takes without a Note is neither.
    """

    known: Mask
    lost: Mask

    @classmethod
    def of(cls, cells: Cells, length: int, surely: Callable[[Cells], Mask], digits: int) -> "Fractions":
        """`length` is that of what `surely` knows."""
        known, lost = np.zeros(len(cells), bool), np.zeros(len(cells), bool)
        for part in range(1, MOST_FRACTION + 1):
            found = np.flatnonzero(cells.lengths == length + 1 + part)
            if not len(found):
                continue
            head, tail = cells.some(found).split(1 + part)
            known[found] = surely(head) & tail.match(b"." + b"0" * part)
            if part > digits:
                lost[found] = known[found] & ~tail.zeros_at_end(np.full(len(found), part - digits))
        return cls(known, lost)
