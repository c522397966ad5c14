"""Many cells of a file at once: where they lie, and their bytes eight at a time."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

# Longer cells match no pattern.
LONGEST_MATCH = 40
# Bytes before and after a block's own, so that eight bytes can be read anywhere.
PADDING = LONGEST_MATCH + 8

_ONES = 0x0101010101010101
_ALL = np.uint64(2**64 - 1)
# The bytes of a word that belong to a cell of so many bytes: the last ones, which are the high ones.
_KEPT = np.array([0] + [(2**64 - 1) << 8 * (8 - kept) & (2**64 - 1) for kept in range(1, 9)], np.uint64)
_DIGITS, _POINTS = np.uint64(_ONES * ord("0")), np.uint64(_ONES * (ord("0") ^ ord(".")))
# A byte that is 10 or more carries into its highest bit when this is added.
_TO_HIGH_BIT, _HIGH_BITS = np.uint64(_ONES * 0x76), np.uint64(_ONES * 0x80)


@dataclass(frozen=True)
class Cells:
    """Cells of a block: data[starts[i]:ends[i]], without their quotes. All arrays have one dimension.

    `data` has PADDING bytes before and after the block's own.
    """

    data: bytes
    starts: Any
    ends: Any

    @cached_property
    def lengths(self) -> Any:
        return self.ends - self.starts

    @cached_property
    def view(self) -> Any:
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def _words(self) -> Any:
        """The eight bytes that end at each byte of the data, from the eighth on."""
        return np.ndarray((len(self.data) - 7,), "V8", self.data, 0, (1,))

    def __len__(self) -> int:
        return len(self.starts)

    def some(self, which: Any) -> "Cells":
        """The cells with these numbers, or where this mask is true."""
        return Cells(self.data, self.starts[which], self.ends[which])

    def without_sign(self) -> "Cells":
        """The same cells, each without the minus at its front, if it has one."""
        return Cells(self.data, self.starts + (self.first == ord("-")), self.ends)

    @property
    def first(self) -> Any:
        """The first byte of each; of an empty cell, the one that follows it."""
        return self.view[self.starts]

    @property
    def last(self) -> Any:
        """The last byte of each; of an empty cell, the one before it."""
        return self.view[self.ends - 1]

    def byte_before_end(self, count: int) -> Any:
        """The byte that stands so many bytes before each cell's end, from 1 on; of a shorter cell, some other byte."""
        return self.view[self.ends - count]

    def word(self, before_end: int = 0) -> Any:
        """The eight bytes that end so many bytes before each cell's end, as little-endian numbers: the last is high.

        Those that do not belong to the cell are zero.
        """
        return self._whole_word(before_end) & self._kept(before_end)

    def _whole_word(self, before_end: int) -> Any:
        return self._words[self.ends - (8 + before_end)].view("<u8")

    def _kept(self, before_end: int) -> Any:
        return _KEPT[np.clip(self.lengths - before_end, 0, 8)]

    def match(self, pattern: bytes, *, longer: bool = False) -> Any:
        """A mask of the cells that look like the pattern, in which 0 stands for any digit and all else for itself.

        With `longer`, cells of any length, compared from their ends, with digits in front of the pattern; without, only
        those of the pattern's length.
        """
        longest = min(int(self.lengths.max(initial=0)), LONGEST_MATCH) if longer else len(pattern)
        padded = pattern.rjust(-(-max(longest, 1) // 8) * 8, b"0")
        wrong: Any = np.uint64(0)
        for before_end in range(0, len(padded), 8):
            wanted = np.frombuffer(padded[len(padded) - 8 - before_end : len(padded) - before_end], "<u8")
            found = (self._whole_word(before_end) ^ wanted) & self._kept(before_end)
            literal = _literal_bytes(wanted)
            wrong |= ((found + _TO_HIGH_BIT) | found) & _HIGH_BITS | (found & literal)
        right = wrong == 0
        if not longer:
            return right & (self.lengths == len(pattern))
        return right & (self.lengths >= len(pattern)) & (self.lengths <= LONGEST_MATCH)

    def digits_and_points(self) -> tuple[Any, Any]:
        """A mask of the cells with nothing but digits and points, and how many points each has."""
        wrong: Any = np.zeros(len(self), np.uint64)
        points: Any = np.zeros(len(self), np.uint64)
        for before_end in range(0, min(int(self.lengths.max(initial=0)), LONGEST_MATCH), 8):
            found = (self._whole_word(before_end) ^ _DIGITS) & self._kept(before_end)
            other = found ^ _POINTS
            # The highest bit of each byte that is a point, and nothing else.
            point = ~(((other & ~_HIGH_BITS) + ~_HIGH_BITS) | other | ~_HIGH_BITS)
            points += (point >> np.uint64(7)) * np.uint64(_ONES) >> np.uint64(56)
            found &= ~((point >> np.uint64(7)) * np.uint64(255))
            wrong |= ((found + _TO_HIGH_BIT) | found) & _HIGH_BITS
        return (wrong == 0) & (self.lengths <= LONGEST_MATCH), points.astype(np.int64)

    def equal(self, value: bytes) -> Any:
        """A mask of the cells that are exactly these bytes."""
        same = self.lengths == len(value)
        for before_end in range(0, len(value), 8):
            wanted = value[max(0, len(value) - before_end - 8) : len(value) - before_end].rjust(8, b"\0")
            same &= self.word(before_end) == np.frombuffer(wanted, "<u8")
        return same

    def texts(self, which: Any) -> list[bytes]:
        """The bytes of the cells with these numbers."""
        starts, ends = self.starts[which].tolist(), self.ends[which].tolist()
        return [self.data[start:end] for start, end in zip(starts, ends, strict=True)]


def _literal_bytes(wanted: Any) -> Any:
    """All bits of each byte that is not the digit 0."""
    raw = wanted.view(np.uint8)
    return np.where(raw == ord("0"), 0, 255).astype(np.uint8).view("<u8")
