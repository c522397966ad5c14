"""The column types that a file's values ask for: what was seen of a column, and the type that holds all of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.errors import Problem
from importer.engine.schema.column_types import COLUMN_TYPES, TINY, Creatable, Family, column_type, creatable_names

# What a column's values are so far, the narrowest first; each of a row holds what stands before it in the same row.
NUMBERS = ("whole", "decimal", "float", "text")
TIMES = ("date", "datetime", "text")
# A number with leading zeros, or a plus sign, is a name for something: it stays text.
_WHOLE = r"-?(?:0|[1-9][0-9]*)"
_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?"
_PATTERNS = {
    "whole": _WHOLE,
    "decimal": rf"{_WHOLE}(?:\.[0-9]+)?",
    "float": rf"{_WHOLE}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{{1,3}})?",
    "date": _DATE,
    "datetime": rf"{_DATE}(?:[ T]{_CLOCK})?",
}
_ONE = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}
_ALL = {kind: re.compile(rf"(?:{pattern}\n)*") for kind, pattern in _PATTERNS.items()}

INT_LEAST, INT_MOST = -(2**31), 2**31 - 1
BIGINT_LEAST, BIGINT_MOST = -(2**63), 2**63 - 1
# Manual, Precision Math: DECIMAL's limits. A DOUBLE gives 15 digits back as they were.
MOST_DIGITS, MOST_SCALE, DOUBLE_DIGITS = 65, 30, 15
# Text: a VARCHAR of one of these lengths, in characters, with a quarter of headroom; beyond, a kind of TEXT by bytes.
LENGTHS = (16, 32, 64, 128, 255, 512, 1000)
TEXTS = tuple(each for each in COLUMN_TYPES if each.family is Family.CHARACTER and each.size > TINY)

# The types that somebody may ask for: nothing but a name, sizes and UNSIGNED ever gets into a statement.
_ASKED = re.compile(
    rf"(?:({creatable_names(Creatable.UNSIGNED)})(?: (?P<unsigned>unsigned))?"
    rf"|({creatable_names(Creatable.PLAIN)})"
    rf"|({creatable_names(Creatable.FRACTION)})(?:\((?P<fraction>[0-6])\))?"
    rf"|({creatable_names(Creatable.LENGTH)})\((?P<length>\d{{1,5}})\)"
    rf"|({creatable_names(Creatable.PRECISION)})\((?P<precision>\d{{1,2}}), ?(?P<scale>\d{{1,2}})\)"
    r"(?: (?P<positive>unsigned))?)",
    re.IGNORECASE,
)


def check_type(text: str) -> str:
    """The type as it stands in a statement. Raises Problem for what is none of the types that can be asked for."""
    asked = " ".join(text.split()).lower()
    if not _ASKED.fullmatch(asked):
        raise Problem(
            f"{text!r} is not a column type that can be asked for.",
            advice="Write one such as int, bigint unsigned, decimal(12,2), double, varchar(64), text or datetime(6).",
        )
    return asked


@dataclass
class TypeTracker:
    """What was seen of one column. Lengths are characters, `longest_bytes` is in UTF-8; NULL does not count."""

    kind: str = ""  # "" as long as nothing was seen
    low: int = 0
    high: int = 0
    digits: int = 0  # before the decimal point
    scale: int = 0
    significant: int = 0  # of numbers with a point or an exponent
    fraction: int = 0  # digits of a second
    longest: int = 0
    longest_bytes: int = 0

    def take(self, values: Sequence[str], markers: frozenset[str]) -> None:
        """Add some values of the column: each pattern runs once over all distinct ones together."""
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
            numbers = [int(value) for value in distinct]
            self.low, self.high = min(self.low, *numbers, 0), max(self.high, *numbers, 0)
            self.digits = max(len(str(abs(number))) for number in (self.low, self.high))
            return
        for value in distinct:
            plain, _, exponent = value.lower().lstrip("-").partition("e")
            whole, _, decimals = plain.partition(".")
            self.digits, self.scale = max(self.digits, len(whole)), max(self.scale, len(decimals))
            if decimals or exponent:
                self.significant = max(self.significant, len((whole + decimals).lstrip("0")))

    @property
    def type(self) -> str:
        """The type that holds everything that was seen, exactly."""
        if self.kind == "whole" and self.digits <= MOST_DIGITS:
            return self._whole_type()
        if self.kind == "decimal" and self.scale <= MOST_SCALE and self.digits + self.scale <= MOST_DIGITS:
            # Two digits of headroom before the point.
            return f"decimal({min(MOST_DIGITS, self.digits + 2 + self.scale)},{self.scale})"
        if self.kind == "float" and max(self.significant, self.digits) <= DOUBLE_DIGITS:
            return "double"
        if self.kind == "date":
            return "date"
        if self.kind == "datetime":
            return f"datetime({self.fraction})" if self.fraction else "datetime"
        return self._text_type()

    def _whole_type(self) -> str:
        if self.low >= 0 and self.high <= 1:
            return "tinyint"
        if self.low >= INT_LEAST and self.high <= INT_MOST:
            return "int"
        if self.low >= BIGINT_LEAST and self.high <= BIGINT_MOST:
            return "bigint"
        return "bigint unsigned" if self.low >= 0 and self.high < 2**64 else f"decimal({self.digits},0)"

    def _text_type(self) -> str:
        if not self.longest:
            return "varchar(255)"
        if self.longest <= LENGTHS[-1]:
            wanted = self.longest + self.longest // 4
            return f"varchar({next((length for length in LENGTHS if length >= wanted), LENGTHS[-1])})"
        return next(each.name for each in TEXTS if self.longest_bytes <= each.size)

    def fits(self, type_: str) -> bool:
        """Whether a type that was asked for holds what was seen, as far as can be told; the load tells the rest."""
        match = _ASKED.fullmatch(type_)
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
                return self.kind in NUMBERS[:3]
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
