"""The positions of the records of a sorted or converted copy in the original file, for messages to people.

They are in a file next to the copy, with three numbers for each row, in the copy's order: the row's number in the file
(from 1), the line on which it begins (from 1) and its byte offset. The file's first eight bytes are the size of a
number in bytes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from importer.engine.errors import SourceChanged, SourceMissing
from importer.engine.source.arrays import Offsets, np
from importer.engine.source.byte_source import Readable, RemoteCopy, open_source, read_at, size_of

SUFFIX = ".places"
ROW, LINE, OFFSET = range(3)
NUMBERS = 3
HEAD_BYTES = 8
# The bytes of a number for a file whose size is not known before it is read.
WIDE = 8
ROWS_AT_ONCE = 2**16


def places_of(copy: Path) -> Path:
    """The file with the positions of the rows of a copy on this host."""
    return copy.with_name(copy.name + SUFFIX)


def number_bytes(size: int) -> int:
    """The bytes of a number for a file of `size` bytes: no row, line or offset is greater than `size`."""
    return 4 if size < 2**32 - 1 else 8


def head(width: int) -> bytes:
    """The first bytes of a file of positions with numbers of `width` bytes."""
    return width.to_bytes(HEAD_BYTES, "little")


def numbered_from(places: Offsets, first: int) -> Offsets:
    """The positions of consecutive rows (rows x (row, line, offset)) with other row numbers, from `first` on."""
    numbered = places.copy()
    numbered[:, ROW] += first - places[0, ROW]
    return numbered


@dataclass(frozen=True)
class OriginalPositions:
    """The original positions of the rows of a sorted or converted copy, in the file `path`."""

    path: Path | RemoteCopy

    @classmethod
    def next_to(cls, copy: Path | RemoteCopy) -> "OriginalPositions":
        """The positions of the rows of this copy."""
        return cls(places_of(copy) if isinstance(copy, Path) else copy.next_to(SUFFIX))

    @property
    def count(self) -> int:
        """The number of rows. Raises SourceChanged if the file of positions is missing."""
        with self._opened() as source:
            width = int.from_bytes(read_at(source, HEAD_BYTES, 0), "little")
            return (size_of(source) - HEAD_BYTES) // (NUMBERS * width)

    def of(self, first: int, count: int) -> Offsets:
        """The positions of `count` rows from row `first` of the copy on (from 1): rows x (row, line, offset).

        Raises SourceChanged if they are missing.
        """
        with self._opened() as source:
            width = int.from_bytes(read_at(source, HEAD_BYTES, 0), "little")
            size = NUMBERS * width
            data = read_at(source, count * size, HEAD_BYTES + (first - 1) * size)
        if not width or len(data) < count * size:
            raise self._gone()
        return np.frombuffer(data, f"<u{width}").reshape(-1, NUMBERS).astype(np.int64)

    def of_rows(self, rows: Offsets) -> Offsets:
        """The positions of these rows of a converted copy (from 1), in any order: rows x (row, line, offset)."""
        assert isinstance(self.path, Path), "positions are looked up where the copy is made"
        places: Offsets = np.memmap(self.path, "<i8", "r", HEAD_BYTES).reshape(-1, NUMBERS)[rows - 1]
        return places

    @contextmanager
    def _opened(self) -> Iterator[Readable]:
        try:
            with open_source(self.path) as source:
                yield source
        except SourceMissing:
            raise self._gone() from None

    def _gone(self) -> SourceChanged:
        return SourceChanged(
            "It is not known any more where the rows of the working copy stood in the file.",
            where=str(self.path),
            advice="Leave the copies alone while an import runs. Retry, which makes them again.",
        )


def look_through(sorted_copy: OriginalPositions, converted: OriginalPositions) -> None:
    """Replace the positions of a sorted copy, which are those in a converted copy, by the ones in the original file."""
    assert isinstance(sorted_copy.path, Path), "positions are looked up where the copy is made"
    through = sorted_copy.path.with_name(sorted_copy.path.name + ".through")
    count = sorted_copy.count
    try:
        with through.open("wb") as out:
            out.write(head(WIDE))
            for first in range(1, count + 1, ROWS_AT_ONCE):
                rows = sorted_copy.of(first, min(ROWS_AT_ONCE, count + 1 - first))[:, ROW]
                out.write(converted.of_rows(rows).tobytes())
        through.replace(sorted_copy.path)
    finally:
        through.unlink(missing_ok=True)
