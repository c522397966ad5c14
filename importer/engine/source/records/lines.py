"""Physical lines, as an editor numbers them."""

from importer.engine.source.arrays import ByteArray, Offsets

LARGE = 64 * 1024  # bytes from which on numpy counts several times faster


def ends_in_lf(line_end: str) -> bool:
    """Whether each line ends where an LF is: in a dialect of LF or CR LF."""
    return line_end in ("\n", "\r\n")


def line_ends(data: bytes, line_end: str, low: int = 0, high: int | None = None, before: bytes = b"") -> int:
    """How many lines end in data[low:high]: at each LF in a dialect of LF or CR LF, else at each CR LF, LF and CR.

    `before` is the byte that comes before `data`. Counts of parts add up to that of the whole, wherever they are cut: a
    CR LF counts where its CR is.
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


def count_byte(data: bytes, byte: bytes, low: int, high: int) -> int:
    """How often a byte stands in data[low:high]."""
    if high - low < LARGE:
        return data.count(byte, low, high)
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(data, np.uint8, high - low, low) == ord(byte)))


def line_end_positions(view: ByteArray, line_end: str) -> Offsets:
    """Where those ends are in an array of bytes, ascending, as an array."""
    import numpy as np

    lf = view == ord("\n")
    if ends_in_lf(line_end):
        return np.flatnonzero(lf)
    cr = view == ord("\r")
    lf[1:] &= ~cr[:-1]
    return np.flatnonzero(lf | cr)
