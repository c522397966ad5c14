"""Counts physical lines, as an editor numbers them."""

import re

from importer.engine.source.arrays import ByteArray, Offsets, np

NUMPY_BYTES = 64 * 1024  # from this size on, numpy counts several times faster
# Counting this many bytes without numpy takes as long as importing it. A short load never does.
IMPORT_AFTER = 64 * 2**20
_LF, _ANY = re.compile(rb"\n"), re.compile(rb"\r\n|\n|\r")
_counted = 0  # bytes that this process has counted without numpy


def ends_in_lf(line_end: str) -> bool:
    """Whether each line ends with an LF: in a dialect of LF or CR LF."""
    return line_end in ("\n", "\r\n")


def line_end_pattern(line_end: str) -> re.Pattern[bytes]:
    """Finds the ends of lines that line_ends() counts; in a dialect of CR LF without the CR."""
    return _LF if ends_in_lf(line_end) else _ANY


def line_ends(data: bytes, line_end: str, low: int = 0, high: int | None = None, before: bytes = b"") -> int:
    """The number of lines that end in data[low:high].

    In a dialect of LF or CR LF, a line ends at each LF, in others at each CR LF, LF and CR. `before` is the byte before
    `data`. The counts of parts add up to the count of the whole, wherever the parts are divided: a CR LF is counted at
    its CR.
    """
    if high is None:
        high = len(data)
    lf = count_byte(data, b"\n", low, high)
    if ends_in_lf(line_end):
        return lf
    pairs = data.count(b"\r\n", max(0, low - 1), high)
    if low == 0 < high and before == b"\r" and data.startswith(b"\n"):
        pairs += 1
    return lf + count_byte(data, b"\r", low, high) - pairs


def begins_a_line(data: bytes, text: bytes) -> bool:
    """Whether a line of `data` begins with the text."""
    return data.startswith(text) or b"\n" + text in data or (b"\r" in data and b"\r" + text in data)


def count_byte(data: bytes, byte: bytes, low: int, high: int) -> int:
    """The number of times a byte occurs in data[low:high]."""
    global _counted
    if high - low < NUMPY_BYTES:
        return data.count(byte, low, high)
    if _counted < IMPORT_AFTER:
        _counted += high - low
        return data.count(byte, low, high)
    return int(np.count_nonzero(np.frombuffer(data, np.uint8, high - low, low) == ord(byte)))


def line_end_positions(view: ByteArray, line_end: str) -> Offsets:
    """The positions of the line ends that line_ends() counts, ascending; of a CR LF, the position of its CR or LF."""
    lf = view == ord("\n")
    if ends_in_lf(line_end):
        return np.flatnonzero(lf)
    cr = view == ord("\r")
    lf[1:] &= ~cr[:-1]
    return np.flatnonzero(lf | cr)
