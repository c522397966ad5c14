"""What stands between the fields of a dialect, as native/src/strides.h is told of it."""

import ctypes

from importer.engine.source.dialect import Dialect

LONGEST_DELIMITER = 16  # bytes


class Marks(ctypes.Structure):
    """strides.h's `struct marks`."""

    _fields_ = (
        ("delimiter", ctypes.c_uint8 * LONGEST_DELIMITER),
        *((name, ctypes.c_uint8) for name in ("delimiter_size", "quote", "escape", "carriage", "told")),
    )


def marks_of(dialect: Dialect, told: int = 0) -> Marks | None:
    """None for a dialect that strides.h does not know. `told`: values.h's `enum told`."""
    delimiter = dialect.delimiter_bytes
    if len(delimiter) > LONGEST_DELIMITER or dialect.line_end not in ("\n", "\r\n"):
        return None
    quote, escape = (ord(mark or "\0") for mark in (dialect.quote, dialect.escape))
    padded = (ctypes.c_uint8 * LONGEST_DELIMITER)(*delimiter)
    return Marks(padded, len(delimiter), quote, escape, dialect.line_end == "\r\n", told)
