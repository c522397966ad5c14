"""Writes the sample of a file that a lab loads in each trial: the first rows, or evenly spaced ranges of the file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from importer.engine.errors import Problem
from importer.engine.source.arrays import np
from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block, blocks, end_of_records, pieces
from importer.engine.units import count_of

# The number of ranges of a sample by share. Ranges cover files whose content changes from part to part.
RANGES = 20


@dataclass(frozen=True)
class Sample:
    """The first `rows`, or a `share` (0 to 1) of the data's bytes in RANGES ranges of whole records, in their order.

    Exactly one of the two is given. Raises Problem otherwise, and for a value out of bounds.
    """

    rows: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.share is None):
            raise Problem("A sample is either first rows or a share of the file.", advice="Give one of the two.")
        if self.rows is not None and self.rows < 1:
            raise Problem("A sample has at least one row.", advice="Ask for 1 or more.")
        if self.share is not None and not 0 < self.share <= 1:
            raise Problem(f"A share of {self.share:g} cannot be taken.", advice="Give more than 0, and at most 1.")

    def __str__(self) -> str:
        return (
            f"the first {count_of(self.rows, 'row')}"
            if self.rows
            else f"{(self.share or 0) * 100:.3g} % in {RANGES} ranges"
        )


@dataclass(frozen=True)
class SampleSize:
    """The size of a sample: its rows, and its bytes including the lines before the data."""

    rows: int
    bytes: int


@dataclass(frozen=True)
class DataRange:
    """The data of a plain file: from byte `start`, on line `first_line`, to byte `end`."""

    start: int
    first_line: int
    end: int


def write_sample(
    fd: Readable,
    dialect: Dialect,
    sample: Sample,
    data: DataRange,
    out: IO[bytes],
    room: int | None = None,
    on_progress: Callable[[], None] = lambda: None,
) -> SampleSize:
    """Write the lines before the data, then the sample of the data, to `out`.

    Raises Problem if the sample needs more than `room` bytes or has no row, and as blocks() does for malformed records.
    """
    start, first_line, end = data.start, data.first_line, data.end
    out.write(b"".join(pieces(fd, 0, start)))
    rows, size = 0, start
    end = end_of_records(fd, dialect, start, end)
    # The sample ends with the footer, as the file does.
    footer = b"".join(pieces(fd, end, data.end)) if dialect.skip_footer else b""
    size += len(footer)
    for block in blocks(fd, dialect, start, first_line, end):
        on_progress()
        for low, high in _sampled_ranges(block, sample, rows, start, end):
            size += high - low
            if room is not None and size > room:
                raise Problem(
                    f"The sample ({sample}) takes more than the {room:,} bytes that the lab may use here.",
                    advice="Take a smaller one, or raise the budget of disk here.",
                )
            _copy(fd, block, low, high, out)
            rows += block.rows(low, high)
        if sample.rows and rows >= sample.rows:
            break
    if not rows:
        raise Problem("There is no row in the sample.", advice="Take a larger one, or another file.")
    out.write(footer)
    return SampleSize(rows, size)


def _sampled_ranges(block: Block, sample: Sample, rows: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of the block that are in the sample, of whole records, as offsets in the block; after `rows` rows."""
    if sample.rows is not None:
        yield 0, block.end_within(0, block.size, sample.rows - rows)
        return
    width = (end - start) / RANGES
    for number in range(RANGES):
        begin = start + number * width
        low = _record_at(block, begin - block.offset)
        high = _record_at(block, begin + (sample.share or 0) * width - block.offset)
        if high > low:
            yield low, high


def _record_at(block: Block, at: float) -> int:
    """The offset of the first record that begins at or after `at`; the block's size if none does."""
    if at <= 0:
        return 0
    ends = block.ends.as_array()
    index = int(np.searchsorted(ends, at))
    return int(ends[index]) if index < len(ends) else block.size


def _copy(fd: Readable, block: Block, low: int, high: int, out: IO[bytes]) -> None:
    if block.data:
        out.write(memoryview(block.data)[low:high])
        return
    for piece in pieces(fd, block.offset + low, block.offset + high):
        out.write(piece)
