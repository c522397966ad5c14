"""Puts numbers before each record of a chunk: the number of the record in the file, and its first line.

The numbers are additional fields in the chunk's dialect. They are right even if records are left out of the load, and
cost a copy of the bytes in memory. Counting in the statement would not be right: MySQL warns of a variable that is set
inside an expression (1287), and a variable does not count records that are left out (server-behaviour.md).
"""

from collections.abc import Iterable, Iterator, Sequence

from importer.engine.feed.feed import FeedTransform
from importer.engine.sorting.original_positions import LINE, ROW, OriginalPositions
from importer.engine.source.arrays import ByteArray, Mask, Offsets, np
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.boundaries import Ends
from importer.engine.source.records.boundary.lines import line_end_positions, line_ends
from importer.engine.source.records.no_records import find_no_records
from importer.engine.source.records.record_stream import whole_records

# In their order before a record.
NUMBERS = ("row", "line")
# Width of numbers for a sorted copy, whose rows had any number in the original file.
PLACE_DIGITS = 15


def numbered(
    chunk: ChunkRange,
    dialect: Dialect,
    numbers: Sequence[str],
    left_out: "Offsets | Sequence[tuple[int, int]]" = (),
    places: OriginalPositions | None = None,
) -> FeedTransform:
    """A step that puts `numbers` before each record. It must be the first step, on the chunk's own bytes.

    `left_out` are byte ranges of the file, whole records in order, that are not sent. This step leaves them out: a
    later one would not know their position, an earlier one would make the numbers wrong. `places` has the original
    positions of a sorted copy's rows.
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
    """Renders the numbers before a record as bytes: each `digits` wide, followed by a delimiter."""

    def __init__(self, numbers: Sequence[str], digits: int, delimiter: bytes) -> None:
        self._numbers = numbers
        self._digits = digits
        self._delimiter = delimiter

    def fields(self, values: dict[str, Offsets]) -> ByteArray:
        """The rendered numbers, an array of records x bytes. `values` has one number a record, by name."""
        powers = 10 ** np.arange(self._digits - 1, -1, -1)
        delimiter = np.tile(np.frombuffer(self._delimiter, np.uint8), (len(values["row"]), 1))
        parts = [
            part
            for name in self._numbers
            for part in ((values[name][:, None] // powers % 10 + ord("0")).astype(np.uint8), delimiter)
        ]
        return np.hstack(parts)


class _Block:
    """Consecutive whole records at `offset` of the file. The first has number `row` and begins on `line`.

    Blank lines that the dialect skips are left out.
    """

    def __init__(self, data: bytes, ends: Ends, offset: int, row: int, line: int, dialect: Dialect) -> None:
        self._data = np.frombuffer(data, np.uint8)
        self._offset, self._row, self._line = offset, row, line
        self._ends = ends.as_array()
        self._starts = np.concatenate(([0], self._ends[:-1]))
        blank = find_no_records(data, ends, dialect)
        self._is_row = ~np.isin(self._starts, np.asarray(blank, np.int64))
        self._line_ends = line_end_positions(self._data, dialect.line_end)

    @property
    def row_count(self) -> int:
        return int(self._is_row.sum())

    def numbered(
        self, prefix: _Prefix, left_out: "Offsets | Sequence[tuple[int, int]]", places: OriginalPositions | None
    ) -> bytes:
        fields = prefix.fields(self._numbers(places))
        lengths = self._ends - self._starts
        sent = self._sent(left_out) & self._is_row
        if sent.all():
            return _interleaved(self._data, lengths, fields)
        return _interleaved(self._data[np.repeat(sent, lengths)], lengths[sent], fields[sent])

    def _numbers(self, places: OriginalPositions | None) -> dict[str, Offsets]:
        """Row and line of each record; those of blank lines have no meaning."""
        rows = np.cumsum(self._is_row) - 1
        if places:
            place = places.of(self._row, self.row_count)[np.maximum(rows, 0)]
            return {"row": place[:, ROW], "line": place[:, LINE]}
        return {"row": self._row + rows, "line": self._line + np.searchsorted(self._line_ends, self._starts)}

    def _sent(self, left_out: "Offsets | Sequence[tuple[int, int]]") -> Mask:
        """A mask of the records that are sent."""
        if not len(left_out):
            return np.ones(len(self._starts), bool)
        lows, highs = np.asarray(left_out).T
        starts = self._starts + self._offset
        at = np.searchsorted(lows, starts, side="right") - 1
        sent: Mask = (at < 0) | (starts >= highs[at])
        return sent


def _interleaved(data: ByteArray, lengths: Offsets, fields: ByteArray) -> bytes:
    """The records in `data`, which have these lengths, each after its row of `fields`."""
    width = fields.shape[1]
    begins = np.cumsum(lengths + width) - lengths - width
    joined = np.empty(len(data) + fields.size, np.uint8)
    places = (begins[:, None] + np.arange(width)).ravel()
    numbers = np.zeros(len(joined), bool)
    numbers[places] = True
    joined[places] = fields.ravel()
    joined[~numbers] = data
    return joined.tobytes()
