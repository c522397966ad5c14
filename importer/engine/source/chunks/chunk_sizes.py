"""How large the chunks are that a scan cuts: planner/decisions/chunks.py chooses, scanner.py cuts."""

from dataclasses import dataclass

# From one byte to a terabyte.
_LONGEST_SHIFT = 40
# Of the usual chunks, how small a part the last ones become: smaller ones cost more to claim than they even out.
SMALLEST_PART = 32


@dataclass(frozen=True)
class ChunkSizes:
    """A chunk has as many whole records as go into `bytes`, or one that is larger by itself; at most `rows` are rows.

    With `first_bytes`, chunk 0 has at most so many bytes, and each that follows may have twice as many as the one
    before; with `last_chunks`, too, what is left of the data always makes so many chunks, down to that size, or to a
    part of `bytes`.
    """

    bytes: int
    rows: int | None = None
    first_bytes: int | None = None
    last_chunks: int = 0

    def most_bytes(self, number: int, left: int) -> int:
        """The most bytes of the chunk with that number, when there are so many bytes `left`."""
        if not self.first_bytes:
            return self.bytes
        growing = self.first_bytes << min(number, _LONGEST_SHIFT)
        if not self.last_chunks:
            return min(self.bytes, growing)
        return min(self.bytes, growing, max(self._least_bytes, left // self.last_chunks))

    def count(self, data_bytes: int) -> int:
        """How many chunks so many bytes make, where records are small and `rows` never matters; at least one."""
        number, left = 0, data_bytes
        shrinking_below = self.last_chunks * self.bytes if self._least_bytes < self.bytes else 0
        while left > 0:
            most = self.most_bytes(number, left)
            alike = max(1, (left - shrinking_below) // self.bytes) if most == self.bytes else 1
            number, left = number + alike, left - alike * most
        return max(1, number)

    @property
    def _least_bytes(self) -> int:
        """The most bytes of the last chunks, where those are smaller than the usual ones."""
        return max(self.first_bytes or 0, self.bytes // SMALLEST_PART)
