"""Whole numbers, fixed point, floating point: what of them a column keeps."""

import re
import struct
import sys
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np

from importer.engine.exactness.cells import Cells
from importer.engine.exactness.verdict import (
    NOT_A_VALUE,
    TRUNCATED,
    Verdict,
    misfit,
    out_of_range,
    refused,
    rounded,
    spaces_after,
)

# As the servers read numbers: spaces in front, and on MySQL also behind, do not matter.
_NUMBER = re.compile(
    r"[ \t\n\v\f\r]*(?P<sign>[+-]?)(?P<whole>\d*)(?:\.(?P<part>\d*))?(?:[eE](?P<exponent>[+-]?\d+))?"
    r"(?P<spaces>[ \t\n\v\f\r]*)",
    re.ASCII,
)
_STARTS_WITH_NUMBER = re.compile(r"[ \t\n\v\f\r]*[+-]?(?:\d|\.\d)", re.ASCII)

LOST_DIGITS = "The value has more digits than {type} keeps; it is stored rounded."
# Beyond this, a power of ten is zero or out of range everywhere.
MOST_EXPONENT = 5000
# DECIMAL's; both servers cut what is much longer before they look at it.
MOST_DIGITS = 65
LARGEST_FLOAT = 3.4028234663852886e38
# Smaller ones keep fewer digits.
SMALLEST_FLOAT, SMALLEST_DOUBLE = 1.1754943508222875e-38, 2.2250738585072014e-308


@dataclass(frozen=True)
class Number:
    """A number as it is written: sign, digits without the point, and how many of them come after it (if negative,
    zeros are missing)."""

    negative: bool
    digits: str
    after_point: int
    exponent: bool
    spaces: bool

    @property
    def zero(self) -> bool:
        return not self.digits.strip("0")


def parse(text: str) -> Number | None:
    """The number that is written there; None if it is none."""
    found = _NUMBER.fullmatch(text)
    if not found or not (found["whole"] or found["part"]):
        return None
    part, exponent = found["part"] or "", found["exponent"] or ""
    shift = max(-MOST_EXPONENT, min(MOST_EXPONENT, int(exponent[:9] or 0)))
    return Number(
        found["sign"] == "-", (found["whole"] or "") + part, len(part) - shift, bool(exponent), bool(found["spaces"])
    )


def not_a_number(text: str, type_: str) -> Verdict:
    return misfit(type_, TRUNCATED if _STARTS_WITH_NUMBER.match(text) else NOT_A_VALUE)


@dataclass(frozen=True)
class WholeNumber:
    """TINYINT to BIGINT: `low` to `high`."""

    type: str
    low: int
    high: int
    mariadb: bool

    def unusual(self, cells: Cells) -> Any:
        """The numbers of the cells that need to be judged: all but plain digits that are surely in range."""
        # Any number of so many digits is in range.
        safe = len(str(self.high)) - 1
        plain = cells.match(b"0", longer=True) & (cells.lengths <= safe)
        left = np.flatnonzero(~plain)
        if self.low < 0 and len(left):
            signed = cells.some(left)
            signed = signed.without_sign()
            left = left[~(signed.match(b"0", longer=True) & (signed.lengths <= safe))]
        return left

    def judge(self, text: str) -> Verdict | None:
        number = parse(text)
        if number is None:
            return not_a_number(text, self.type)
        if number.exponent:
            return refused("exponent", f"The value is written with an exponent, which no {self.type} is.")
        whole = number.digits[: len(number.digits) - number.after_point]
        if number.digits[len(whole) :].strip("0"):
            return refused("fraction", "The value is not a whole number; the server would store it rounded.")
        if len(whole) > 30:
            whole = whole.lstrip("0")
        value = int(whole[:40] or 0) * (-1 if number.negative else 1)
        if not self.low <= value <= self.high:
            return out_of_range(self.type)
        return spaces_after(mariadb=self.mariadb) if number.spaces else None


@dataclass(frozen=True)
class FixedPoint:
    """DECIMAL: `precision` digits, `scale` of them after the point."""

    type: str
    precision: int
    scale: int
    unsigned: bool
    mariadb: bool

    def unusual(self, cells: Cells) -> Any:
        """As WholeNumber.unusual."""
        left = np.arange(len(cells))
        for after_point in (self.scale, *range(self.scale), None):
            left = left[~self._fits(cells.some(left), after_point)]
            if not len(left):
                break
        return left

    def _fits(self, cells: Cells, after_point: int | None) -> Any:
        """Which are digits with so many of them after the point (None: and no point), and not too many before it."""
        pattern = b"0" if after_point is None else b"." + b"0" * after_point
        if not self.unsigned:
            cells = cells.without_sign()
        most = self.precision - self.scale + (0 if after_point is None else len(pattern))
        return cells.match(pattern, longer=True) & (cells.lengths <= most) & (cells.lengths > (after_point == 0))

    def judge(self, text: str) -> Verdict | None:
        number = parse(text)
        if number is None:
            return not_a_number(text, self.type)
        if number.negative and self.unsigned and not number.zero:
            return out_of_range(self.type)
        if len(number.digits.lstrip("0")) > MOST_DIGITS:
            return misfit(self.type, TRUNCATED)
        value, lost = _scaled(number, self.scale)
        if value >= 10**self.precision:
            return out_of_range(self.type)
        if lost:
            return rounded(TRUNCATED, LOST_DIGITS.format(type=self.type), noted=True)
        return spaces_after(mariadb=self.mariadb) if number.spaces else None


def _scaled(number: Number, scale: int) -> tuple[int, bool]:
    """The number without its sign as a multiple of 10 ** -scale, rounded half up, and whether that lost anything."""
    digits = number.digits.lstrip("0")
    surplus = number.after_point - scale
    if not digits or surplus <= 0:
        return int(digits or 0) * 10 ** min(-surplus, MOST_EXPONENT), False
    kept, cut = digits[:-surplus] if surplus < len(digits) else "", digits.rjust(surplus, "0")[-surplus:]
    return int(kept or 0) + (cut[0] >= "5"), bool(cut.strip("0"))


def reads_the_same(stored: float, digits: str, after_point: int) -> bool:
    """Whether a float, written with as many digits as these, the first not zero, gives them again."""
    written = Context(prec=len(digits)).create_decimal(Decimal(abs(stored)))
    return written == Decimal(digits).scaleb(-after_point)


@dataclass(frozen=True)
class FloatingPoint:
    """FLOAT and DOUBLE; `scale` is the digits after the point of FLOAT(m,d), -1 without, `precision` is m."""

    type: str
    single: bool
    precision: int
    scale: int
    unsigned: bool
    mariadb: bool

    @property
    def digits(self) -> int:
        """So many significant digits survive always (FLT_DIG, DBL_DIG)."""
        return 6 if self.single else 15

    def unusual(self, cells: Cells) -> Any:
        """As WholeNumber.unusual."""
        if self.scale >= 0:
            return np.arange(len(cells))
        if not self.unsigned:
            cells = cells.without_sign()
        plain, points = cells.digits_and_points()
        # A point, and a zero before it, are no significant digits.
        significant = cells.lengths - points - ((points > 0) & (cells.first == ord("0")))
        plain &= (points < 2) & (cells.lengths > points) & (significant <= self.digits)
        return np.flatnonzero(~plain)

    def judge(self, text: str) -> Verdict | None:
        number = parse(text)
        if number is None:
            return not_a_number(text, self.type)
        value = float(text)
        if abs(value) > (LARGEST_FLOAT if self.single else sys.float_info.max) or (self.unsigned and value < 0):
            return out_of_range(self.type)
        stored = struct.unpack("f", struct.pack("f", value))[0] if self.single else value
        if self.scale >= 0 and abs(round(value, self.scale)) >= 10 ** (self.precision - self.scale):
            return out_of_range(self.type)
        if not self._survives(number, stored):
            return rounded("digits", LOST_DIGITS.format(type=self.type))
        return spaces_after(mariadb=self.mariadb) if number.spaces else None

    def _survives(self, number: Number, stored: float) -> bool:
        """Whether what is stored, written with as many digits as the file has, is what the file says."""
        digits = number.digits.lstrip("0")
        if (
            self.scale >= 0
            and number.after_point > self.scale
            and digits[-(number.after_point - self.scale) :].strip("0")
        ):
            return False
        if not digits:
            return True
        if len(digits) <= self.digits and abs(stored) >= (SMALLEST_FLOAT if self.single else SMALLEST_DOUBLE):
            return True
        return reads_the_same(stored, digits, number.after_point)
