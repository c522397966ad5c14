"""Infers column types: tracks the values of a file's columns, and gives the narrowest type that stores all of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from importer.engine.errors import Problem
from importer.engine.schema.column_types import COLUMN_TYPES, TINY, Creatable, Family, column_type, creatable_names

# Kinds of values, the narrowest first. Each kind includes the kinds before it in its tuple.
NUMBERS = ("whole", "decimal", "float", "text")
TIMES = ("date", "datetime", "text")
# A number with leading zeros or a plus sign is taken for an identifier, and stays text; .5 has no digit to lose.
_DIGITS = "(?:0|[1-9][0-9]*)"
_WHOLE = f"-?{_DIGITS}"
_DECIMAL = rf"-?(?:{_DIGITS}(?:\.[0-9]+)?|\.[0-9]+)"
_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?"
_PATTERNS = {
    "whole": _WHOLE,
    "decimal": _DECIMAL,
    "float": rf"{_DECIMAL}(?:[eE][+-]?[0-9]{{1,3}})?",
    "date": _DATE,
    "datetime": rf"{_DATE}(?:[ T]{_CLOCK})?",
}
_ONE = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}
_ALL = {kind: re.compile(rf"(?:{pattern}\n)*") for kind, pattern in _PATTERNS.items()}


INT_LEAST, INT_MOST = -(2**31), 2**31 - 1
BIGINT_LEAST, BIGINT_MOST = -(2**63), 2**63 - 1
# A number that a program writes with an exponent has a sign or a point as well: 1e+05, 2.5E7. 12e5 may be a code.
_BARE_EXPONENT = re.compile(r"-?[0-9]+[eE][0-9]+")
# Longer whole numbers are identifiers, such as those of cards and accounts.
LONGEST_NUMBER = 18
# DECIMAL's limits (manual, Precision Math). A DOUBLE returns 15 digits unchanged.
MOST_DIGITS, MOST_SCALE, DOUBLE_DIGITS = 65, 30, 15
# A program that writes all digits of a DOUBLE writes at most as many.
MOST_DOUBLE_DIGITS = 17
# Text: a VARCHAR of one of these lengths, in characters, with a quarter of headroom. A longer text: a TEXT type, by
# bytes.
LENGTHS = (16, 32, 64, 128, 255, 512, 1000)
TEXTS = tuple(each for each in COLUMN_TYPES if each.family is Family.CHARACTER and each.size > TINY)
# A column of this type holds any number that the inference takes for a DECIMAL.
ANY_NUMBER = f"decimal({MOST_DIGITS},{MOST_SCALE})"


def precision_of(type_: str) -> int:
    """The digits of a full type such as decimal(9,7); 0 for a type without."""
    match = re.search(r"\((\d+), ?\d+\)", type_)
    return int(match[1]) if match else 0


def scale_of(type_: str) -> int:
    """The decimals of a full type such as decimal(9,7); 0 for a type without."""
    match = re.search(r"\(\d+, ?(\d+)\)", type_)
    return int(match[1]) if match else 0


def is_of_kind(kind: str, text: str) -> bool:
    """Whether the text is a value of the kind, one of _PATTERNS, in the notation that gives a column its type."""
    return _ONE[kind].fullmatch(text) is not None


def _whole_number(text: str) -> int:
    """The number; its first digits, more than any type holds, if it has as many: int() refuses thousands of them."""
    return int(text[: MOST_DIGITS + 2])


def _is_in_double(number: str, digits: str) -> bool:
    """Whether a DOUBLE has the number: it is neither too large nor so small that it would be 0."""
    nearest = float(number)
    return isfinite(nearest) and (nearest != 0 or not digits.strip("0"))


# The types of a new table. Only a name, sizes and UNSIGNED get into a statement.
_CREATABLE_TYPE = re.compile(
    rf"(?:({creatable_names(Creatable.UNSIGNED)})(?: (?P<unsigned>unsigned))?"
    rf"|({creatable_names(Creatable.PLAIN)})"
    rf"|({creatable_names(Creatable.FRACTION)})(?:\((?P<fraction>[0-6])\))?"
    rf"|({creatable_names(Creatable.LENGTH)})\((?P<length>\d{{1,5}})\)"
    rf"|({creatable_names(Creatable.PRECISION)})\((?P<precision>\d{{1,2}}), ?(?P<scale>\d{{1,2}})\)"
    r"(?: (?P<positive>unsigned))?)",
    re.IGNORECASE,
)


def check_type(text: str) -> str:
    """The type as a statement writes it. Raises Problem if a new table may not have the type."""
    requested = " ".join(text.split()).lower()
    if not _CREATABLE_TYPE.fullmatch(requested):
        raise Problem(
            f"{text!r} is not a column type that a new table can have.",
            advice="Write one such as int, bigint unsigned, decimal(12,2), double, varchar(64), text or datetime(6).",
        )
    return requested


@dataclass
class TypeTracker:
    """The range of one column's values so far. Lengths are in characters, `longest_bytes` in bytes of UTF-8.

    NULL does not count. `scales`: the numbers of decimals that occur; `padded_scales`: those of numbers whose last
    decimal is 0. `bare_exponent`, `negative_zero`, `beyond_double`: a number such as 12e5, -0, or 1e400, if one occurs.
    """

    kind: str = ""  # "" before the first value
    low: int = 0
    high: int = 0
    digits: int = 0  # before the decimal point
    scale: int = 0
    significant: int = 0  # significant digits of numbers with a point or an exponent
    fraction: int = 0  # fractional digits of seconds
    longest: int = 0
    longest_bytes: int = 0
    scales: frozenset[int] = frozenset()
    padded_scales: frozenset[int] = frozenset()
    bare_exponent: str = ""
    negative_zero: str = ""
    beyond_double: str = ""

    def take(self, values: Sequence[str], markers: frozenset[str]) -> None:
        """Add values of the column; `markers` stand for NULL. Each pattern runs once over all distinct values."""
        distinct = set(values) - markers
        if not distinct:
            return
        self.longest = max(self.longest, *map(len, distinct), 0)
        self.longest_bytes = max(self.longest_bytes, *(len(value.encode()) for value in distinct), 0)
        self._narrow(distinct)
        if self.kind in NUMBERS[:3]:
            self._measure(distinct)
        elif self.kind == "datetime":
            self.fraction = max(self.fraction, *(len(value.partition(".")[2]) for value in distinct), 0)

    def _narrow(self, distinct: set[str]) -> None:
        text = "\n".join(distinct) + "\n"
        if text.count("\n") != len(distinct):  # a line end inside a value
            self.kind = "text"
        if not self.kind:
            self.kind = next((kind for kind in (*NUMBERS[:3], *TIMES[:2]) if _ALL[kind].fullmatch(text)), "text")
        row = NUMBERS if self.kind in NUMBERS[:3] else TIMES
        wider = row[row.index(self.kind) :]
        self.kind = next(kind for kind in wider if kind == "text" or _ALL[kind].fullmatch(text))

    def _measure(self, distinct: set[str]) -> None:
        if self.kind == "whole":
            numbers = [_whole_number(value) for value in distinct]
            self.low, self.high = min(self.low, *numbers, 0), max(self.high, *numbers, 0)
            self.digits = max(len(str(abs(number))) for number in (self.low, self.high))
            self.scales |= {0}
            self.negative_zero = self.negative_zero or ("-0" if "-0" in distinct else "")
            return
        scales, padded = set(), set()
        for value in distinct:
            plain, _, exponent = value.lower().lstrip("-").partition("e")
            whole, _, decimals = plain.partition(".")
            self.digits, self.scale = max(self.digits, len(whole)), max(self.scale, len(decimals))
            if not exponent:
                scales.add(len(decimals))
            elif _BARE_EXPONENT.fullmatch(value):
                self.bare_exponent = min(self.bare_exponent or value, value)
            if decimals.endswith("0"):
                padded.add(len(decimals))
            if decimals or exponent:
                self.significant = max(self.significant, len((whole + decimals).lstrip("0")))
                if not _is_in_double(value, whole + decimals):
                    self.beyond_double = min(self.beyond_double or value, value)
        self.scales |= scales
        self.padded_scales |= padded

    @property
    def is_typed(self) -> bool:
        """Whether all values so far are numbers, dates or times; False without values."""
        return self.kind not in ("", "text")

    @property
    def mixes_scales(self) -> bool:
        """Whether a number type would change the texts in a way that cannot be undone: 1.9 and 1.10 would be alike.

        It can be undone if all numbers have the same number of decimals (12.50, 3.00), if none ends in a 0 (1, 2.5), or
        if only whole numbers do, and always (1.0, 2.5, as Python and R write them).
        """
        repr_form = self.padded_scales == {1} and 0 not in self.scales
        return len(self.scales) > 1 and bool(self.padded_scales) and not repr_form

    @property
    def code(self) -> str:
        """Why the numbers so far may be codes, of which a number type would change the text; "" if they may not."""
        if self.kind not in NUMBERS[:3]:
            return ""
        if self.bare_exponent:
            return f"{self.bare_exponent} would become a number with more digits"
        if self.kind == "whole" and self.negative_zero:
            return "-0 would become 0"
        if self.kind == "whole" and self.digits > LONGEST_NUMBER:
            return f"numbers of more than {LONGEST_NUMBER} digits are identifiers"
        if self.mixes_scales:
            return f"the number of decimals differs, with zeros at the end ({self._scales_shown()})"
        return ""

    def _scales_shown(self) -> str:
        low, high = min(self.scales), max(self.scales)
        return f"{low} to {high} decimals"

    @property
    def type(self) -> str:
        """The narrowest type that stores all values so far exactly."""
        if self.kind == "whole" and self.digits <= MOST_DIGITS:
            return self._whole_type()
        if self.kind == "decimal" and self.scale <= MOST_SCALE and self.digits + self.scale <= MOST_DIGITS:
            # Two digits of headroom before the point.
            return f"decimal({min(MOST_DIGITS, self.digits + 2 + self.scale)},{self.scale})"
        if self.kind == "float" and self._has_double_digits(DOUBLE_DIGITS):
            return "double"
        if self.kind == "date":
            return "date"
        if self.kind == "datetime":
            return f"datetime({self.fraction})" if self.fraction else "datetime"
        return self.text_type

    def _whole_type(self) -> str:
        if self.low >= 0 and self.high <= 1:
            return "tinyint"
        if self.low >= INT_LEAST and self.high <= INT_MOST:
            return "int"
        if self.low >= BIGINT_LEAST and self.high <= BIGINT_MOST:
            return "bigint"
        return "bigint unsigned" if self.low >= 0 and self.high < 2**64 else f"decimal({self.digits},0)"

    @property
    def text_type(self) -> str:
        """The shortest text type for the values so far, with a quarter of headroom."""
        if not self.longest:
            return "varchar(255)"
        if self.longest <= LENGTHS[-1]:
            wanted = self.longest + self.longest // 4
            return f"varchar({next((length for length in LENGTHS if length >= wanted), LENGTHS[-1])})"
        return next(each.name for each in TEXTS if self.longest_bytes <= each.size)

    def _has_double_digits(self, most: int) -> bool:
        """Whether a DOUBLE has a number for each of the numbers so far, and none has more than `most` digits."""
        return not self.beyond_double and max(self.significant, self.digits) <= most

    def fits(self, type_: str, *, stated: bool = False) -> bool:
        """Whether a type stores the values so far, as far as can be known before the load.

        `stated`: it was requested, so that a DOUBLE may round them.
        """
        match = _CREATABLE_TYPE.fullmatch(type_)
        assert match, "check_type() has let it through"
        of = column_type(type_)
        if not self.kind:
            return True
        match of.family:
            case Family.INTEGER:
                values = 2 ** (8 * of.size)
                low = 0 if match["unsigned"] else -(values // 2)
                return self.kind == "whole" and low <= self.low and self.high < low + values
            case Family.DECIMAL:
                whole, scale = int(match["precision"]) - int(match["scale"]), int(match["scale"])
                fits = whole >= self.digits and scale >= self.scale and not (match["positive"] and self.low < 0)
                return self.kind in ("whole", "decimal") and fits
            case Family.FLOATING:
                return self.kind in NUMBERS[:3] and (stated or self._has_double_digits(MOST_DOUBLE_DIGITS))
            case Family.DATE:
                return self.kind == "date"
            case Family.MOMENT:
                fits = self.kind == "datetime" and self.fraction <= int(match["fraction"] or 0)
                return self.kind == "date" or fits
            case Family.CHARACTER if not of.size:
                return self.longest <= int(match["length"])
            case Family.BYTES if not of.size:
                return self.longest_bytes <= int(match["length"])
        return self.longest_bytes <= (of.size or self.longest_bytes)
