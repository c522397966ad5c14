"""Recognizes in many cells at once dates and times that certainly exist."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from importer.engine.source.arrays import Mask, Words, np
from importer.engine.validation.cell_batch import Cells

# Fractional digits of seconds. MariaDB gives a Note for more, even for zeros.
MOST_FRACTION = 6

# _DAY_DIGITS masks the four digits of month and day in a word `Y-MM-DD ` (from its lowest byte on). A multiplication by
# _DAY_PACKED moves them into the highest sixteen bits. The _CLOCK constants do so with the digits of `HH:M.:S.`.
_DAY_DIGITS, _DAY_PACKED = 0x000F_0F00_0F0F_0000, 0x0000_0001_1010_0100
_CLOCK_DIGITS, _CLOCK_PACKED = 0x000F_0000_0F00_0F0F, 0x0001_1001_0000_1000


def _packed(word: Words, digits: int, factor: int) -> Words:
    return ((word & np.uint64(digits)) * np.uint64(factor) >> np.uint64(48)).view(np.int64)


def _table(texts: Iterable[str], digits: int, factor: int) -> Mask:
    """A table by a word's packed digits: whether the word is one of these texts of eight characters."""
    table = np.zeros(2**16, bool)
    table[_packed(np.array([text.encode() for text in texts], "S8").view("<u8"), digits, factor)] = True
    return table


_MONTHS = {month: 28 if month == 2 else 30 if month in (4, 6, 9, 11) else 31 for month in range(1, 13)}
_LEAP_DAY = b"02-29"
# For a word `hh:mm:ss`: the addend by which a 6 or more as first digit of minute or second carries, and the carry bits.
_SIX, _CARRY = 0x0A << 24 | 0x0A << 48, 0x40 << 24 | 0x40 << 48
_DATE = len("0000-00-00")


@cache
def _days() -> Mask:
    """The days that exist in every year."""
    days = (f"y-{month:02}-{day:02} " for month, last in _MONTHS.items() for day in range(1, last + 1))
    return _table(days, _DAY_DIGITS, _DAY_PACKED)


@cache
def _clocks() -> Mask:
    clocks = (f"{hour:02}:{minute}.:{second}." for hour in range(24) for minute in range(6) for second in range(6))
    return _table(clocks, _CLOCK_DIGITS, _CLOCK_PACKED)


@cache
def _leap_years() -> Mask:
    """By the last two digits of a year, or the first two of one that ends in 00: whether it is a leap year for sure."""
    return np.array([year % 4 == 0 and year != 0 for year in range(100)])


def existing_moments(cells: Cells, pattern: bytes) -> Mask:
    """A mask of the cells that match the pattern, a date with or without a time, and are a day and time that exist."""
    valid = cells.match(pattern)
    if len(pattern) > _DATE:
        valid &= _clocks()[_packed(cells.word(), _CLOCK_DIGITS, _CLOCK_PACKED)]
        word = cells.word(8)
    else:
        word = cells.word() >> np.uint64(8)
    days = _days()[_packed(word, _DAY_DIGITS, _DAY_PACKED)]
    if not days.all():
        others = np.flatnonzero(valid & ~days)
        days[others] = _leap_days(cells.some(others), len(pattern) - _DATE)
    valid &= days
    return valid


def _leap_days(cells: Cells, before_end: int) -> Mask:
    """A mask of the cells whose date, `before_end` bytes before their end, is a 29 February that certainly exists."""
    year, century = _pair(cells, before_end + 7), _pair(cells, before_end + 9)
    leap = np.where(year, _leap_years()[year], _leap_years()[century])
    for at, byte in enumerate(reversed(_LEAP_DAY), before_end + 1):
        leap &= cells.before_end(at) == byte
    return leap


def _pair(cells: Cells, before_end: int) -> Words:
    """The number of two digits, the last of which is `before_end` bytes before the cells' ends."""
    return cells.digit_before_end(before_end + 1) * 10 + cells.digit_before_end(before_end)


def _below_sixty(word: Words) -> Mask:
    result: Mask = (word + np.uint64(_SIX)) & np.uint64(_CARRY) == 0
    return result


def valid_clocks(cells: Cells) -> Mask:
    """A mask of the cells that are hh:mm:ss with valid minutes and seconds."""
    return cells.match(b"00:00:00") & _below_sixty(cells.word())


@dataclass(frozen=True)
class Fractions:
    """Masks of cells with a fraction of a second after a valid time.

    `known`: these cells. `lost`: those of them that lose digits in the column. A fraction of more than MOST_FRACTION
    digits is in neither.
    """

    known: Mask
    lost: Mask

    @classmethod
    def of(cls, cells: Cells, length: int, find_valid: Callable[[Cells], Mask], digits: int) -> "Fractions":
        """The masks for a column with `digits` fractional digits.

        `find_valid`: gives a mask of valid times of `length` bytes.
        """
        known, lost = np.zeros(len(cells), bool), np.zeros(len(cells), bool)
        for part in range(1, MOST_FRACTION + 1):
            numbers = np.flatnonzero(cells.lengths == length + 1 + part)
            if not len(numbers):
                continue
            head, tail = cells.some(numbers).split(1 + part)
            known[numbers] = find_valid(head) & tail.match(b"." + b"0" * part)
            if part > digits:
                lost[numbers] = known[numbers] & ~tail.zeros_at_end(np.full(len(numbers), part - digits))
        return cls(known, lost)
