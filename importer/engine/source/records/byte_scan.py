"""What occurs in a block's bytes: told by one look over them in C (native/src/byte_scan.c), by several without it."""

import ctypes
from dataclasses import dataclass

from importer.engine.native import loader
from importer.engine.source.records.lines import LARGE, line_ends


@dataclass(frozen=True)
class ByteScan:
    """`line_feeds` are counted. `empty_line`: a line end, of any kind, comes first or right after another one.

    `null_letters`: the letters NULL occur.
    """

    line_feeds: int
    ascii: bool
    empty_line: bool
    null_letters: bool


class _Found(ctypes.Structure):
    """byte_scan.c's `struct byte_scan`."""

    _fields_ = (
        ("line_feeds", ctypes.c_uint64),
        ("beyond_ascii", ctypes.c_uint32),
        ("empty_line", ctypes.c_uint32),
        ("null_letters", ctypes.c_uint32),
    )


def scan_bytes(data: bytes, size: int) -> ByteScan:
    """What occurs in data[:size]."""
    call = loader.function("scan_bytes", None, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_Found))
    if not call:
        return scan_bytes_in_python(data, size)
    found = _Found()
    call(data, size, found)
    return ByteScan(found.line_feeds, not found.beyond_ascii, bool(found.empty_line), bool(found.null_letters))


def scan_bytes_in_python(data: bytes, size: int) -> ByteScan:
    """The same without the library."""
    ascii_only = data.isascii() or data[:size].isascii()
    line_feeds = line_ends(data, "\n", 0, size)
    return ByteScan(line_feeds, ascii_only, _has_empty_line(data, size), has_null_letters(data, 0, size))


def has_null_letters(data: bytes, low: int, high: int) -> bool:
    """Whether the letters NULL occur in data[low:high]. Four letters are looked for at 2 GB/s, one at 100."""
    first = data.find(b"N", low, high)
    if first < 0:
        return False
    if high - first < LARGE:
        return data.find(b"NULL", first, high) >= 0
    import numpy as np

    view = np.frombuffer(data, np.uint8, high - first, first)
    found = view[:-3] == ord("N")
    for at, letter in enumerate(b"ULL", 1):
        found &= view[at : len(view) - 3 + at] == letter
    return bool(found.any())


def _has_empty_line(data: bytes, size: int) -> bool:
    # Not at the top: it costs 16 MB.
    import numpy as np

    view = np.frombuffer(data, np.uint8, size)
    lf, cr = view == ord("\n"), view == ord("\r")
    doubled = (lf[:-1] & (lf[1:] | cr[1:])) | (cr[:-1] & cr[1:])
    return bool(lf[:1].any() or cr[:1].any() or doubled.any())
