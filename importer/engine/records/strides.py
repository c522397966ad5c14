"""What stands between the fields of a dialect, as c/strides.h is told of it."""

import ctypes

from importer.engine.dialect import Dialect


class Marks(ctypes.Structure):
    """strides.h's `struct marks`."""

    _fields_ = tuple((name, ctypes.c_uint8) for name in ("delimiter", "quote", "escape", "carriage", "told"))


def marks_of(dialect: Dialect, told: int = 0) -> Marks | None:
    """None for a dialect whose marks are not all one byte. `told`: values.h's `enum told`."""
    if len(dialect.delimiter_bytes) != 1 or dialect.line_end not in ("\n", "\r\n"):
        return None
    quote, escape = (ord(mark or "\0") for mark in (dialect.quote, dialect.escape))
    return Marks(dialect.delimiter_bytes[0], quote, escape, dialect.line_end == "\r\n", told)
