"""A dialect's delimiter, quote, escape and line end, as native/src/delimiter_marks.h takes them."""

import ctypes

from importer.engine.source.dialect import Dialect

LONGEST_DELIMITER = 16  # bytes


class DelimiterMarks(ctypes.Structure):
    """delimiter_marks.h's `struct marks`."""

    _fields_ = (
        ("delimiter", ctypes.c_uint8 * LONGEST_DELIMITER),
        *((name, ctypes.c_uint8) for name in ("delimiter_size", "quote", "escape", "carriage", "null_rules")),
    )


def marks_for(dialect: Dialect, null_rules: int = 0) -> DelimiterMarks | None:
    """The marks of a dialect; None if delimiter_marks.h does not support it.

    `null_rules`: as in delimiter_marks.h's `enum null_rules`.
    """
    delimiter = dialect.delimiter_bytes
    if len(delimiter) > LONGEST_DELIMITER or dialect.line_end not in ("\n", "\r\n") or dialect.escapes_quotes_only:
        return None
    quote, escape = (ord(mark or b"\0") for mark in (dialect.quote.encode(), dialect.escape_bytes))
    padded = (ctypes.c_uint8 * LONGEST_DELIMITER)(*delimiter)
    return DelimiterMarks(padded, len(delimiter), quote, escape, dialect.line_end == "\r\n", null_rules)
