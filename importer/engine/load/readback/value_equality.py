"""Decides whether a stored value equals the value in the file, which may be written in another notation.

The file may have `+5`, `1.50` or `2024-1-2 3:04` where the server returns `5`, `1.5` or `2024-01-02 03:04:00`.
"""

import json
import re
from collections.abc import Callable
from datetime import date
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction

from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column
from importer.engine.source.arrays import np


class Sameness(Enum):
    """SAME: equal values. ROUNDED: lost digits, a fraction of a second or trailing spaces. OTHER: different values."""

    SAME = "same"
    ROUNDED = "rounded"
    OTHER = "other"


def same_value(column: Column, expected: bytes, stored: bytes) -> Sameness:
    """Compare the file's value for the column (UTF-8, after its transform) with the text that the server returns."""
    if expected == stored:
        return Sameness.SAME
    try:
        family = column.column_type.family
        if in_bytes := _IN_BYTES.get(family):
            return in_bytes(column, expected, stored)
        return _COMPARISONS.get(family, _text)(column, expected.decode(), stored)
    except (ValueError, InvalidOperation, UnicodeDecodeError):
        return Sameness.OTHER


def accepted(column: Column, expected: bytes | None, stored: bytes | None, rounding: bool) -> bool:
    """Whether the values are equal; with `rounding`, also if the stored one is ROUNDED. None is NULL."""
    if expected is None or stored is None:
        return expected is stored
    sameness = same_value(column, expected, stored)
    return sameness is Sameness.SAME or (rounding and sameness is Sameness.ROUNDED)


# More digits than any column holds; the usual 28 are too few.
_EXACT = Context(prec=200)


def _whole(_column: Column, expected: str, stored: bytes) -> Sameness:
    return _equal(Decimal(expected.strip()) == Decimal(stored.decode()))


def _decimal(_column: Column, expected: str, stored: bytes) -> Sameness:
    expected_number, stored_number = Decimal(expected.strip()), Decimal(stored.decode())
    if expected_number == stored_number:
        return Sameness.SAME
    rounded = expected_number.quantize(stored_number, ROUND_HALF_UP, _EXACT)
    return Sameness.ROUNDED if rounded == stored_number else Sameness.OTHER


def _floating(column: Column, expected: str, stored: bytes) -> Sameness:
    return _float(column, expected, stored) if column.column_type.is_single else _double(column, expected, stored)


def _double(column: Column, expected: str, stored: bytes) -> Sameness:
    """The nearest double is SAME. Texts without an exact double are counted by the validation."""
    if float(expected) == float(stored):
        return Sameness.SAME
    return _to_scale(column, expected, lambda rounded: rounded == float(stored))


def _float(column: Column, expected: str, stored: bytes) -> Sameness:
    stored_number = np.float32(float(stored))
    # A number beyond a float's range becomes infinite, which no stored value is.
    with np.errstate(over="ignore"):
        if np.float32(float(expected)) == stored_number:
            return Sameness.SAME
        return _to_scale(column, expected, lambda rounded: np.float32(rounded) == stored_number)


def _to_scale(column: Column, expected: str, is_stored: Callable[[float], bool]) -> Sameness:
    """Compare after rounding to d digits, as FLOAT(m,d) and DOUBLE(m,d) do.

    A half of the last digit goes up or down, depending on its nearest double; both are accepted.
    """
    scale = re.search(r"\(\d+,(\d+)\)", column.type)
    if not scale:
        return Sameness.OTHER
    last = Decimal(1).scaleb(-int(scale[1]))
    either = (Decimal(expected.strip()).quantize(last, how, _EXACT) for how in (ROUND_HALF_UP, ROUND_HALF_DOWN))
    return Sameness.ROUNDED if any(is_stored(float(rounded)) for rounded in either) else Sameness.OTHER


def _moment(_column: Column, expected: str, stored: bytes) -> Sameness:
    """Compare dates and times. A missing part is 0; a difference of less than a second is ROUNDED."""
    expected_seconds, stored_seconds = _seconds(expected), _seconds(stored.decode())
    if expected_seconds == stored_seconds:
        return Sameness.SAME
    return Sameness.ROUNDED if abs(expected_seconds - stored_seconds) < 1 else Sameness.OTHER


# The notations that MySQL or MariaDB reads (validation/types/temporal.py says which server reads which).
_DATED = re.compile(
    r"(?P<year>\d{4})\W?(?P<month>\d{1,2})\W?(?P<day>\d{1,2})"
    r"(?:(?:T|\s+)?(?P<hour>\d{1,2})(?:\W?(?P<minute>\d{1,2})(?:\W?(?P<second>\d{1,2})(?:\.(?P<fraction>\d*))?)?)?)?"
    r"(?P<offset>[+-]\d\d:\d\d)?"
)
_CLOCK = re.compile(
    r"(?P<minus>-)?(?:(?P<days>\d{1,2}) )?(?P<hour>\d+):(?P<minute>\d{1,2})"
    r"(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d*))?)?"
)
LEAP_YEAR = 4  # stands for the year 0, which Python does not have


def _seconds(text: str) -> Fraction:
    """Seconds since midnight, or since the first day of year 1 if there is a date. ValueError for other texts."""
    text = re.sub(r"^(-?\d\d)(\d\d)(\d\d)$", r"\1:\2:\3", text.strip())
    match = _CLOCK.fullmatch(text) or _DATED.fullmatch(text)
    if not match:
        raise ValueError(text)
    part = match.groupdict(default="")
    number = {name: int(part.get(name) or 0) for name in ("year", "month", "day", "days", "hour", "minute", "second")}
    days = _days(number["year"], number["month"], number["day"]) if "year" in part else number["days"]
    seconds = ((days * 24 + number["hour"]) * 60 + number["minute"]) * 60 + number["second"]
    length = seconds + Fraction(f"0.{part['fraction'] or 0}")
    if offset := part.get("offset"):
        length -= int(f"{offset[0]}1") * (int(offset[1:3]) * 60 + int(offset[4:])) * 60
    return -length if part.get("minus") else length


def _days(year: int, month: int, day: int) -> int:
    if year:
        return date(year, month, day).toordinal()
    return date(LEAP_YEAR, month, day).toordinal() - date(LEAP_YEAR + 1, 1, 1).toordinal()


def _binary(column: Column, expected: bytes, stored: bytes) -> Sameness:
    """BINARY(n) is padded with zero bytes (manual, The BINARY and VARBINARY Types); other types keep each byte."""
    return _equal(column.column_type.fixed and expected.rstrip(b"\0") == stored.rstrip(b"\0"))


def _text(column: Column, expected: str, stored: bytes) -> Sameness:
    """CHAR loses trailing spaces, VARCHAR trailing white space beyond its length."""
    if expected.rstrip(" ").encode() == stored.rstrip(b" "):
        return Sameness.ROUNDED
    full = re.match(rf"\w+\({len(stored.decode())}\)", column.type)
    cut = expected[len(stored.decode()) :]
    beyond = full and expected.startswith(stored.decode()) and not cut.strip(" \t\n\v\f\r")
    return Sameness.ROUNDED if beyond else Sameness.OTHER


def _json(_column: Column, expected: str, stored: bytes) -> Sameness:
    return _equal(json.loads(expected) == json.loads(stored))


def _member(_column: Column, expected: str, stored: bytes) -> Sameness:
    """The server returns the members of ENUM and SET in the table's spelling; a SET has each member once."""
    expected_members = set(expected.casefold().split(","))
    stored_members = set(stored.decode().casefold().split(","))
    if expected_members == stored_members:
        return Sameness.SAME
    trimmed = {each.rstrip(" ") for each in expected_members}
    return Sameness.ROUNDED if trimmed == stored_members else Sameness.OTHER


def _bit(_column: Column, expected: bytes, stored: bytes) -> Sameness:
    """The expected value is the bytes themselves, or the decimal number that a transform made of the text."""
    bits = int.from_bytes(stored, "big")
    return _equal(int.from_bytes(expected, "big") == bits or (expected.isdigit() and int(expected) == bits))


def _equal(same: bool) -> Sameness:
    return Sameness.SAME if same else Sameness.OTHER


# Families that are compared as bytes: their values need not be UTF-8.
_IN_BYTES: dict[Family, Callable[[Column, bytes, bytes], Sameness]] = {Family.BYTES: _binary, Family.BIT: _bit}
# Families that are compared as text; a family that is in neither table is compared by _text().
_COMPARISONS: dict[Family, Callable[[Column, str, bytes], Sameness]] = {
    **dict.fromkeys((Family.INTEGER, Family.YEAR), _whole),
    Family.DECIMAL: _decimal,
    Family.FLOATING: _floating,
    **dict.fromkeys((Family.DATE, Family.MOMENT, Family.TIME), _moment),
    Family.JSON: _json,
    **dict.fromkeys((Family.ENUM, Family.SET), _member),
}
