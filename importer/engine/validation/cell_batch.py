"""Many cells of a file at once: where they lie, which of their bytes are no digits, and their bytes eight at a time."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from importer.engine.source.arrays import ByteArray, Mask, Offsets, Words

if TYPE_CHECKING:
    import numpy.typing as npt

# Longer cells look like nothing that is checked here. A window holds the bits of this many bytes at least.
LONGEST = 32
# Zero bytes before and after a block's own, so that a few more can be read on both sides of any cell.
PADDING = LONGEST + 8

# The C library gives memory back to the system when twice the largest piece that it has seen freed lies unused (man
# mallopt, M_MMAP_THRESHOLD); the arrays of each block would be fresh pages again, which takes as long as all else here.
# So it is shown a large piece once, of which no byte is ever touched.
np.empty(16 * 2**20, np.uint8)

# The bytes of a word that belong to a cell of so many bytes: the last ones, which are the high ones.
_KEPT = np.array([0] + [(2**64 - 1) << 8 * (8 - kept) & (2**64 - 1) for kept in range(1, 9)], np.uint64)
_ZEROS = np.uint64(int.from_bytes(b"0" * 8))


@dataclass(frozen=True)
class Page:
    """The bytes of a block, with PADDING zero bytes before and after them."""

    data: bytes

    @classmethod
    def of(cls, *parts: bytes | memoryview) -> "Page":
        """Of a block that is given in parts."""
        return cls(b"".join((b"\0" * PADDING, *parts, b"\0" * PADDING)))

    @cached_property
    def view(self) -> ByteArray:
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def words(self) -> "npt.NDArray[np.void]":
        """The eight bytes from each byte on; no numbers, as those would have to lie at multiples of eight."""
        return np.ndarray((len(self.data) - 7,), "V8", self.data, 0, (1,))

    @cached_property
    def no_digits(self) -> Words:
        """Windows() of the bytes that are no digits."""
        return _windows((self.view - np.uint8(ord("0"))) > np.uint8(9))

    @cached_property
    def points(self) -> Words:
        """Windows() of the decimal points."""
        return _windows(self.view == ord("."))

    @cached_property
    def continued(self) -> "npt.NDArray[np.int32]":
        """How many bytes before each byte go on with a character of UTF-8."""
        counts = np.zeros(len(self.view) + 1, np.int32)
        np.cumsum((self.view & 0xC0) == 0x80, dtype=np.int32, out=counts[1:])
        return counts


def _windows(mask: Mask) -> Words:
    """A bit for each byte, 64 of them from every 32nd byte on, as numbers: the first byte is the lowest bit."""
    bits = np.packbits(mask, bitorder="little")
    halves = np.frombuffer(bits.tobytes() + b"\0" * (8 - len(bits) % 4), "<u4").astype(np.uint64)
    return halves[:-1] | halves[1:] << np.uint64(32)


@dataclass(frozen=True)
class Cells:
    """Cells of a block, without their quotes: page.data[starts[i]:ends[i]]. All arrays have one dimension."""

    page: Page
    starts: Offsets
    ends: Offsets
    _gathered: dict[int, Words] = field(default_factory=dict)

    @cached_property
    def lengths(self) -> Offsets:
        return self.ends - self.starts

    @cached_property
    def longest(self) -> int:
        """The length of the longest one, 0 without any."""
        return int(self.lengths.max(initial=0))

    def __len__(self) -> int:
        return len(self.starts)

    def some(self, which: "Offsets | Mask") -> "Cells":
        """The cells with these numbers, or where this mask is true."""
        return Cells(self.page, self.starts[which], self.ends[which])

    def split(self, before_end: int) -> "tuple[Cells, Cells]":
        """Each cut so many bytes before its end: what comes before, and what after."""
        cut = self.ends - before_end
        return Cells(self.page, self.starts, cut), Cells(self.page, cut, self.ends)

    def without_sign(self) -> "Cells":
        """The same cells, each without the minus at its front, if it has one."""
        return Cells(self.page, self.starts + self.minus, self.ends)

    @property
    def first(self) -> ByteArray:
        """The first byte of each; of an empty cell, the one that follows it."""
        return self.page.view[self.starts]

    @property
    def last(self) -> ByteArray:
        """The last byte of each; of an empty cell, the one before it."""
        return self.before_end(1)

    def before_end(self, count: int) -> ByteArray:
        """The byte that stands so many bytes before each cell's end, from 1 on; of a shorter cell, some other byte."""
        return self.page.view[self.ends - count]

    def digit_before_end(self, count: int) -> ByteArray:
        """Its value if it is a digit."""
        return self.before_end(count) & np.uint8(15)

    @cached_property
    def no_digits(self) -> Words:
        """A number for each cell with a bit for each byte that is no digit: the highest for the last byte, and so on.

        Of a cell that is longer than LONGEST it has any value.
        """
        return self._bits(self.page.no_digits)

    @cached_property
    def no_digits_but_minus(self) -> Words:
        """The same without the bit of a minus at the front."""
        return self._bits(self.page.no_digits, self.minus)

    @cached_property
    def minus(self) -> Mask:
        """A mask of the cells with a minus at their front; of an empty cell it has any value."""
        result: Mask = self.first == ord("-")
        return result

    @cached_property
    def points(self) -> Words:
        """The same for decimal points."""
        return self._bits(self.page.points)

    def _bits(self, windows: Words, first: "Mask | None" = None) -> Words:
        found = windows.take(self.starts >> 5)
        found >>= (self.starts & 31).view(np.uint64)
        if first is not None:
            found ^= first
        return found << self._beyond  # all of them are gone where the length is 0

    @cached_property
    def _beyond(self) -> Words:
        """How many of a window's bits lie beyond each cell."""
        return (64 - self.lengths).view(np.uint64)

    def word(self, before_end: int = 0) -> Words:
        """The eight bytes that end so many bytes before each cell's end, as numbers: the last byte is the highest."""
        if before_end not in self._gathered:
            self._gathered[before_end] = self.page.words[self.ends - (8 + before_end)].view("<u8")
        return self._gathered[before_end]

    def match(self, pattern: bytes) -> Mask:
        """A mask of the cells that look like the pattern, in which 0 stands for any digit and all else for itself."""
        right = self.lengths == len(pattern)
        right &= self.no_digits == _literal_bits(pattern)
        for before_end in range(0, len(pattern), 8):
            wanted, literals = _literal_bytes(_word_of(pattern, before_end))
            if literals:
                right &= self.word(before_end) & literals == wanted
        result: Mask = right
        return result

    def equal(self, value: bytes) -> Mask:
        """A mask of the cells that are exactly these bytes; of more than LONGEST, those that end like them."""
        same = self.lengths == len(value)
        for before_end in range(0, min(len(value), LONGEST), 8):
            wanted = _word_of(value, before_end)
            number = np.uint64(int.from_bytes(wanted.rjust(8, b"\0"), "little"))
            same &= self.word(before_end) & _KEPT[len(wanted)] == number
        result: Mask = same
        return result

    def below(self, digits: bytes) -> Mask:
        """A mask of the cells of that many digits whose first eight are less than the first eight of these."""
        front = self.page.words[self.starts].view(">u8").astype(np.uint64)
        compared = digits[:8]
        front >>= np.uint64(64 - 8 * len(compared))
        result: Mask = (self.lengths == len(digits)) & (front < np.uint64(int.from_bytes(compared)))
        return result

    def zeros_at_end(self, counts: Offsets) -> Mask:
        """Which end in so many zeros, an array of 0 to 8."""
        result: Mask = (self.word() ^ _ZEROS) & _KEPT[counts] == 0
        return result

    def after_point(self) -> Offsets:
        """How many bytes stand after the point of each cell, which has one; 0 where it has none."""
        return np.where(self.points == 0, 0, 64 - np.frexp(self.points.astype(np.float64))[1])

    def characters(self) -> Offsets:
        """The length of each in characters of UTF-8."""
        return self.lengths - (self.page.continued[self.ends] - self.page.continued[self.starts])

    def texts(self, which: "Offsets | Mask | slice[None]") -> list[bytes]:
        """The bytes of the cells with these numbers."""
        starts, ends = self.starts[which].tolist(), self.ends[which].tolist()
        return [self.page.data[start:end] for start, end in zip(starts, ends, strict=True)]


def _word_of(value: bytes, before_end: int) -> bytes:
    return value[max(0, len(value) - before_end - 8) : len(value) - before_end]


@lru_cache
def _literal_bits(pattern: bytes) -> np.uint64:
    """As Cells.no_digits."""
    return np.uint64(sum(1 << (63 - at) for at, byte in enumerate(reversed(pattern)) if byte != ord("0")))


@lru_cache
def _literal_bytes(pattern: bytes) -> tuple[np.uint64, np.uint64]:
    """The last eight bytes of a pattern as a number, without its digits, and all bits of those that are left."""
    literals = bytes(0 if byte == ord("0") else 255 for byte in pattern).rjust(8, b"\0")
    wanted = pattern.replace(b"0", b"\0").rjust(8, b"\0")
    return np.uint64(int.from_bytes(wanted, "little")), np.uint64(int.from_bytes(literals, "little"))
