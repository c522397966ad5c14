"""Locates the records of a chunk by number, and records which of them are sent."""

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.sorting.original_positions import LINE, OFFSET
from importer.engine.source.arrays import Mask, Offsets, np
from importer.engine.source.records.blocks import blocks, pieces, read_exactly
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.source.records.fields import LocatedRecord, RecordPosition

WINDOW = 2**20


class ChunkRows:
    """The records of a chunk, numbered from 0. At first all of them are sent.

    Blank lines that the dialect skips, and other lines that are no records, have no number and are never sent. Rows of
    a sorted copy have the line and offset of the original file.

    Memory: 4 bytes a record for its end (8 in a chunk of 4 GB or more) and one byte for the mark whether it is sent.
    Raises as scan() does.
    """

    def __init__(self, source: ChunkSource) -> None:
        fd, chunk, dialect = source.fd, source.chunk, source.dialect
        self._fd, self._chunk, self.places = fd, chunk, source.places
        self._line_end = dialect.line_end
        kind = np.uint32 if chunk.length < 2**32 else np.int64
        ends, blank = [np.zeros(1, kind)], []
        for block in blocks(fd, dialect, chunk.offset, chunk.first_line, chunk.offset + chunk.length):
            before = block.offset - chunk.offset
            ends.append((block.ends.as_array() + before).astype(kind))
            blank += [at + before for at in block.blank]
        self._ends = np.concatenate(ends)
        # Whether each record is sent, blank lines included.
        self._sent = np.ones(len(self._ends) - 1, bool)
        self._sent[np.searchsorted(self._ends, np.array(blank, np.int64))] = False
        # The record of each row; None if every record is a row.
        self._records = np.flatnonzero(self._sent) if blank else None
        self._known_line = chunk.offset, chunk.first_line

    def __len__(self) -> int:
        return len(self._sent if self._records is None else self._records)

    def leave_out(self, rows: "Collection[int] | Offsets") -> None:
        """Mark these rows as not sent."""
        left_out = np.fromiter(rows, np.int64, len(rows))
        self._sent[left_out if self._records is None else self._records[left_out]] = False

    def sent(self, low: int, high: int) -> Offsets:
        """The numbers of the rows in [low, high) that are sent, ascending."""
        return np.flatnonzero(self._of_rows(low, high)) + low

    def count(self, low: int, high: int) -> int:
        """The number of rows in [low, high) that are sent."""
        return int(np.count_nonzero(self._of_rows(low, high)))

    def _of_rows(self, low: int, high: int) -> Mask:
        return self._sent[low:high] if self._records is None else self._sent[self._records[low:high]]

    def _record(self, row: int) -> int:
        return row if self._records is None else int(self._records[row])

    def span(self, low: int, high: int) -> tuple[int, int]:
        """Offset and length in the file, in bytes, of the rows in [low, high), sent or not."""
        if low == high:
            return self._chunk.offset + int(self._ends[self._record(low) if low < len(self) else -1]), 0
        start, end = int(self._ends[self._record(low)]), int(self._ends[self._record(high - 1) + 1])
        return self._chunk.offset + start, end - start

    def record(self, row: int) -> bytes:
        """The bytes of a row, with its line end."""
        offset, length = self.span(row, row + 1)
        return read_exactly(self._fd, length, offset)

    def gaps(self, offset: int, length: int) -> Offsets:
        """The byte ranges of the rows in a range of the file that are not sent; the range consists of whole records.

        An array of pairs (start, end), ascending. Adjacent records make one range.
        """
        bounds = np.array([offset, offset + length]) - self._chunk.offset
        low, high = np.searchsorted(self._ends, bounds).tolist()
        borders = np.flatnonzero(np.diff(np.concatenate([[True], self._sent[low:high], [True]])))
        ranges: Offsets = self._ends[low + borders].astype(np.int64).reshape(-1, 2) + self._chunk.offset
        return ranges

    def parts(self, size: int) -> Iterator[tuple[int, int]]:
        """Ranges [low, high) of rows that together are all rows, each of about `size` bytes or of a single row."""
        low = 0
        while low < len(self):
            begin = int(self._ends[self._record(low)])
            record = int(np.searchsorted(self._ends, begin + size, "right")) - 1
            row = record if self._records is None else int(np.searchsorted(self._records, record))
            high = min(max(row, low + 1), len(self))
            yield low, high
            low = high

    def sent_bytes(self, low: int, high: int) -> bytes:
        """The bytes of the rows in [low, high) that are sent."""
        offset, length = self.span(low, high)
        data = read_exactly(self._fd, length, offset)
        kept, at = [], 0
        for begin, end in (self.gaps(offset, length) - offset).tolist():
            kept.append(data[at:begin])
            at = end
        return b"".join((*kept, data[at:])) if kept else data

    def line(self, row: int) -> int:
        """The physical line on which the row begins. Reads on from the last row, so call it in ascending order."""
        offset = self.span(row, row)[0]
        at, line = self._known_line
        if offset < at:
            at, line = self._chunk.offset, self._chunk.first_line
        before = b""
        for piece in pieces(self._fd, at, offset):
            line += line_ends(piece, self._line_end, before=before)
            before = piece[-1:]
        self._known_line = offset, line
        return line

    def located(self, rows: "Offsets | Iterable[int]") -> Iterator[LocatedRecord]:
        """The records of these rows, read in one pass through the chunk. `rows` must ascend."""
        for row, record in self._read(rows):
            if self.places:
                place = self.place(row)
                yield LocatedRecord(int(place[LINE]), int(place[OFFSET]), record.raw)
            else:
                yield record
            del record

    def place(self, row: int) -> Offsets:
        """Row, line and offset of a row of a sorted copy in the original file (sorting/original_positions.py).

        The first call reads the positions of the whole chunk.
        """
        place: Offsets = self._places[row]
        return place

    def line_in_file(self, position: RecordPosition) -> int:
        """The line of a record in the original file; `position` is relative to the chunk for a sorted copy."""
        return int(self.place(position.row)[LINE]) if self.places else position.line

    @cached_property
    def _places(self) -> Offsets:
        assert self.places
        return self.places.of(self._chunk.first_row, self._chunk.rows)

    def _read(self, rows: "Offsets | Iterable[int]") -> Iterator[tuple[int, LocatedRecord]]:
        """These rows with their records, located in the open file, which may be a sorted copy."""
        chunk = self._chunk
        base, data, at, line, before = chunk.offset, b"", 0, chunk.first_line, b""
        for row in rows:
            offset, length = self.span(row, row + 1)
            while base + len(data) <= offset:
                line += line_ends(data, self._line_end, at, before=before)
                before = data[-1:] or before
                base, at = base + len(data), 0
                data = read_exactly(self._fd, min(WINDOW, chunk.offset + chunk.length - base), base)
            start = offset - base
            line += line_ends(data, self._line_end, at, start, before)
            at = start
            # A large record is not kept in memory while the next one is read.
            if start + length <= len(data):
                yield row, LocatedRecord(line, offset, data[start : start + length])
            else:
                yield row, LocatedRecord(line, offset, read_exactly(self._fd, length, offset))
