"""Sorts a file's records by a key into a copy: an external sort in bounded memory.

There are two passes. The first distributes the records over buckets, each for a range of keys, with borders from a
sample. The second sorts one bucket after the other. Records with equal keys keep the file's order, and no byte of a
record changes.

Records without a key (another number of fields, or no number in a numeric column) come after all others. The last
record stays the last if it has no line end. Blank lines that are not records are left out.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

from importer.engine.sorting.key_sample import sampled_keys, share_borders
from importer.engine.sorting.original_positions import OFFSET, head, number_bytes
from importer.engine.sorting.runs import IN_THE_FILE, Bucket, Run
from importer.engine.sorting.sort_key import SortKey, Unsortable
from importer.engine.source.arrays import Keys, Mask, Offsets, np
from importer.engine.source.byte_source import Readable
from importer.engine.source.chunks.skipped_lines import LineCounter, SkippedLines, lines_after
from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, blocks, end_of_records, pieces, read_exactly
from importer.engine.source.records.boundary.state_machine import RecordWalk
from importer.engine.source.records.boundary.stray_quotes import STRAY, UNCLOSED, MalformedRecord
from importer.engine.source.records.malformed import unreadable_record
from importer.engine.units import MIB

ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class SortLimits:
    """Sizes in bytes, and the largest number of `buckets`.

    - `unit`: records that are distributed together.
    - `bucket`: a bucket as planned. `largest_bucket`: a larger one is divided again before it is sorted.
    - `block`: bytes that are read together; a record larger than that stays in the file until it is written.

    With the defaults, a process takes 18 MB more than before, for 2 GB of records (server-behaviour.md).
    """

    unit: int = 2 * MIB
    bucket: int = 6 * MIB
    largest_bucket: int = 10 * MIB
    buckets: int = 400
    block: int = BLOCK_BYTES


@dataclass(frozen=True)
class SortInput:
    """The records to sort: from byte `start` of an open file, on physical line `first_line`, to byte `end`.

    `tolerate`: records that cannot be read safely are rows too, instead of ending the sort.
    """

    fd: Readable
    dialect: Dialect
    start: int
    first_line: int
    end: int
    tolerate: bool = False


def sort_records(
    source: SortInput,
    key: SortKey,
    out: IO[bytes],
    places: IO[bytes],
    folder: Path,
    on_progress: Callable[[float], None] = lambda _: None,
    limits: SortLimits | None = None,
) -> tuple[int, SkippedLines]:
    """Write the sorted copy to `out` and the records' original positions to `places`.

    Returns the number of records, and the lines among and after them that are none.

    The bytes before the records are copied first. Buckets are files without names in `folder`. `on_progress` is called
    every few MiB with the share of the work that is done, 0 to 1; it may raise an exception to end the sort. Raises
    Unsortable if a quote makes it uncertain where records end, OSError, and as scan() does.
    """
    sort = _Sort(source, key, out, places, folder, on_progress, limits or SortLimits())
    try:
        return sort.run()
    finally:
        sort.close()


class _Sort:
    def __init__(
        self,
        source: SortInput,
        key: SortKey,
        out: IO[bytes],
        places: IO[bytes],
        folder: Path,
        on_progress: Callable[[float], None],
        limits: SortLimits,
    ) -> None:
        self._source, self._key, self._out, self._places = source, key, out, places
        self._folder, self._on_progress, self._limits = folder, on_progress, limits
        self._end = end_of_records(source.fd, source.dialect, source.start, source.end)
        self._place = np.dtype(f"<u{number_bytes(source.end)}")
        self._rows = self._written = 0
        self._next_line = source.first_line
        self._open: list[Bucket] = []
        self._lines = LineCounter(source.dialect)

    def run(self) -> tuple[int, SkippedLines]:
        source = self._source
        for piece in pieces(source.fd, 0, source.start):
            self._out.write(piece)
        self._places.write(head(self._place.itemsize))
        size = self._end - source.start
        shares = min(self._limits.buckets, size // self._limits.bucket + 1)
        sample = sampled_keys(source.fd, source.dialect, self._key, source.start, self._end) if size else None
        spread = _Spread(self._bucket, *share_borders(sample, shares)) if sample is not None else None
        first, keyless, last = self._bucket(), self._bucket(), self._bucket()
        for run, known in self._units():
            last_one = np.zeros(len(run), bool)
            last_one[-1] = self._ends_without_line_end(run)
            # In a dialect of any line end, a record that begins with an LF would join a CR before it into one line end.
            lf = self._begin_with_lf(run) & ~last_one
            for bucket, which in ((last, last_one), (first, lf), (keyless, ~(known | lf | last_one))):
                if which.any():
                    bucket.add(run.taken(np.flatnonzero(which)))
            assert spread
            spread.add(run, np.flatnonzero(known & ~(lf | last_one)))
        for unsorted in first.each_run():
            self._write(unsorted, np.arange(len(unsorted)))
        for bucket in spread.buckets if spread else ():
            self._write_sorted(bucket)
        for bucket in (keyless, last):
            for unsorted in bucket.each_run():
                self._write(unsorted, np.arange(len(unsorted)))
        return self._rows, self._lines.lines() + self._lines_after()

    def close(self) -> None:
        for bucket in self._open:
            bucket.close()

    def _bucket(self, alike: bool = False) -> Bucket:
        self._open.append(Bucket(self._folder, self._key.dtype, self._place, alike))
        return self._open[-1]

    def _units(self) -> Iterator[tuple[Run, Mask]]:
        """The rows in the file's order, some MiB at a time, and a mask of those with a key."""
        source = self._source
        parts: list[tuple[Run, Mask]] = []
        row = 1
        for block in blocks(source.fd, source.dialect, source.start, source.first_line, self._end, self._limits.block):
            self._refuse(block.flaws)
            self._lines.add_block(block, 0, block.size)
            self._next_line = block.first_line + block.lines
            run, known = Run.of_block(source.fd, block, source.dialect, self._key, row)
            row += len(run)
            if run.is_large and parts:
                yield _joined(parts)
                parts = []
            if len(run):
                parts.append((run, known))
            if run.is_large or sum(len(run.data) for run, _ in parts) >= self._limits.unit:
                yield _joined(parts)
                parts = []
                self._on_progress((block.offset - source.start) / (self._end - source.start) / 2)
        if parts:
            yield _joined(parts)

    def _lines_after(self) -> SkippedLines:
        source = self._source
        return lines_after(source.fd, source.dialect, self._end, self._next_line, source.end)

    def _refuse(self, flaws: Sequence[MalformedRecord]) -> None:
        if not flaws:
            return
        if not self._source.tolerate:
            raise unreadable_record(flaws[0], self._source.dialect.encoding)
        for flaw in flaws:
            if flaw.code in (STRAY, UNCLOSED):
                # The bytes after this record decide where it ends, so it cannot be moved.
                raise Unsortable(
                    "A quote is not closed, or not doubled, so records cannot be moved.", where=f"line {flaw.line:,}"
                )

    def _ends_without_line_end(self, run: Run) -> bool:
        """Whether the run's last record is the file's last, and would continue with any bytes after it."""
        offset, length = int(run.places[-1, OFFSET]), int(run.lengths[-1])
        if offset + length < self._end:
            return False
        walk = RecordWalk(self._source.dialect)
        for piece in chain(pieces(self._source.fd, offset, offset + length), [b"x"]):
            if read_length := walk.feed(piece):
                return read_length != length
        return True

    def _begin_with_lf(self, run: Run) -> Mask:
        if self._source.dialect.line_end != ANY_LINE_END:
            return np.zeros(len(run), bool)
        if run.is_large:
            return np.array([read_exactly(self._source.fd, 1, int(run.places[0, OFFSET])) == b"\n"])
        begins: Mask = np.frombuffer(run.data, np.uint8)[run.starts] == ord("\n")
        return begins

    def _write_sorted(self, bucket: Bucket) -> None:
        """Write a bucket's records in order; a bucket that is too large is first divided into smaller ones."""
        if bucket.alike:
            for run in bucket.each_run():
                self._write(run, np.arange(len(run)))
        elif bucket.size > self._limits.largest_bucket:
            for part in self._spread_again(bucket):
                self._write_sorted(part)
        elif bucket.rows:
            run = bucket.whole()
            self._write(run, np.argsort(run.keys, kind="stable"))
        bucket.close()

    def _spread_again(self, bucket: Bucket) -> list[Bucket]:
        shares = min(self._limits.buckets, bucket.size // self._limits.bucket + 2)
        sample = np.concatenate([run.keys[:: max(1, len(run) // 64)] for run in bucket.each_run()])
        spread = _Spread(self._bucket, *share_borders(sample, shares))
        for run in bucket.each_run():
            spread.add(run, np.arange(len(run)))
            self._on_progress(self._share_written())
        bucket.close()
        return spread.buckets

    def _write(self, run: Run, order: Offsets) -> None:
        """Append the run's records to the copy in this order, and their original positions to `places`."""
        for low in range(0, len(order), ROWS_AT_ONCE):
            batch = order[low : low + ROWS_AT_ONCE]
            for data in self._bytes(run, batch):
                self._written += self._out.write(data)
                self._on_progress(self._share_written())
            self._places.write(run.places[batch].astype(self._place).tobytes())
            self._rows += len(batch)

    def _bytes(self, run: Run, which: Offsets) -> Iterator[bytes]:
        """The bytes of these records, in this order: a large record in pieces from the file, others joined."""
        low = 0
        for at in np.flatnonzero(run.starts[which] == IN_THE_FILE).tolist():
            yield b"".join(run.records(which[low:at]))
            offset, length = int(run.places[which[at], OFFSET]), int(run.lengths[which[at]])
            yield from pieces(self._source.fd, offset, offset + length)
            low = at + 1
        yield b"".join(run.records(which[low:]))

    def _share_written(self) -> float:
        return 0.5 + self._written / (self._end - self._source.start) / 2


class _Spread:
    """Distributes records over buckets for the key ranges between `keys`; `own`: keys with a bucket of their own."""

    def __init__(self, bucket: Callable[[bool], Bucket], keys: Keys, own: Mask) -> None:
        self._keys, self._own = keys, own
        self.buckets = [bucket(False)]
        for alone in own.tolist():
            self.buckets += [bucket(True), bucket(False)] if alone else [bucket(False)]

    def add(self, run: Run, which: Offsets) -> None:
        """Add these records to their buckets; records with equal keys keep the file's order."""
        if not len(which):
            return
        run = run.taken(which[np.argsort(run.keys[which], kind="stable")])
        cuts = np.searchsorted(run.keys, self._keys)
        behind = np.searchsorted(run.keys, self._keys[self._own], side="right")
        cuts = np.sort(np.concatenate((cuts, behind))).tolist()
        for bucket, low, high in zip(self.buckets, [0, *cuts], [*cuts, len(run)], strict=True):
            if low < high:
                bucket.add(run.part(low, high))


def _joined(parts: list[tuple[Run, Mask]]) -> tuple[Run, Mask]:
    return Run.joined([run for run, _ in parts]), np.concatenate([known for _, known in parts])
