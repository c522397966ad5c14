"""Decides whether a stored value equals the value in the file, which may be written in another notation.

The file may have `+5`, `1.50` or `2024-1-2 3:04` where the server returns `5`, `1.5` or `2024-01-02 03:04:00`.
"""

import json
import re
from collections.abc import Callable
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from enum import Enum
from functools import lru_cache
from ipaddress import ip_address
from uuid import UUID

from importer.engine.load.readback.row_keys import kept_text
from importer.engine.load.readback.times import kept_seconds, seconds_of
from importer.engine.schema.charsets import AS_UTF8, MOST_BYTES, WITH_LONG_CHARACTERS
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, list_members
from importer.engine.source.arrays import np
from importer.engine.validation.types.texts import WHITE


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
        compare = _COMPARISONS.get(family)
        return compare(column, expected.decode(), stored) if compare else Sameness.OTHER
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


def _moment(column: Column, expected: str, stored: bytes) -> Sameness:
    """Compare dates and times. ROUNDED is what the column does to digits that it does not have."""
    family = column.column_type.family
    expected_seconds, stored_seconds = seconds_of(family, expected), seconds_of(family, stored.decode())
    if expected_seconds == stored_seconds:
        return Sameness.SAME
    kept = family is not Family.DATE and stored_seconds in kept_seconds(expected_seconds, column.declared_size)
    return Sameness.ROUNDED if kept else Sameness.OTHER


def _binary(column: Column, expected: bytes, stored: bytes) -> Sameness:
    """BINARY(n) is padded with zero bytes (manual, The BINARY and VARBINARY Types); other types keep each byte."""
    return _equal(column.column_type.fixed and expected.ljust(len(stored), b"\0") == stored)


def _text(column: Column, expected: str, stored: bytes) -> Sameness:
    return Sameness.ROUNDED if _shortens(column, expected, stored.decode()) else Sameness.OTHER


def _json(_column: Column, expected: str, stored: bytes) -> Sameness:
    """MySQL shortens whole numbers of 64 bits and stores all others as doubles; 1 and 1.0 are equal, 1 and true are not
    (manual, Comparison and Ordering of JSON Values).
    """
    document = _document(stored.decode(), int)
    if _document(expected, int) == document:
        return Sameness.SAME
    return Sameness.ROUNDED if _document(expected, _in_64_bits) == document else Sameness.OTHER


def _document(text: str, whole: Callable[[str], float]) -> object:
    """The JSON document. Numbers are in tuples, which no other value equals: in Python, True equals 1."""
    return json.loads(text, parse_int=lambda number: (whole(number),), parse_float=lambda number: (float(number),))


def _in_64_bits(number: str) -> float:
    return int(number) if -(2**63) <= int(number) < 2**64 else float(number)


def _member(column: Column, expected: str, stored: bytes) -> Sameness:
    """The server returns the members of ENUM and SET in the table's spelling; a SET has each member once."""
    several = column.column_type.family is Family.SET
    words, members = (set(text.split(",")) if several else {text} for text in (expected, stored.decode()))
    if {_spelled(column, word) for word in words} == members:
        return Sameness.SAME
    bare = {_spelled(column, word.rstrip(" ")) for word in words}
    return Sameness.ROUNDED if bare == members else Sameness.OTHER


def _spelled(column: Column, word: str) -> str | None:
    """The member that is this word, or else the one that is it in another letter case."""
    spellings = _spellings(column.type)
    return spellings.get(word, spellings.get(word.casefold()))


@lru_cache
def _spellings(type_: str) -> dict[str, str]:
    """The members by themselves, and by what they are without upper case letters."""
    members = list_members(type_)
    return {**{each.casefold(): each for each in members}, **{each: each for each in members}}


def _bit(_column: Column, expected: bytes, stored: bytes) -> Sameness:
    """The bytes of the file, or those that a transform made of the text; the server puts zero bytes before them."""
    return _equal(int.from_bytes(expected, "big") == int.from_bytes(stored, "big"))


def _uuid(_column: Column, expected: str, stored: bytes) -> Sameness:
    """MariaDB takes hyphens anywhere, and either letter case."""
    return _equal(UUID(expected) == UUID(stored.decode()))


def _address(_column: Column, expected: str, stored: bytes) -> Sameness:
    """The addresses of INET4 and INET6. MariaDB reads zeros before a number, which Python refuses."""
    addresses = (ip_address(re.sub(r"\b0+(?=\d)", "", text)) for text in (expected, stored.decode()))
    return _equal(next(addresses) == next(addresses))


def _equal(same: bool) -> Sameness:
    return Sameness.SAME if same else Sameness.OTHER


# Families that are compared as bytes: their values need not be UTF-8.
_IN_BYTES: dict[Family, Callable[[Column, bytes, bytes], Sameness]] = {Family.BYTES: _binary, Family.BIT: _bit}
# Families that are compared as text. VECTOR, geometries and types that are not known here are in neither table: their
# values are compared byte for byte.
_COMPARISONS: dict[Family, Callable[[Column, str, bytes], Sameness]] = {
    **dict.fromkeys((Family.INTEGER, Family.YEAR), _whole),
    Family.DECIMAL: _decimal,
    Family.FLOATING: _floating,
    **dict.fromkeys((Family.DATE, Family.MOMENT, Family.TIME), _moment),
    Family.CHARACTER: _text,
    Family.JSON: _json,
    **dict.fromkeys((Family.ENUM, Family.SET), _member),
    Family.UUID: _uuid,
    Family.ADDRESS: _address,
}


def _shortens(column: Column, text: str, stored: str) -> bool:
    """Whether the column may have shortened the text to the stored one."""
    if not column.column_type.size:
        return kept_text(column, text) == stored
    return _is_full(column, stored) and text.startswith(stored) and not text[len(stored) :].strip(WHITE)


def _is_full(column: Column, stored: str) -> bool:
    """Whether a TEXT of one of the types with a limit in bytes has no room for another space."""
    if column.charset in AS_UTF8:
        return len(stored.encode()) == column.column_type.size
    most_bytes = MOST_BYTES if column.charset in WITH_LONG_CHARACTERS else 1
    return len(stored) <= column.column_type.size <= most_bytes * len(stored)
