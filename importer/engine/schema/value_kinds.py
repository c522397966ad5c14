"""Recognizes texts of values: words that stand for NULL, and numbers."""

import re
from decimal import Decimal

from importer.engine.source.records.null_words import NULL_MARK

NULL_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "(null)", "None", "none", NULL_MARK, "-", "nan", "NaN")

_LARGE_EXPONENT = re.compile(r"[eE][+-]?[0-9]{3,}")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_WITH_FRACTION = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def is_number(text: str, *, fraction: bool) -> bool:
    """Whether the text is a number in SQL's notation; with `fraction`, a point and an exponent are allowed."""
    return (_WITH_FRACTION if fraction else _WHOLE).fullmatch(text) is not None


def plain_number(text: str) -> str:
    """A number without plus sign, leading zeros and exponent; other texts, and huge exponents, as they are."""
    if not is_number(text, fraction=True) or _LARGE_EXPONENT.search(text):
        return text
    plain = format(Decimal(text), "f")
    return "0" if plain == "-0" else plain
