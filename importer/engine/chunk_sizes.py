"""How large the chunks are that a scan cuts: planner/chunks.py chooses, scanner.py cuts."""

from dataclasses import dataclass

# From one byte to a terabyte.
_LONGEST_SHIFT = 40


@dataclass(frozen=True)
class ChunkSizes:
    """A chunk has as many whole records as go into `bytes`, or one that is larger by itself; at most `rows` are rows.

    With `first_bytes`, chunk 0 has at most so many bytes, and each that follows may have twice as many as the one
    before; with `last_chunks`, too, what is left of the data always makes so many chunks, down to that size.
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
        share = max(self.first_bytes, left // self.last_chunks) if self.last_chunks else growing
        return min(self.bytes, growing, share)
