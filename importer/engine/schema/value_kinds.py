"""How the text of a value reads: words that stand for NULL, the kinds of columns, and numbers."""

import re

NULL_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "(null)", "None", "none", r"\N", "-", "nan", "NaN")

NUMBER_KINDS = frozenset(
    {"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit", "year"}
)
DATE_KINDS = frozenset({"date", "datetime", "timestamp"})
TIME_KINDS = frozenset({"time"})

_WITH_FRACTION = frozenset({"decimal", "float", "double"})


def is_number(text: str, kind: str) -> bool:
    """Whether a column of this kind, one of NUMBER_KINDS, takes the text as the number that it says."""
    pattern = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?" if kind in _WITH_FRACTION else r"[+-]?\d+"
    return re.fullmatch(pattern, text, re.ASCII) is not None
