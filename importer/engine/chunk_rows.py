"""The records of one chunk by number: where each lies, and which of them are sent."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from importer.engine.dialect import Dialect
from importer.engine.records import LocatedRecord
from importer.engine.scanner import ChunkRange, blocks, pieces, read_exactly

WINDOW = 2**20


class ChunkRows:
    """The records of a chunk, numbered from 0; at first all of them are sent.

    Takes 4 bytes for each record's place (8 in a chunk of 4 GB or more) and one for whether it is sent. Raises as
    scan() does.
    """

    def __init__(self, fd: int, chunk: ChunkRange, dialect: Dialect) -> None:
        self._fd, self._chunk = fd, chunk
        kind = np.uint32 if chunk.length < 2**32 else np.int64
        end = chunk.offset + chunk.length
        parts = [
            (block.ends.listed() + (block.offset - chunk.offset)).astype(kind)
            for block in blocks(fd, dialect, chunk.offset, chunk.first_line, end)
        ]
        self._ends = np.concatenate([np.zeros(1, kind), *parts])
        self._sent = np.ones(len(self._ends) - 1, bool)
        self._known_line = chunk.offset, chunk.first_line

    def __len__(self) -> int:
        return len(self._sent)

    def leave_out(self, rows: Collection[int]) -> None:
        self._sent[np.fromiter(rows, np.int64, len(rows))] = False

    def sent(self, low: int, high: int) -> Any:
        """The numbers of the rows in [low, high) that are sent, as an array."""
        return np.flatnonzero(self._sent[low:high]) + low

    def count(self, low: int, high: int) -> int:
        """How many rows in [low, high) are sent."""
        return int(np.count_nonzero(self._sent[low:high]))

    def span(self, low: int, high: int) -> tuple[int, int]:
        """Offset and length in the file of the rows in [low, high), sent or not."""
        start, end = int(self._ends[low]), int(self._ends[high])
        return self._chunk.offset + start, end - start

    def gaps(self, low: int, high: int) -> Any:
        """The byte ranges of the file that are left out of span(low, high): pairs, ascending, as an array.

        Rows that lie together make one range.
        """
        borders = np.flatnonzero(np.diff(np.concatenate([[True], self._sent[low:high], [True]])))
        return self._ends[low + borders].astype(np.int64).reshape(-1, 2) + self._chunk.offset

    def line(self, row: int) -> int:
        """The physical line on which the row begins. Reads on from where it was asked last, so ask in order."""
        offset = self.span(row, row)[0]
        at, line = self._known_line
        if offset < at:
            at, line = self._chunk.offset, self._chunk.first_line
        line += sum(piece.count(b"\n") for piece in pieces(self._fd, at, offset))
        self._known_line = offset, line
        return line

    def located(self, rows: Sequence[int]) -> Iterator[LocatedRecord]:
        """The records of these rows, which must ascend, read in one pass through the chunk."""
        chunk = self._chunk
        base, data, at, line = chunk.offset, b"", 0, chunk.first_line
        for row in rows:
            offset, length = self.span(row, row + 1)
            while base + len(data) <= offset:
                line += data.count(b"\n", at)
                base, at = base + len(data), 0
                data = read_exactly(self._fd, min(WINDOW, chunk.offset + chunk.length - base), base)
            start = offset - base
            line += data.count(b"\n", at, start)
            at = start
            whole = start + length <= len(data)
            raw = data[start : start + length] if whole else read_exactly(self._fd, length, offset)
            yield LocatedRecord(line, offset, raw)
