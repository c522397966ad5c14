"""Recognizes texts of values: words that stand for NULL, and numbers."""

import re

NULL_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "(null)", "None", "none", r"\N", "-", "nan", "NaN")


def is_number(text: str, *, fraction: bool) -> bool:
    """Whether the text is a number in SQL's notation; with `fraction`, a point and an exponent are allowed."""
    pattern = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?" if fraction else r"[+-]?\d+"
    return re.fullmatch(pattern, text, re.ASCII) is not None
