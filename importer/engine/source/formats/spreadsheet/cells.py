"""The rows of a sheet as both kinds of workbooks give them, and their numbers and dates as text."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What a cell has."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    TRUTH = "truth"
    ERROR = "error"
    EMPTY = "empty"


class Cell(NamedTuple):
    """A cell's kind, and its value as it stands in the working copy (copy_records.escaped)."""

    kind: Kind
    value: bytes


EMPTY = Cell(Kind.EMPTY, rb"\N")


class Row(NamedTuple):
    """A row of a sheet: its number from 1, its cells from the first column on, and the bytes of the file used."""

    number: int
    cells: list[Cell]
    used: int


Rows = Iterator[Row]


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook. `refusal`: why it cannot be imported, "" if it can. `part`: where it lies in the file."""

    name: str
    part: str
    hidden: bool = False
    refusal: str = ""


def plain_number(text: str) -> str:
    """A number without an exponent, with the digits of the file."""
    return f"{Decimal(text):f}" if "e" in text or "E" in text else text


# The day before the first one, and that of workbooks which count from 1904. A workbook that counts from 1900 has the
# day 60 for a 29 February 1900 that did not exist (ECMA-376 part 1, 18.17.4).
_EPOCH, _EPOCH_1904 = datetime.datetime(1899, 12, 30), datetime.datetime(1904, 1, 1)
_FALSE_LEAP_DAY = 60
_DAY = 86_400_000  # milliseconds, the precision of times in workbooks


def date_of(text: str, from_1904: bool) -> str | None:
    """A number of days as a date, a date with a time, or below 1 as a time; None if it is none."""
    days, fraction = divmod(Decimal(text), 1)
    milliseconds = int((fraction * _DAY).to_integral_value())
    if days < 0 or days > 2_958_465:
        return None
    if days == 0 and milliseconds < _DAY and not from_1904:
        return _clock(milliseconds)
    if not from_1904 and days == _FALSE_LEAP_DAY:
        return None
    epoch = _EPOCH_1904 if from_1904 else _EPOCH
    shift = 1 if not from_1904 and days < _FALSE_LEAP_DAY else 0
    moment = epoch + datetime.timedelta(days=int(days) + shift, milliseconds=milliseconds)
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat(" ", "milliseconds" if moment.microsecond else "seconds")


def duration_of(text: str) -> str:
    """A number of days as hours, minutes and seconds."""
    milliseconds = int((Decimal(text) * _DAY).to_integral_value())
    return f"-{_clock(-milliseconds)}" if milliseconds < 0 else _clock(milliseconds)


def _clock(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    fraction = f".{rest:03}" if rest else ""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def column_name(number: int) -> str:
    """The letters of a column (from 0): A, B, ..., AA."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
