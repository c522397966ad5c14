"""Where records end whose quotes can be read safely: told by native/src/quoted_boundaries.c in one pass."""

import ctypes
from typing import NamedTuple

from importer.engine.native import loader
from importer.engine.source.arrays import Offsets
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.delimiter_marks import DelimiterMarks, marks_for
from importer.engine.source.records.lines import count_byte


class RegularEnds(NamedTuple):
    """The `ends`, an ascending array, up to the first line end of another kind.

    `whole`: there is none, and the data ends outside quotes. `regular`: every quote opens a field, closes one or is
    half of a doubled quote.
    """

    ends: Offsets
    whole: bool
    regular: bool


class _Found(ctypes.Structure):
    """quoted_boundaries.c's `struct boundaries`."""

    _fields_ = (("count", ctypes.c_uint64), ("whole", ctypes.c_uint32), ("regular", ctypes.c_uint32))


_ARGUMENTS = (ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(DelimiterMarks), ctypes.c_void_p, ctypes.POINTER(_Found))


def is_supported(dialect: Dialect) -> bool:
    """Whether regular_ends() knows the dialect, and is compiled here."""
    return loader.library() is not None and marks_for(dialect) is not None


def find_regular_ends(data: bytes, dialect: Dialect) -> RegularEnds | None:
    """The ends of the records of `data`, which begins with one; None if a closing quote does not end its field."""
    import numpy as np

    ends, found = np.empty(count_byte(data, b"\n", 0, len(data)), np.int64), _Found()
    call = loader.function("find_quoted_boundaries", ctypes.c_int, *_ARGUMENTS)
    if not call(data, len(data), marks_for(dialect), ends.ctypes.data, found):
        return None
    return RegularEnds(ends[: found.count], bool(found.whole), bool(found.regular))
