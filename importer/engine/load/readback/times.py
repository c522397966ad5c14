"""The time that a text stands for, in any notation that a server reads, and what a column keeps of it."""

import re
from datetime import date
from fractions import Fraction
from math import floor

from importer.engine.schema.column_types import Family
from importer.engine.validation.types.temporal import CLOCK, parse_moment
from importer.engine.validation.types.temporal_batch import MOST_FRACTION

# Stands for the year 0, which Python does not have.
LEAP_YEAR = 4
_DAYS_OF_YEAR_0 = 366


def seconds_of(family: Family, text: str) -> Fraction:
    """Seconds since midnight for a TIME, else since the first day of the year 0. ValueError for other texts.

    A part that is missing is 0.
    """
    return _of_clock(text) if family is Family.TIME else _of_moment(text)


def kept_seconds(seconds: Fraction, digits: int) -> set[Fraction]:
    """The values that a column with this many `digits` of a second may store for a time.

    MariaDB cuts it, or rounds it with TIME_ROUND_FRACTIONAL. MySQL rounds it to microseconds, and these to the digits,
    or cuts it with TIME_TRUNCATE_FRACTIONAL.
    """
    return {
        _to_digits(seconds, digits, Fraction(0)),
        _rounded(seconds, digits),
        _rounded(_rounded(seconds, MOST_FRACTION), digits),
    }


def day_of(text: str) -> str:
    """The date as yyyy-mm-dd. ValueError for other texts."""
    moment = parse_moment(text)
    if isinstance(moment, str):
        raise ValueError(text)
    return "{:04}-{:02}-{:02}".format(*moment.date)


def _of_clock(text: str) -> Fraction:
    match = CLOCK.fullmatch(re.sub(r"^(-?\d\d)(\d\d)(\d\d)$", r"\1:\2:\3", text))
    if not match:
        raise ValueError(text)
    hours = int(match["days"] or 0) * 24 + int(match["hour"])
    seconds = (hours * 60 + int(match["minute"])) * 60 + int(match["sec"] or 0)
    return (seconds + _fraction(match["part"])) * (-1 if match["sign"] == "-" else 1)


def _of_moment(text: str) -> Fraction:
    moment = parse_moment(text)
    if isinstance(moment, str):
        raise ValueError(text)
    hour, minute, second = moment.clock
    seconds = ((_days(*moment.date) * 24 + hour) * 60 + minute) * 60 + second + _fraction(moment.part)
    if offset := moment.offset:
        seconds -= int(f"{offset[0]}1") * (int(offset[1:3]) * 60 + int(offset[4:])) * 60
    return seconds


def _fraction(digits: str | None) -> Fraction:
    return Fraction(f"0.{digits or 0}")


def _days(year: int, month: int, day: int) -> int:
    """Days since the first day of the year 0."""
    if year:
        return date(year, month, day).toordinal() - 1 + _DAYS_OF_YEAR_0
    return (date(LEAP_YEAR, month, day) - date(LEAP_YEAR, 1, 1)).days


def _rounded(seconds: Fraction, digits: int) -> Fraction:
    return _to_digits(seconds, digits, Fraction(1, 2))


def _to_digits(seconds: Fraction, digits: int, more: Fraction) -> Fraction:
    """The multiple of the last digit next to the time, towards 0, after `more` of that digit was added."""
    size = Fraction(floor(abs(seconds) * 10**digits + more), 10**digits)
    return -size if seconds < 0 else size
