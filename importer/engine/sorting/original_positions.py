"""Where the records of a sorted copy stood in the file: what people are told of a row is about their file.

Beside the copy lies a file with three numbers for each of its rows, in the copy's order: the row's number in the file
(from 1), the line on which it begins (from 1) and its byte offset. Before them, eight bytes say how many bytes each
number takes.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from importer.engine.errors import SourceChanged
from importer.engine.source.arrays import Offsets

SUFFIX = ".places"
ROW, LINE, OFFSET = range(3)
NUMBERS = 3
HEAD_BYTES = 8


def number_bytes(size: int) -> int:
    """How many bytes a number takes where the file has so many: no row, line or offset is greater than that."""
    return 4 if size < 2**32 - 1 else 8


def head(width: int) -> bytes:
    """What the file begins with where each number takes `width` bytes."""
    return width.to_bytes(HEAD_BYTES, "little")


@dataclass(frozen=True)
class OriginalPositions:
    """The places of a sorted copy's rows, which lie in the file `path`."""

    path: Path

    @classmethod
    def next_to(cls, copy: Path) -> "OriginalPositions":
        return cls(copy.with_name(copy.name + SUFFIX))

    @property
    def count(self) -> int:
        """How many rows there are. Raises SourceChanged if they are not there."""
        try:
            size = self.path.stat().st_size
            with self.path.open("rb") as file:
                width = int.from_bytes(file.read(HEAD_BYTES), "little")
        except FileNotFoundError:
            raise self._gone() from None
        return (size - HEAD_BYTES) // (NUMBERS * width)

    def of(self, first: int, count: int) -> Offsets:
        """Rows x (row, line, offset) for `count` rows from the `first` of the copy on (from 1), as an array of int64.

        Raises SourceChanged if they are not there.
        """
        import numpy as np

        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise self._gone() from None
        try:
            width = int.from_bytes(os.pread(fd, HEAD_BYTES, 0), "little")
            size = NUMBERS * width
            data = os.pread(fd, count * size, HEAD_BYTES + (first - 1) * size)
        finally:
            os.close(fd)
        if not width or len(data) < count * size:
            raise self._gone()
        return np.frombuffer(data, f"<u{width}").reshape(-1, NUMBERS).astype(np.int64)

    def _gone(self) -> SourceChanged:
        return SourceChanged(
            "It is not known any more where the rows of the sorted copy stood in the file.",
            where=str(self.path),
            advice="Leave the copies alone while an import runs. Retry, which makes them again.",
        )
