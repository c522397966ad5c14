"""Recognizes texts of values: words that stand for NULL, and numbers."""

import re

NULL_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "(null)", "None", "none", r"\N", "-", "nan", "NaN")

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_WITH_FRACTION = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def is_number(text: str, *, fraction: bool) -> bool:
    """Whether the text is a number in SQL's notation; with `fraction`, a point and an exponent are allowed."""
    return (_WITH_FRACTION if fraction else _WHOLE).fullmatch(text) is not None
