"""Numbers before each record of a chunk: which record of the file it is, and the line on which it begins.

They are fields of their own, in the chunk's dialect. They are right whatever is left out of a load, and cost a copy of
the bytes in memory. Counting in the statement would do neither: MySQL warns of a variable that is set inside an
expression (1287), and a variable does not count what is left out (server-behaviour.md).
"""

from collections.abc import Iterable, Iterator, Sequence

from importer.engine.feed.feed import FeedTransform
from importer.engine.sorting.original_positions import LINE, ROW, OriginalPositions
from importer.engine.source.arrays import ByteArray, Mask, Offsets
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.boundaries import Ends, blank_records
from importer.engine.source.records.lines import line_end_positions, line_ends
from importer.engine.source.records.record_stream import whole_records

# In the order in which they stand before a record.
NUMBERS = ("row", "line")
# Of numbers that a sorted copy's rows had in their file, which may be of any size.
PLACE_DIGITS = 15


def numbered(
    chunk: ChunkRange,
    dialect: Dialect,
    numbers: Sequence[str],
    left_out: "Offsets | Sequence[tuple[int, int]]" = (),
    places: OriginalPositions | None = None,
) -> FeedTransform:
    """A step for the chunk's own bytes, so the first one: each record with the `numbers` asked for before it.

    `left_out` are byte ranges of the file, whole records in order, that are not sent. Leaving them out must be done
    here: a later step could not tell where they were, an earlier one would make the numbers wrong. `places`
    has the numbers of a sorted copy's rows.
    """
    largest = max(chunk.first_row, chunk.first_line) + chunk.length  # no record is shorter than a byte
    prefix = _Prefix(numbers, PLACE_DIGITS if places else len(str(largest)), dialect.delimiter_bytes)

    def step(pieces: Iterable[bytes]) -> Iterator[bytes]:
        offset, row, line = chunk.offset, chunk.first_row, chunk.first_line
        for data, ends in whole_records(pieces, dialect):
            block = _Block(data, ends, offset, row, line, dialect)
            yield block.numbered(prefix, left_out, places)
            offset += len(data)
            row += block.row_count
            line += line_ends(data, dialect.line_end)

    return step


class _Prefix:
    """The numbers before a record as bytes: each `digits` wide, with a delimiter after it."""

    def __init__(self, numbers: Sequence[str], digits: int, delimiter: bytes) -> None:
        self._numbers = numbers
        self._digits = digits
        self._delimiter = delimiter

    def fields(self, values: dict[str, Offsets]) -> ByteArray:
        """One line of bytes for each record, from one number for each record under each name."""
        import numpy as np

        powers = 10 ** np.arange(self._digits - 1, -1, -1)
        delimiter = np.tile(np.frombuffer(self._delimiter, np.uint8), (len(values["row"]), 1))
        parts = [
            part
            for name in self._numbers
            for part in ((values[name][:, None] // powers % 10 + ord("0")).astype(np.uint8), delimiter)
        ]
        return np.hstack(parts)


class _Block:
    """Whole records that lie together at `offset` of the file; the first is number `row` and begins on `line`.

    Blank lines that the dialect skips are left out.
    """

    def __init__(self, data: bytes, ends: Ends, offset: int, row: int, line: int, dialect: Dialect) -> None:
        import numpy as np  # Not at the top: it costs 16 MB, and most loads number nothing.

        self._data = np.frombuffer(data, np.uint8)
        self._offset, self._row, self._line = offset, row, line
        self._ends = ends.as_array()
        self._starts = np.concatenate(([0], self._ends[:-1]))
        blank = blank_records(data, ends, dialect) if dialect.blank_lines == "skip" else ()
        self._is_row = ~np.isin(self._starts, np.asarray(blank, np.int64))
        self._line_ends = line_end_positions(self._data, dialect.line_end)

    @property
    def row_count(self) -> int:
        return int(self._is_row.sum())

    def numbered(
        self, prefix: _Prefix, left_out: "Offsets | Sequence[tuple[int, int]]", places: OriginalPositions | None
    ) -> bytes:
        import numpy as np

        fields = prefix.fields(self._numbers(places))
        lengths = self._ends - self._starts
        kept = self._kept(left_out) & self._is_row
        if kept.all():
            return _woven(self._data, lengths, fields)
        return _woven(self._data[np.repeat(kept, lengths)], lengths[kept], fields[kept])

    def _numbers(self, places: OriginalPositions | None) -> dict[str, Offsets]:
        """Row and line of each record; those of a blank line mean nothing."""
        import numpy as np

        rows = np.cumsum(self._is_row) - 1
        if places:
            place = places.of(self._row, self.row_count)[np.maximum(rows, 0)]
            return {"row": place[:, ROW], "line": place[:, LINE]}
        return {"row": self._row + rows, "line": self._line + np.searchsorted(self._line_ends, self._starts)}

    def _kept(self, left_out: "Offsets | Sequence[tuple[int, int]]") -> Mask:
        """For each record, whether it is sent."""
        import numpy as np

        if not len(left_out):
            return np.ones(len(self._starts), bool)
        lows, highs = np.asarray(left_out).T
        starts = self._starts + self._offset
        at = np.searchsorted(lows, starts, side="right") - 1
        kept: Mask = (at < 0) | (starts >= highs[at])
        return kept


def _woven(data: ByteArray, lengths: Offsets, fields: ByteArray) -> bytes:
    """The records of these lengths, which lie together in `data`, each behind its line of `fields`."""
    import numpy as np

    width = fields.shape[1]
    begins = np.cumsum(lengths + width) - lengths - width
    woven = np.empty(len(data) + fields.size, np.uint8)
    places = (begins[:, None] + np.arange(width)).ravel()
    numbers = np.zeros(len(woven), bool)
    numbers[places] = True
    woven[places] = fields.ravel()
    woven[~numbers] = data
    return woven.tobytes()
