"""Finds the lines among the records of a block that are no records: blank lines, comments and repeated headers."""

import re
from collections.abc import Sequence
from functools import lru_cache

from importer.engine.source.arrays import Mask
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.boundaries import Ends, blank_records

BLANK, COMMENT = "blank", "comment"


def find_no_records(data: bytes, ends: Ends, dialect: Dialect, *, empty_line: bool = True) -> Sequence[int]:
    """The begins of the records of data[:ends.size] that are none for the dialect, ascending.

    `empty_line`: there may be a blank line.
    """
    blank = blank_records(data, ends, dialect) if empty_line and dialect.blank_lines == "skip" else ()
    if not dialect.comment or not _may_begin_a_line(data, dialect):
        return blank
    starts = [0, *ends.as_array()[:-1].tolist()]
    found = [at for at, begins in zip(starts, _begin_with(data, starts, dialect.comment_bytes), strict=True) if begins]
    return sorted({*blank, *found})


def kind_of(data: bytes, at: int, dialect: Dialect) -> str:
    """The kind of the line at data[at], which is no record."""
    return COMMENT if dialect.comment and data.startswith(dialect.comment_bytes, at) else BLANK


def _begin_with(data: bytes, starts: Sequence[int], text: bytes) -> Mask:
    import numpy as np

    view, at = np.frombuffer(data, np.uint8), np.asarray(starts, np.int64)
    begins = at + len(text) <= len(view)
    for index, byte in enumerate(text):
        begins &= view[np.minimum(at + index, len(view) - 1)] == byte
    return begins


def _may_begin_a_line(data: bytes, dialect: Dialect) -> bool:
    return bool(_line_begin(dialect.comment_bytes).search(data))


@lru_cache
def _line_begin(text: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?:\A|(?<=[\r\n]))%b" % re.escape(text))
