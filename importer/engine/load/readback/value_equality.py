"""Whether a value of the table is the one that stands in the file, though perhaps written in another way.

The file may say `+5`, `1.50` or `2024-1-2 3:04` where the server answers `5`, `1.5` or `2024-01-02 03:04:00`.
"""

import json
import re
from collections.abc import Callable
from datetime import date
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction

import numpy as np

from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column


class Sameness(Enum):
    """SAME says the same; ROUNDED lost digits, a fraction of a second or trailing spaces; OTHER is another value."""

    SAME = "same"
    ROUNDED = "rounded"
    OTHER = "other"


def same_value(column: Column, said: bytes, found: bytes) -> Sameness:
    """Compare what the file says for the column (UTF-8, after its transform) with what the server answers."""
    if said == found:
        return Sameness.SAME
    try:
        family = column.column_type.family
        if in_bytes := _IN_BYTES.get(family):
            return in_bytes(column, said, found)
        return _COMPARISONS.get(family, _text)(column, said.decode(), found)
    except (ValueError, InvalidOperation, UnicodeDecodeError):
        return Sameness.OTHER


def accepted(column: Column, said: bytes | None, found: bytes | None, rounding: bool) -> bool:
    """Whether the two say the same; with `rounding`, also where digits were lost."""
    if said is None or found is None:
        return said is found
    sameness = same_value(column, said, found)
    return sameness is Sameness.SAME or (rounding and sameness is Sameness.ROUNDED)


# More digits than any column holds; the usual 28 are too few.
_EXACT = Context(prec=200)


def _whole(_column: Column, said: str, found: bytes) -> Sameness:
    return _equal(Decimal(said.strip()) == Decimal(found.decode()))


def _decimal(_column: Column, said: str, found: bytes) -> Sameness:
    wanted, got = Decimal(said.strip()), Decimal(found.decode())
    if wanted == got:
        return Sameness.SAME
    rounded = wanted.quantize(got, ROUND_HALF_UP, _EXACT)
    return Sameness.ROUNDED if rounded == got else Sameness.OTHER


def _floating(column: Column, said: str, found: bytes) -> Sameness:
    return _float(column, said, found) if column.column_type.is_single else _double(column, said, found)


def _double(column: Column, said: str, found: bytes) -> Sameness:
    """The nearest number that the column can hold is the same: which texts have no exact one is counted elsewhere."""
    if float(said) == float(found):
        return Sameness.SAME
    return _to_scale(column, said, lambda rounded: rounded == float(found))


def _float(column: Column, said: str, found: bytes) -> Sameness:
    stored = np.float32(float(found))
    # What is beyond a float's range becomes infinite, and no stored value is.
    with np.errstate(over="ignore"):
        if np.float32(float(said)) == stored:
            return Sameness.SAME
        return _to_scale(column, said, lambda rounded: np.float32(rounded) == stored)


def _to_scale(column: Column, said: str, is_stored: Callable[[float], bool]) -> Sameness:
    """FLOAT(m,d) and DOUBLE(m,d) round to d digits; half of the last one goes up or down, as its double happens to."""
    scale = re.search(r"\(\d+,(\d+)\)", column.type)
    if not scale:
        return Sameness.OTHER
    last = Decimal(1).scaleb(-int(scale[1]))
    either = (Decimal(said.strip()).quantize(last, how, _EXACT) for how in (ROUND_HALF_UP, ROUND_HALF_DOWN))
    return Sameness.ROUNDED if any(is_stored(float(rounded)) for rounded in either) else Sameness.OTHER


def _moment(_column: Column, said: str, found: bytes) -> Sameness:
    """Dates and times; a part that the file leaves out is 0, and less than a second may be rounded away."""
    wanted, got = _seconds(said), _seconds(found.decode())
    if wanted == got:
        return Sameness.SAME
    return Sameness.ROUNDED if abs(wanted - got) < 1 else Sameness.OTHER


# What one server or the other reads (validation/types/temporal.py says which).
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
    """Since midnight, or since the first day of year 1 if there is a date. Raises ValueError for anything else."""
    text = re.sub(r"^(-?\d\d)(\d\d)(\d\d)$", r"\1:\2:\3", text.strip())
    found = _CLOCK.fullmatch(text) or _DATED.fullmatch(text)
    if not found:
        raise ValueError(text)
    part = found.groupdict(default="")
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


def _binary(column: Column, said: bytes, found: bytes) -> Sameness:
    """BINARY(n) fills up with zero bytes (manual, The BINARY and VARBINARY Types); other types keep each byte."""
    return _equal(column.column_type.fixed and said.rstrip(b"\0") == found.rstrip(b"\0"))


def _text(column: Column, said: str, found: bytes) -> Sameness:
    """CHAR loses spaces at the end, VARCHAR white space beyond its length."""
    if said.rstrip(" ").encode() == found.rstrip(b" "):
        return Sameness.ROUNDED
    full = re.match(rf"\w+\({len(found.decode())}\)", column.type)
    cut = said[len(found.decode()) :]
    beyond = full and said.startswith(found.decode()) and not cut.strip(" \t\n\v\f\r")
    return Sameness.ROUNDED if beyond else Sameness.OTHER


def _json(_column: Column, said: str, found: bytes) -> Sameness:
    return _equal(json.loads(said) == json.loads(found))


def _member(_column: Column, said: str, found: bytes) -> Sameness:
    """ENUM and SET answer in the spelling of the table; a SET has each member once."""
    wanted, got = set(said.casefold().split(",")), set(found.decode().casefold().split(","))
    if wanted == got:
        return Sameness.SAME
    return Sameness.ROUNDED if {each.rstrip(" ") for each in wanted} == got else Sameness.OTHER


def _bit(_column: Column, said: bytes, found: bytes) -> Sameness:
    """Bytes, or the number that a transform has made of the text."""
    stored = int.from_bytes(found, "big")
    return _equal(int.from_bytes(said, "big") == stored or (said.isdigit() and int(said) == stored))


def _equal(same: bool) -> Sameness:
    return Sameness.SAME if same else Sameness.OTHER


# Their values need not be UTF-8.
_IN_BYTES: dict[Family, Callable[[Column, bytes, bytes], Sameness]] = {Family.BYTES: _binary, Family.BIT: _bit}
# All others as texts.
_COMPARISONS: dict[Family, Callable[[Column, str, bytes], Sameness]] = {
    **dict.fromkeys((Family.INTEGER, Family.YEAR), _whole),
    Family.DECIMAL: _decimal,
    Family.FLOATING: _floating,
    **dict.fromkeys((Family.DATE, Family.MOMENT, Family.TIME), _moment),
    Family.JSON: _json,
    **dict.fromkeys((Family.ENUM, Family.SET), _member),
}
