"""Whether a value of the table is the one that stands in the file, though perhaps written in another way.

The file may say `+5`, `1.50` or `2024-1-2 3:04` where the server answers `5`, `1.5` or `2024-01-02 03:04:00`.
"""

import json
import re
from collections.abc import Callable
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from enum import Enum

import numpy as np

from importer.engine.table import Column


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
        return _COMPARISONS.get(column.kind, _text)(column, said.decode(), found)
    except (ValueError, InvalidOperation, UnicodeDecodeError):
        return Sameness.OTHER


def _whole(_column: Column, said: str, found: bytes) -> Sameness:
    return _equal(Decimal(said.strip()) == Decimal(found.decode()))


def _decimal(_column: Column, said: str, found: bytes) -> Sameness:
    wanted, got = Decimal(said.strip()), Decimal(found.decode())
    if wanted == got:
        return Sameness.SAME
    rounded = wanted.quantize(got, ROUND_HALF_UP)
    return Sameness.ROUNDED if rounded == got else Sameness.OTHER


def _double(_column: Column, said: str, found: bytes) -> Sameness:
    """The nearest number that the column can hold is the same: which texts have no exact one is counted elsewhere."""
    return _equal(float(said) == float(found))


def _float(_column: Column, said: str, found: bytes) -> Sameness:
    return _equal(np.float32(float(said)) == np.float32(float(found)))


def _moment(_column: Column, said: str, found: bytes) -> Sameness:
    """Dates and times; a part that the file leaves out is 0, and less than a second may be rounded away."""
    wanted, got = _microseconds(said), _microseconds(found.decode())
    if wanted == got:
        return Sameness.SAME
    return Sameness.ROUNDED if abs(wanted - got) < SECOND else Sameness.OTHER


SECOND = 1_000_000
_MOMENT = re.compile(
    r"(?:(?P<year>\d{4})-?(?P<month>\d{1,2})-?(?P<day>\d{1,2}))?[ T]?"
    r"(?:(?P<minus>-)?(?P<hour>\d+):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,6}))?)?)?"
)


def _microseconds(text: str) -> int:
    """Since midnight, or since the first day of year 1 if there is a date. Raises ValueError for anything else."""
    found = _MOMENT.fullmatch(text.strip())
    if not found:
        raise ValueError(text)
    part = {name: int(value or 0) for name, value in found.groupdict().items() if name not in ("minus", "fraction")}
    days = date(part["year"], part["month"], part["day"]).toordinal() if found["year"] else 0
    seconds = ((days * 24 + part["hour"]) * 60 + part["minute"]) * 60 + part["second"]
    length = seconds * SECOND + int((found["fraction"] or "0").ljust(6, "0"))
    return -length if found["minus"] else length


def _binary(_column: Column, said: str, found: bytes) -> Sameness:
    """BINARY(n) fills up with zero bytes (manual, The BINARY and VARBINARY Types)."""
    return _equal(said.encode().rstrip(b"\0") == found.rstrip(b"\0"))


def _text(_column: Column, said: str, found: bytes) -> Sameness:
    return Sameness.ROUNDED if said.rstrip(" ").encode() == found.rstrip(b" ") else Sameness.OTHER


def _json(_column: Column, said: str, found: bytes) -> Sameness:
    return _equal(json.loads(said) == json.loads(found))


def _member(_column: Column, said: str, found: bytes) -> Sameness:
    """ENUM and SET answer in the spelling of the table."""
    return _equal(sorted(said.casefold().split(",")) == sorted(found.decode().casefold().split(",")))


def _bit(_column: Column, said: str, found: bytes) -> Sameness:
    return _equal(int(said) == int.from_bytes(found, "big"))


def _equal(same: bool) -> Sameness:
    return Sameness.SAME if same else Sameness.OTHER


_COMPARISONS: dict[str, Callable[[Column, str, bytes], Sameness]] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint", "year"), _whole),
    "decimal": _decimal,
    "double": _double,
    "float": _float,
    **dict.fromkeys(("date", "datetime", "timestamp", "time"), _moment),
    "json": _json,
    "binary": _binary,
    **dict.fromkeys(("enum", "set"), _member),
    "bit": _bit,
}
