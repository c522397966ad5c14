"""Verdicts about one value (refused, rounded, stored with a remark of the server), and the rules that give them."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from importer.engine.source.arrays import Mask, Offsets
from importer.engine.validation.cell_batch import Cells

# Manual, Server Error Message Reference.
NOT_A_VALUE = "1366"  # ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: not even the beginning can be read
TRUNCATED = "1265"  # WARN_DATA_TRUNCATED: a warning for a part that cannot be read, a Note for lost digits
OUT_OF_RANGE = "1264"  # ER_WARN_DATA_OUT_OF_RANGE
NULL_REFUSED = "1263"  # ER_WARN_NULL_TO_NOTNULL
TOO_FEW = "1261"  # ER_WARN_TOO_FEW_RECORDS
TOO_MANY = "1262"  # ER_WARN_TOO_MANY_RECORDS
OTHER_MARKS = "4095"  # MySQL's ER_WARN_DEPRECATED_DATETIME_DELIMITER
MORE_SPACES = "4096"  # MySQL's, for spaces before, in or after a time
# These errors end the whole statement.
BAD_JSON = "3140"  # ER_INVALID_JSON_TEXT
JSON_TOO_DEEP = "3157"  # ER_JSON_DOCUMENT_TOO_DEEP
LONG_JSON_NAME = "3151"  # ER_JSON_KEY_TOO_BIG
BAD_GEOMETRY = "1416"  # ER_CANT_CREATE_GEOMETRY_OBJECT


# Of a value without a character, where it is none of the column's type.
BLANK = "The value is blank. --null '' reads blanks as NULL, in all columns that take NULL."
BLANK_FOR_NULL = "The value is blank, and the column takes no NULL."


class Level(Enum):
    """REFUSED: the row is rejected. ROUNDED: stored with a loss. REMARK: stored without a loss, but with a Note."""

    REFUSED = "refused"
    ROUNDED = "rounded"
    REMARK = "remark"


@dataclass(frozen=True)
class Verdict:
    """Why a value is not simply stored. `noted`: the server counts a Note for the value."""

    level: Level
    code: str
    reason: str
    noted: bool = False


def refused(code: str, reason: str) -> Verdict:
    return Verdict(Level.REFUSED, code, reason)


def rounded(code: str, reason: str, *, noted: bool = False) -> Verdict:
    return Verdict(Level.ROUNDED, code, reason, noted)


def mismatch(type_: str, code: str = NOT_A_VALUE) -> Verdict:
    return refused(code, f"The value does not fit {type_}.")


def out_of_range(type_: str) -> Verdict:
    return refused(OUT_OF_RANGE, f"The value is outside the range of {type_}.")


def invalid_time(type_: str, code: str = TRUNCATED) -> Verdict:
    return refused(code, f"The value is not a valid {type_}.")


def too_long(type_: str) -> Verdict:
    return refused(TRUNCATED, f"The value is too long for {type_}.")


def none_of(type_: str) -> Verdict:
    return refused(TRUNCATED, f"The value is none of {type_}.")


def spaces_after(*, mariadb: bool) -> Verdict | None:
    """The verdict about a number with trailing spaces. Both servers store the number; only MariaDB gives a Note."""
    if not mariadb:
        return None
    return Verdict(Level.REMARK, TRUNCATED, "The spaces after the number are not part of it.", noted=True)


class ColumnRule(Protocol):
    """Checks the values of a column. unusual() narrows many cells down quickly; judge() decides about one by its text.

    judge() of a rule with `of_bytes` takes the bytes.
    """

    @property
    def type(self) -> str: ...

    def unusual(self, cells: Cells) -> Offsets: ...

    def judge(self, value: Any, /) -> Verdict | None: ...


@runtime_checkable
class LossyRule(Protocol):
    """A rule that recognizes in many cells at once those with the verdict `loss` and no other."""

    @property
    def loss(self) -> Verdict: ...

    def loses(self, cells: Cells) -> Mask: ...
