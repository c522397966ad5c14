"""Rules for integers, fixed-point and floating-point numbers: which values a column stores unchanged."""

import re
import struct
import sys
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import cache

from importer.engine.source.arrays import Mask, Offsets, Words, np
from importer.engine.validation.cell_batch import LONGEST, Cells
from importer.engine.validation.verdict import (
    NOT_A_VALUE,
    TRUNCATED,
    Verdict,
    mismatch,
    out_of_range,
    refused,
    rounded,
    spaces_after,
)

# A number as the servers read it: leading spaces, and on MySQL also trailing spaces, are ignored.
_NUMBER = re.compile(
    r"[ \t\n\v\f\r]*(?P<sign>[+-]?)(?P<whole>\d*)(?:\.(?P<part>\d*))?(?:[eE](?P<exponent>[+-]?\d+))?"
    r"(?P<spaces>[ \t\n\v\f\r]*)",
    re.ASCII,
)
_STARTS_WITH_NUMBER = re.compile(r"[ \t\n\v\f\r]*[+-]?(?:\d|\.\d)", re.ASCII)

LOST_DIGITS = "The value has more digits than {type} keeps; it is stored rounded."
# A larger power of ten is zero or out of range for every type.
MOST_EXPONENT = 5000
# DECIMAL's maximum; both servers cut much longer numbers before they read them.
MOST_DIGITS = 65
LARGEST_FLOAT = 3.4028234663852886e38
# A double distinguishes all decimal numbers of up to this many digits.
SURE_DIGITS = 15
# Smaller numbers keep fewer digits.
SMALLEST_FLOAT, SMALLEST_DOUBLE = 1.1754943508222875e-38, 2.2250738585072014e-308


@dataclass(frozen=True)
class Number:
    """A number as written: sign, digits without the point, and the number of digits after the point.

    A negative `after_point` is the number of zeros missing at the end. `exponent`, `spaces`: whether it has an
    exponent, and trailing spaces.
    """

    negative: bool
    digits: str
    after_point: int
    exponent: bool
    spaces: bool

    @property
    def zero(self) -> bool:
        return not self.digits.strip("0")


def parse(text: str) -> Number | None:
    """Parse a number; None if the text is no number."""
    match = _NUMBER.fullmatch(text)
    if not match or not (match["whole"] or match["part"]):
        return None
    part, exponent = match["part"] or "", match["exponent"] or ""
    shift = max(-MOST_EXPONENT, min(MOST_EXPONENT, int(exponent[:9] or 0)))
    return Number(
        match["sign"] == "-", (match["whole"] or "") + part, len(part) - shift, bool(exponent), bool(match["spaces"])
    )


def not_a_number(text: str, type_: str) -> Verdict:
    return mismatch(type_, TRUNCATED if _STARTS_WITH_NUMBER.match(text) else NOT_A_VALUE)


@dataclass(frozen=True)
class WholeNumber:
    """TINYINT to BIGINT: `low` to `high`."""

    type: str
    low: int
    high: int
    mariadb: bool

    def unusual(self, cells: Cells) -> Offsets:
        """The numbers of the cells to judge: all except plain digits that are certainly in range."""
        left = np.flatnonzero(~self._plain(cells))
        if self.low < 0 and len(left):
            left = left[~self._plain(cells.some(left).without_sign())]
        return left

    def _plain(self, cells: Cells) -> Mask:
        # A number with fewer digits than the largest is in range, and so are most with as many.
        most = str(self.high).encode()
        plain = (cells.non_digits == 0) & (cells.lengths > 0)
        if cells.longest >= len(most):
            plain &= (cells.lengths < len(most)) | cells.below(most)
        result: Mask = plain
        return result

    def judge(self, text: str) -> Verdict | None:
        number = parse(text)
        if number is None:
            return not_a_number(text, self.type)
        if number.exponent:
            return refused("exponent", f"The value has an exponent, which is not accepted for {self.type}.")
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
    """DECIMAL with `precision` digits, `scale` of them after the point."""

    type: str
    precision: int
    scale: int
    unsigned: bool
    mariadb: bool

    def unusual(self, cells: Cells) -> Offsets:
        """As WholeNumber.unusual."""
        left = np.flatnonzero(~self._usual(cells))
        if not len(left):
            return left
        some = cells.some(left) if self.unsigned else cells.some(left).without_sign()
        return left[~self._plain(some)]

    def _usual(self, cells: Cells) -> Mask:
        """A mask of the cells with exactly `scale` digits after the point, as in most files; faster than _plain()."""
        if not self.scale:
            whole: Mask = (cells.non_digits == 0) & (cells.lengths > 0)
            return whole & (cells.lengths <= min(self.precision, LONGEST))
        usual: Mask = (cells.non_digits if self.unsigned else cells.non_digits_but_minus) == np.uint64(
            1 << (63 - self.scale)
        )
        usual &= cells.before_end(self.scale + 1) == ord(".")
        most = min(self.precision + 1, LONGEST - 1)
        if cells.longest > most:
            usual &= (cells.lengths if self.unsigned else cells.lengths - cells.minus) <= most
        return usual

    def _plain(self, cells: Cells) -> Mask:
        """A mask of the cells that are digits with at most one point, and not too many before and after it."""
        point = cells.points
        before = self.precision - self.scale
        # The fewer digits follow the point, the higher its bit.
        most_after = np.uint64(1 << (63 - self.scale))
        most_before = _bits()[np.minimum(np.maximum(cells.lengths - 1 - before, 0), LONGEST)]
        plain = cells.non_digits == point
        plain &= (point & (point - np.uint64(1)) == 0) & (point >= most_after) & (point <= most_before)
        plain &= (cells.lengths > 1) & (cells.lengths <= LONGEST)
        result: Mask = plain | ((cells.non_digits == 0) & (cells.lengths > 0) & (cells.lengths <= min(before, LONGEST)))
        return result

    @property
    def loss(self) -> Verdict:
        return rounded(TRUNCATED, LOST_DIGITS.format(type=self.type), noted=True)

    def loses(self, cells: Cells) -> Mask:
        """A mask of the cells that are in range and certainly lose digits; faster than judging each."""
        if not self.unsigned:
            cells = cells.without_sign()
        cut = cells.after_point() - self.scale
        return (
            _decimals(cells)
            & (cut > 0)
            & (cells.lengths - cut < self.precision)
            & ~cells.zeros_at_end(np.clip(cut, 0, 8))
        )

    def judge(self, text: str) -> Verdict | None:
        number = parse(text)
        if number is None:
            return not_a_number(text, self.type)
        if number.negative and self.unsigned and not number.zero:
            return out_of_range(self.type)
        if len(number.digits.lstrip("0")) > MOST_DIGITS:
            return mismatch(self.type, TRUNCATED)
        value, lost = _scaled(number, self.scale)
        if value >= 10**self.precision:
            return out_of_range(self.type)
        if lost:
            return self.loss
        return spaces_after(mariadb=self.mariadb) if number.spaces else None


@cache
def _bits() -> Words:
    """Words with one bit, from the highest bit down."""
    return np.array([1 << (63 - at) for at in range(LONGEST + 1)], np.uint64)


def _decimals(cells: Cells) -> Mask:
    """A mask of the cells that are digits with one point."""
    point = cells.points
    single = (point != 0) & (point & (point - np.uint64(1)) == 0)
    result: Mask = single & (cells.non_digits == point) & (cells.lengths > 1) & (cells.lengths <= LONGEST)
    return result


def _scaled(number: Number, scale: int) -> tuple[int, bool]:
    """The absolute number as a multiple of 10 ** -scale, rounded half up, and whether the rounding changed it."""
    digits = number.digits.lstrip("0")
    surplus = number.after_point - scale
    if not digits or surplus <= 0:
        return int(digits or 0) * 10 ** min(-surplus, MOST_EXPONENT), False
    kept, cut = digits[:-surplus] if surplus < len(digits) else "", digits.rjust(surplus, "0")[-surplus:]
    return int(kept or 0) + (cut[0] >= "5"), bool(cut.strip("0"))


def reads_the_same(stored: float, digits: str, after_point: int) -> bool:
    """Whether a float, rounded to as many digits as `digits` has, gives `digits` again; their first is not zero.

    A float in the middle between two decimal numbers (2**-24) may be rounded to either.
    """
    wanted, exact = Decimal(f"{digits}E{-after_point}"), Decimal(abs(stored))
    # Not by Decimal's arithmetic, which would round to 28 digits.
    roundings = (Context(len(digits), rounding) for rounding in (ROUND_HALF_UP, ROUND_HALF_DOWN))
    return any(wanted == rounding.create_decimal(exact) for rounding in roundings)


@dataclass(frozen=True)
class FloatingPoint:
    """FLOAT and DOUBLE. For FLOAT(m,d) `precision` is m and `scale` is d; otherwise `scale` is -1."""

    type: str
    single: bool
    precision: int
    scale: int
    unsigned: bool
    mariadb: bool

    @property
    def digits(self) -> int:
        """The number of significant digits that the type always keeps (FLT_DIG, DBL_DIG)."""
        return 6 if self.single else 15

    @property
    def decimal(self) -> FixedPoint | None:
        """For FLOAT(m,d), a DECIMAL whose values the type keeps; None if there is none."""
        precision = min(self.precision, self.digits)
        if not 0 <= self.scale < precision:
            return None
        return FixedPoint(self.type, precision, self.scale, self.unsigned, self.mariadb)

    def unusual(self, cells: Cells) -> Offsets:
        """As WholeNumber.unusual."""
        if self.scale >= 0:
            return self.decimal.unusual(cells) if self.decimal else np.arange(len(cells))
        if not self.unsigned:
            cells = cells.without_sign()
        point = cells.points
        pointed = point != 0
        # The point, and a zero before it, are no significant digits.
        significant = cells.lengths - pointed - (pointed & (cells.first == ord("0")))
        plain = (cells.non_digits == point) & (point & (point - np.uint64(1)) == 0)
        plain &= (cells.lengths > pointed) & (cells.lengths <= LONGEST)
        left = np.flatnonzero(~(plain & (significant <= self.digits)))
        if not len(left):
            return left
        long = left[plain[left]]
        keeps = self._keep_single if self.single else self._keep_double
        return np.setdiff1d(left, long[keeps(cells.some(long))], assume_unique=True)

    def _keep_single(self, cells: Cells) -> Mask:
        """A mask of the cells, of digits with at most one point, that FLOAT certainly returns as written."""
        values = np.array(cells.texts(slice(None)), "S").astype(np.float64)
        stored = values.astype(np.float32).astype(np.float64)
        # Less than half of the last digit; with so few digits the rounding of doubles does not matter.
        return (np.abs(stored - values) < 0.49 * 10.0 ** -cells.after_point()) & (cells.lengths <= SURE_DIGITS)

    def _keep_double(self, cells: Cells) -> Mask:
        """As _keep_single(), for DOUBLE: the cells that are the shortest notation of their number."""
        texts = cells.texts(slice(None))
        return np.array([repr(float(text)) == str(text, "ascii") for text in texts], bool)

    @property
    def loss(self) -> Verdict:
        return rounded("digits", LOST_DIGITS.format(type=self.type))

    def loses(self, cells: Cells) -> Mask:
        """A mask of the cells that are in range and certainly lose digits; faster than judging each."""
        if not self.unsigned:
            cells = cells.without_sign()
        some = _decimals(cells)
        if not self.single or self.scale >= 0 or not some.any():
            return np.zeros(len(cells), bool)
        values = np.array(cells.some(some).texts(slice(None)), "S").astype(np.float64)
        stored = values.astype(np.float32).astype(np.float64)
        # More than half of the last digit plus the error of a double.
        sure = 0.51 * 10.0 ** -cells.some(some).after_point() + np.abs(values) * 2.0**-52
        some[some] = np.abs(stored - values) > sure
        return some

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
            return self.loss
        return spaces_after(mariadb=self.mariadb) if number.spaces else None

    def _survives(self, number: Number, stored: float) -> bool:
        """Whether the stored number, rounded to as many digits as the file has, equals the number in the file."""
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
