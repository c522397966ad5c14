"""Operations on many cells of a block at once: their positions, the bytes that are no digits, words of eight bytes."""

from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from importer.engine.source.arrays import ByteArray, Mask, Offsets, Words, np

if TYPE_CHECKING:
    import numpy.typing as npt

# Bytes. Longer cells match no pattern here. A window holds the bits of at least this many bytes.
LONGEST = 32
# Zero bytes before and after a block's bytes, so that a few bytes can be read on both sides of any cell.
PADDING = LONGEST + 8

# The C library returns memory to the system when twice the largest piece that was ever freed is unused (man mallopt,
# M_MMAP_THRESHOLD). The arrays of each block would then be new pages, which takes as long as all other work here.
# Therefore a large piece is allocated and freed once; none of its bytes is touched.
bytes(16 * 2**20)

_ZEROS = int.from_bytes(b"0" * 8)


@dataclass(frozen=True)
class Page:
    """The bytes of a block, with PADDING zero bytes before and after them."""

    data: bytes

    @classmethod
    def of(cls, *parts: bytes | memoryview) -> "Page":
        """The page of a block that is given in parts."""
        return cls(b"".join((b"\0" * PADDING, *parts, b"\0" * PADDING)))

    @cached_property
    def view(self) -> ByteArray:
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def words(self) -> "npt.NDArray[np.void]":
        """The eight bytes from each byte on; not as numbers, which would have to be aligned to eight bytes."""
        return np.ndarray((len(self.data) - 7,), "V8", self.data, 0, (1,))

    @cached_property
    def non_digits(self) -> Words:
        """_windows() of the bytes that are no digits."""
        return _windows((self.view - np.uint8(ord("0"))) > np.uint8(9))

    @cached_property
    def points(self) -> Words:
        """_windows() of the decimal points."""
        return _windows(self.view == ord("."))

    @cached_property
    def continued(self) -> "npt.NDArray[np.int32]":
        """The number of UTF-8 continuation bytes before each byte."""
        counts = np.zeros(len(self.view) + 1, np.int32)
        np.cumsum((self.view & 0xC0) == 0x80, dtype=np.int32, out=counts[1:])
        return counts


def _windows(mask: Mask) -> Words:
    """A number for every 32nd byte with a bit for each of the 64 bytes from there; the lowest bit is the first byte."""
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
        """The length of the longest cell, 0 without cells."""
        return int(self.lengths.max(initial=0))

    def __len__(self) -> int:
        return len(self.starts)

    def some(self, which: "Offsets | Mask") -> "Cells":
        """The cells with these numbers, or for which the mask is true."""
        return Cells(self.page, self.starts[which], self.ends[which])

    def split(self, before_end: int) -> "tuple[Cells, Cells]":
        """Cut each cell `before_end` bytes before its end: the cells before the cuts, and the cells after them."""
        cut = self.ends - before_end
        return Cells(self.page, self.starts, cut), Cells(self.page, cut, self.ends)

    def without_sign(self) -> "Cells":
        """The cells without a leading minus."""
        return Cells(self.page, self.starts + self.minus, self.ends)

    @property
    def first(self) -> ByteArray:
        """The first byte of each cell; for an empty cell, the byte after it."""
        return self.page.view[self.starts]

    @property
    def last(self) -> ByteArray:
        """The last byte of each cell; for an empty cell, the byte before it."""
        return self.before_end(1)

    def before_end(self, count: int) -> ByteArray:
        """The byte at `count` bytes (1 is the last) before each cell's end; for a shorter cell, a byte outside it."""
        return self.page.view[self.ends - count]

    def digit_before_end(self, count: int) -> ByteArray:
        """The value of the digit at before_end(count); undefined for other bytes."""
        return self.before_end(count) & np.uint8(15)

    @cached_property
    def non_digits(self) -> Words:
        """A number for each cell with a bit for each byte that is no digit; the highest bit is the last byte.

        Undefined for a cell of more than LONGEST bytes.
        """
        return self._bits(self.page.non_digits)

    @cached_property
    def non_digits_but_minus(self) -> Words:
        """As `non_digits`, without the bit of a leading minus."""
        return self._bits(self.page.non_digits, self.minus)

    @cached_property
    def minus(self) -> Mask:
        """A mask of the cells with a leading minus; undefined for an empty cell."""
        result: Mask = self.first == ord("-")
        return result

    @cached_property
    def points(self) -> Words:
        """As `non_digits`, with bits for decimal points."""
        return self._bits(self.page.points)

    def _bits(self, windows: Words, first: "Mask | None" = None) -> Words:
        bits = windows.take(self.starts >> 5)
        bits >>= (self.starts & 31).view(np.uint64)
        if first is not None:
            bits ^= first
        return bits << self._beyond  # Shifts all bits out for length 0.

    @cached_property
    def _beyond(self) -> Words:
        """The number of a window's bits beyond the end of each cell."""
        return (64 - self.lengths).view(np.uint64)

    def word(self, before_end: int = 0) -> Words:
        """The eight bytes up to `before_end` bytes before each cell's end, as numbers; the last byte is the highest."""
        if before_end not in self._gathered:
            self._gathered[before_end] = self.page.words[self.ends - (8 + before_end)].view("<u8")
        return self._gathered[before_end]

    def match(self, pattern: bytes) -> Mask:
        """A mask of the cells that match the pattern, where 0 stands for any digit and other bytes for themselves."""
        right = self.lengths == len(pattern)
        right &= self.non_digits == _literal_bits(pattern)
        for before_end in range(0, len(pattern), 8):
            wanted, literals = _literal_bytes(_word_of(pattern, before_end))
            if literals:
                right &= self.word(before_end) & literals == wanted
        result: Mask = right
        return result

    def equal(self, value: bytes) -> Mask:
        """A mask of the cells that equal the value; of a value of more than LONGEST bytes, its end is compared."""
        same = self.lengths == len(value)
        for before_end in range(0, min(len(value), LONGEST), 8):
            wanted = _word_of(value, before_end)
            number = np.uint64(int.from_bytes(wanted.rjust(8, b"\0"), "little"))
            same &= self.word(before_end) & _kept()[len(wanted)] == number
        result: Mask = same
        return result

    def below(self, digits: bytes) -> Mask:
        """A mask of the cells with as many digits as `digits` whose first eight are less than its first eight."""
        front = self.page.words[self.starts].view(">u8").astype(np.uint64)
        compared = digits[:8]
        front >>= np.uint64(64 - 8 * len(compared))
        result: Mask = (self.lengths == len(digits)) & (front < np.uint64(int.from_bytes(compared)))
        return result

    def zeros_at_end(self, counts: Offsets) -> Mask:
        """A mask of the cells that end in `counts` zeros, an array of 0 to 8."""
        result: Mask = (self.word() ^ np.uint64(_ZEROS)) & _kept()[counts] == 0
        return result

    def after_point(self) -> Offsets:
        """The number of bytes after the only point of each cell; 0 for a cell without a point."""
        return np.where(self.points == 0, 0, 64 - np.frexp(self.points.astype(np.float64))[1])

    def characters(self) -> Offsets:
        """The length of each cell in characters of UTF-8."""
        return self.lengths - (self.page.continued[self.ends] - self.page.continued[self.starts])

    def texts(self, which: "Offsets | Mask | slice[None]") -> list[bytes]:
        """The bytes of the cells with these numbers."""
        starts, ends = self.starts[which].tolist(), self.ends[which].tolist()
        return [self.page.data[start:end] for start, end in zip(starts, ends, strict=True)]


def _word_of(value: bytes, before_end: int) -> bytes:
    return value[max(0, len(value) - before_end - 8) : len(value) - before_end]


@cache
def _kept() -> Words:
    """By the bytes of a cell, the mask of a word's bytes that belong to it: its last bytes, which are the high ones."""
    return np.array([0] + [(2**64 - 1) << 8 * (8 - kept) & (2**64 - 1) for kept in range(1, 9)], np.uint64)


@lru_cache
def _literal_bits(pattern: bytes) -> "np.uint64":
    """The bits of Cells.non_digits for a cell that matches the pattern."""
    return np.uint64(sum(1 << (63 - at) for at, byte in enumerate(reversed(pattern)) if byte != ord("0")))


@lru_cache
def _literal_bytes(pattern: bytes) -> "tuple[np.uint64, np.uint64]":
    """The last eight bytes of a pattern as a number, with its digits zeroed, and the mask of the other bytes."""
    literals = bytes(0 if byte == ord("0") else 255 for byte in pattern).rjust(8, b"\0")
    wanted = pattern.replace(b"0", b"\0").rjust(8, b"\0")
    return np.uint64(int.from_bytes(wanted, "little")), np.uint64(int.from_bytes(literals, "little"))
