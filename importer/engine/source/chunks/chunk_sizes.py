"""The sizes of the chunks of a scan: planner/decisions/chunks.py chooses them, scanner.py applies them."""

from dataclasses import dataclass

# From one byte to a terabyte.
_LONGEST_SHIFT = 40
# The last chunks have at least this part of a usual chunk's size: to claim smaller ones costs more than they even out.
SMALLEST_PART = 32


@dataclass(frozen=True)
class ChunkSizes:
    """Limits on chunks: as many whole records as fit into `bytes`, or one larger record; at most `rows` rows.

    With `first_bytes`, chunk 0 has at most `first_bytes` bytes, and each next chunk may be twice as large as the one
    before. With `last_chunks` in addition, chunks become smaller at the end: each has at most the remaining bytes
    divided by `last_chunks`, but not less than `first_bytes` and a SMALLEST_PART-th of `bytes`.
    """

    bytes: int
    rows: int | None = None
    first_bytes: int | None = None
    last_chunks: int = 0

    def most_bytes(self, number: int, left: int) -> int:
        """The largest size in bytes of the chunk with this number (from 0), if `left` bytes remain."""
        if not self.first_bytes:
            return self.bytes
        growing = self.first_bytes << min(number, _LONGEST_SHIFT)
        if not self.last_chunks:
            return min(self.bytes, growing)
        return min(self.bytes, growing, max(self._least_bytes, left // self.last_chunks))

    def count(self, data_bytes: int) -> int:
        """The number of chunks for this many bytes, at least one; for small records, and without regard to `rows`."""
        number, left = 0, data_bytes
        shrinking_below = self.last_chunks * self.bytes if self._least_bytes < self.bytes else 0
        while left > 0:
            most = self.most_bytes(number, left)
            alike = max(1, (left - shrinking_below) // self.bytes) if most == self.bytes else 1
            number, left = number + alike, left - alike * most
        return max(1, number)

    @property
    def _least_bytes(self) -> int:
        """The limit in bytes below which the last chunks do not shrink."""
        return max(self.first_bytes or 0, self.bytes // SMALLEST_PART)
