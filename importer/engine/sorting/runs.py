"""Holds a sort's records: in memory as runs, and on disk in buckets, which are files without a name."""

import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from importer.engine.sorting.original_positions import NUMBERS
from importer.engine.sorting.sort_key import SortKey
from importer.engine.source.arrays import Keys, Lengths, Mask, Offsets, np
from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block, read_exactly
from importer.engine.source.records.boundary.lines import line_end_positions

LENGTH, LENGTH_BYTES = "uint32", 4
# The head of each run in a bucket: the number of its records, and their size in bytes.
RUN_HEAD = struct.Struct("<QQ")
# Used as the start of a record that is larger than a block: it stays in the file, at the offset in `places`.
IN_THE_FILE = -1


@dataclass(frozen=True)
class Run:
    """Records with their keys, lengths in bytes and original positions (row, line, offset).

    Each record begins in `data` at its number in `starts`, or is IN_THE_FILE. A run from a block or a bucket is a
    single record IN_THE_FILE, or has none.
    """

    keys: Keys
    lengths: Lengths
    places: Offsets  # records x (row, line, offset)
    starts: Offsets
    data: bytes

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def is_large(self) -> bool:
        """Whether the run is a single record that is not in memory."""
        return len(self) == 1 and int(self.starts[0]) == IN_THE_FILE

    def records(self, which: "Offsets | Mask") -> list[bytes]:
        """The bytes of these records, which must be in memory."""
        starts = self.starts[which]
        ends = starts + self.lengths[which]
        return list(map(self.data.__getitem__, map(slice, starts.tolist(), ends.tolist())))

    def taken(self, which: "Offsets | Mask") -> "Run":
        """A run of these records, in this order, with a copy of their bytes; a large record stays in the file."""
        if self.is_large:
            return self
        lengths = self.lengths[which]
        return Run(self.keys[which], lengths, self.places[which], _starts(lengths), b"".join(self.records(which)))

    def part(self, low: int, high: int) -> "Run":
        """The records from number `low` to `high`; they must be adjacent in `data`."""
        if self.is_large:
            return self
        first = int(self.starts[low])
        data = self.data[first : int(self.starts[high - 1]) + int(self.lengths[high - 1])]
        starts = self.starts[low:high] - first
        return Run(self.keys[low:high], self.lengths[low:high], self.places[low:high], starts, data)

    @classmethod
    def of_block(cls, fd: Readable, block: Block, dialect: Dialect, key: SortKey, row: int) -> tuple["Run", Mask]:
        """The rows of a block in the file's order, the first with number `row`, and a mask of those with a key."""
        keys, known = key.keys(fd, block, dialect)
        if not block.data:
            place = np.array([[row, block.first_line, block.offset]], np.int64)
            return cls(keys, np.array([block.size], LENGTH), place, np.array([IN_THE_FILE]), b""), known
        ends = np.asarray(block.ends.as_array(), np.int64)
        starts = np.concatenate(([0], ends[:-1]))
        is_row = block.row_numbers() >= 0
        view = np.frombuffer(block.data, np.uint8, block.size)
        lines = block.first_line + np.searchsorted(line_end_positions(view, dialect.line_end), starts)
        rows = row + np.cumsum(is_row) - 1
        places = np.stack([rows, lines, starts + block.offset], axis=1)
        run = cls(keys, (ends - starts).astype(LENGTH), places, starts, block.data)
        if is_row.all():
            return run, known
        return cls(keys[is_row], run.lengths[is_row], places[is_row], starts[is_row], block.data), known[is_row]

    @classmethod
    def joined(cls, runs: list["Run"]) -> "Run":
        """All records of several runs."""
        if len(runs) == 1:
            return runs[0]
        before = np.cumsum([0, *(len(run.data) for run in runs[:-1])])
        return cls(
            np.concatenate([run.keys for run in runs]),
            np.concatenate([run.lengths for run in runs]),
            np.concatenate([run.places for run in runs]),
            np.concatenate([run.starts + low for run, low in zip(runs, before, strict=True)]),
            b"".join(run.data for run in runs),
        )


def _starts(lengths: Lengths) -> Offsets:
    """The starts of adjacent records of these lengths."""
    return np.cumsum(lengths, dtype=np.int64) - lengths


@dataclass
class Bucket:
    """The records of a range of keys, run after run in a file; `alike`: all have the same key.

    `size` is in bytes, without large records. The file has no name, so it disappears with the process in any case.
    """

    folder: Path
    key: "np.dtype[Any]"  # the type of a key; `place`: the type of a number in a position
    place: "np.dtype[Any]"
    alike: bool = False
    size: int = 0
    rows: int = 0
    _file: IO[bytes] | None = None

    def add(self, run: Run) -> None:
        """Append a run; its records must be adjacent in `data`."""
        if not self._file:
            # Without a buffer: there are hundreds of these files, and each run is written in one call.
            self._file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115
        arrays = (run.keys, run.lengths, run.places.astype(self.place))
        head = RUN_HEAD.pack(len(run), len(run.data))
        data = memoryview(b"".join((head, *(each.tobytes() for each in arrays), run.data)))
        self.size += len(data)
        while data:
            data = data[self._file.write(data) :]
        self.rows += len(run)

    @property
    def _width(self) -> int:
        return int(self.key.itemsize + LENGTH_BYTES + NUMBERS * self.place.itemsize)

    def each_run(self) -> Iterator[Run]:
        """The runs, in the order in which they were added."""
        if not self._file:
            return
        at = 0
        while at < self.size:
            rows, size = RUN_HEAD.unpack(read_exactly(self._file.fileno(), RUN_HEAD.size, at))
            data = read_exactly(self._file.fileno(), RUN_HEAD.size + rows * self._width + size, at)
            at += len(data)
            yield self._read(data, RUN_HEAD.size, rows, size)

    def whole(self) -> Run:
        """All records as one run. The bucket must not be empty."""
        assert self._file
        data, at = read_exactly(self._file.fileno(), self.size, 0), 0
        runs = []
        while at < len(data):
            rows, size = RUN_HEAD.unpack_from(data, at)
            runs.append(self._read(data, at + RUN_HEAD.size, rows, size))
            at += RUN_HEAD.size + rows * self._width + size
        return Run(
            np.concatenate([run.keys for run in runs]),
            np.concatenate([run.lengths for run in runs]),
            np.concatenate([run.places for run in runs]),
            np.concatenate([run.starts for run in runs]),
            data,
        )

    def _read(self, data: bytes, at: int, rows: int, size: int) -> Run:
        """The run of `rows` records in `size` bytes at data[at:]; its starts are positions in `data`."""
        keys = np.frombuffer(data, self.key, rows, at)
        at += keys.nbytes
        lengths = np.frombuffer(data, LENGTH, rows, at)
        at += lengths.nbytes
        places = np.frombuffer(data, self.place, rows * NUMBERS, at).reshape(-1, NUMBERS)
        if not size:
            return Run(keys, lengths, places, np.full(rows, IN_THE_FILE), b"")
        return Run(keys, lengths, places, _starts(lengths) + at + places.nbytes, data)

    def close(self) -> None:
        """Release the bucket's disk space."""
        if self._file:
            self._file.close()
            self._file = None
