"""Finds line feeds, empty lines, the letters NULL and bytes beyond ASCII in a block.

In one pass in C (native/src/byte_scan.c), in several passes without the library.
"""

import ctypes
from dataclasses import dataclass

from importer.engine.native import loader
from importer.engine.source.arrays import np
from importer.engine.source.records.boundary.lines import NUMPY_BYTES, line_ends


@dataclass(frozen=True)
class ByteScan:
    """What a block's bytes contain.

    `line_feeds` is their number. `ascii`: all bytes are ASCII. `empty_line`: a line end of any kind comes first, or
    right after another one. `null_letters`: the letters NULL occur.
    """

    line_feeds: int
    ascii: bool
    empty_line: bool
    null_letters: bool


class _NativeByteScan(ctypes.Structure):
    """byte_scan.c's `struct byte_scan`."""

    _fields_ = (
        ("line_feeds", ctypes.c_uint64),
        ("beyond_ascii", ctypes.c_uint32),
        ("empty_line", ctypes.c_uint32),
        ("null_letters", ctypes.c_uint32),
    )


def scan_bytes(data: bytes, size: int) -> ByteScan:
    """Scan data[:size]."""
    call = loader.function("scan_bytes", None, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_NativeByteScan))
    if not call:
        return scan_bytes_in_python(data, size)
    native = _NativeByteScan()
    call(data, size, native)
    return ByteScan(native.line_feeds, not native.beyond_ascii, bool(native.empty_line), bool(native.null_letters))


def scan_bytes_in_python(data: bytes, size: int) -> ByteScan:
    """scan_bytes() without the library."""
    ascii_only = data.isascii() or data[:size].isascii()
    line_feeds = line_ends(data, "\n", 0, size)
    return ByteScan(line_feeds, ascii_only, _has_empty_line(data, size), has_null_letters(data, 0, size))


def has_null_letters(data: bytes, low: int, high: int) -> bool:
    """Whether the letters NULL occur in data[low:high]. Four letters are searched at 2 GB/s, one letter at 100 GB/s."""
    first = data.find(b"N", low, high)
    if first < 0:
        return False
    if high - first < NUMPY_BYTES:
        return data.find(b"NULL", first, high) >= 0
    view = np.frombuffer(data, np.uint8, high - first, first)
    matches = view[:-3] == ord("N")
    for at, letter in enumerate(b"ULL", 1):
        matches &= view[at : len(view) - 3 + at] == letter
    return bool(matches.any())


def _has_empty_line(data: bytes, size: int) -> bool:
    view = np.frombuffer(data, np.uint8, size)
    lf, cr = view == ord("\n"), view == ord("\r")
    doubled = (lf[:-1] & (lf[1:] | cr[1:])) | (cr[:-1] & cr[1:])
    return bool(lf[:1].any() or cr[:1].any() or doubled.any())
