"""Finds the ends of records whose quotes can be read safely, in one pass in C (native/src/quoted_boundaries.c)."""

import ctypes
from typing import NamedTuple

from importer.engine.native import loader
from importer.engine.source.arrays import Offsets, np
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.delimiter_marks import DelimiterMarks, marks_for
from importer.engine.source.records.boundary.lines import count_byte


class RegularEnds(NamedTuple):
    """The ends of records, ascending, up to the first line end of another kind.

    `whole`: there is no line end of another kind, and the data ends outside quotes. `regular`: every quote opens a
    field, closes one or is half of a doubled quote.
    """

    ends: Offsets
    whole: bool
    regular: bool


class _NativeBoundaries(ctypes.Structure):
    """quoted_boundaries.c's `struct boundaries`."""

    _fields_ = (("count", ctypes.c_uint64), ("whole", ctypes.c_uint32), ("regular", ctypes.c_uint32))


_ARGUMENTS = (
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.POINTER(DelimiterMarks),
    ctypes.c_void_p,
    ctypes.POINTER(_NativeBoundaries),
)


def is_supported(dialect: Dialect) -> bool:
    """Whether find_regular_ends() supports the dialect, and the library is loaded."""
    return loader.library() is not None and marks_for(dialect) is not None


def find_regular_ends(data: bytes, dialect: Dialect) -> RegularEnds | None:
    """The ends of the records of `data`, which begins with a record; None if a closing quote does not end its field."""
    ends, native = np.empty(count_byte(data, b"\n", 0, len(data)), np.int64), _NativeBoundaries()
    call = loader.function("find_quoted_boundaries", ctypes.c_int, *_ARGUMENTS)
    if not call(data, len(data), marks_for(dialect), ends.ctypes.data, native):
        return None
    return RegularEnds(ends[: native.count], bool(native.whole), bool(native.regular))
