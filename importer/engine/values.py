"""How the text of a value reads: words that stand for NULL, and the formats of dates."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

NULL_WORDS = ("", "NA", "N/A", "NULL", "null", "None", r"\N", "-", "nan")

NUMBER_KINDS = frozenset(
    {"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit", "year"}
)
DATE_KINDS = frozenset({"date", "datetime", "timestamp"})
TIME_KINDS = frozenset({"time"})

_WITH_FRACTION = frozenset({"decimal", "float", "double"})

_PARTS = {
    "%Y": r"\d{4}",
    "%m": r"(?:0?[1-9]|1[0-2])",
    "%d": r"(?:0?[1-9]|[12]\d|3[01])",
    "%H": r"(?:[01]?\d|2[0-3])",
    "%h": r"(?:0?[1-9]|1[0-2])",
    "%i": r"[0-5]\d",
    "%s": r"[0-5]\d",
    "%f": r"\d{1,6}",
    "%p": r"(?i:[AP]M)",
}
_CLOCKS = ("%H:%i", "%H:%i:%s", "%H:%i:%s.%f")
_TIMES = ("", *(f" {clock}" for clock in (*_CLOCKS, "%h:%i %p", "%h:%i:%s %p")))
_ISO_TIMES = tuple(f"{between}{clock}{zone}" for between in "T " for clock in _CLOCKS for zone in ("", "Z"))
# What both servers read by themselves (manual, Date and Time Literals), also with T in between.
_NATIVE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d{1,6})?)?)?|\d{8}|\d{14}")
_DATES = ("%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_FORMATS = (*(f"%Y-%m-%d{time}" for time in _ISO_TIMES), *(f"{date}{time}" for date in _DATES for time in _TIMES))


@dataclass(frozen=True)
class DateReading:
    """How dates read: `format` is STR_TO_DATE's, "" for the server's own way; `doubt` says what is unclear."""

    format: str = ""
    doubt: str = ""


def is_number(text: str, kind: str) -> bool:
    """Whether a column of this kind, one of NUMBER_KINDS, takes the text as the number that it says."""
    pattern = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?" if kind in _WITH_FRACTION else r"[+-]?\d+"
    return re.fullmatch(pattern, text, re.ASCII) is not None


def read_dates(values: Iterable[str]) -> DateReading:
    """The one format in which all these values are dates; the server's own for no value, or if none fits all."""
    values = list(dict.fromkeys(values))
    if all(_NATIVE.fullmatch(value) for value in values):
        return DateReading()
    fitting = [each for each in _FORMATS if all(_pattern(each).fullmatch(value) for value in values)]
    if len(fitting) == 1:
        return DateReading(fitting[0])
    if fitting:
        choices = " or ".join(fitting)
        return DateReading(doubt=f"{values[0]!r} can be read as {choices}: choose the format of the dates.")
    odd = next(value for value in values if not _NATIVE.fullmatch(value))
    return DateReading(doubt=f"{odd!r} is no date that the server reads, and no one format fits all values.")


def _pattern(datetime_format: str) -> re.Pattern[str]:
    """A pattern for the text that STR_TO_DATE reads in this format; `re` keeps it compiled."""
    parts = re.split(r"(%\w)", datetime_format)
    return re.compile("".join(_PARTS.get(part) or re.escape(part) for part in parts))
