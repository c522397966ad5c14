"""Makes the files of a workload once, keeps them, and computes the content of its tables after a load."""

import json
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from bench.workloads.table import SEED, Workload, WorkloadTable

PIECES = 8
MARK = "made.json"


@dataclass(frozen=True)
class Content:
    """The content of a table: its number of rows, and the sum of the CRC-32 of each row as written in the file."""

    rows: int
    checksum: int


@dataclass
class Files:
    """The files of one workload at one size, in a folder of their own.

    Each table has `<table>.csv` with a header, and pieces without a header: `<piece>/<table>.csv`, cut at line ends.
    """

    workload: Workload
    rows: int
    folder: Path
    separator: str = ","
    _contents: dict[tuple[str, int], Content] = field(default_factory=dict)

    def whole(self, table: WorkloadTable) -> Path:
        return self.folder / f"{table.name}.csv"

    def pieces(self, table: WorkloadTable, count: int = PIECES) -> list[Path]:
        """The paths of the pieces: the PIECES that always exist, or those of cut()."""
        within = self.folder if count == PIECES else self.folder / f"in-{count}"
        return [within / str(number) / f"{table.name}.csv" for number in range(count)]

    def cut(self, table: WorkloadTable, count: int) -> None:
        """Also cut the table's file into `count` pieces, if they do not exist yet."""
        missing = [piece for piece in self.pieces(table, count) if not piece.exists()]
        if missing:
            for piece in missing:
                piece.parent.mkdir(parents=True, exist_ok=True)
            _split(self.whole(table), self.pieces(table, count))

    @property
    def bytes(self) -> int:
        return sum(self.whole(table).stat().st_size for table in self.workload.tables)

    def content(self, table: WorkloadTable, rows: int) -> Content:
        """The expected content of the table after `rows` of the whole workload were loaded."""
        wanted = table.rows_of(rows)
        if (table.name, wanted) not in self._contents:
            lines = islice(data_lines(self.whole(table)), wanted)
            self._contents[table.name, wanted] = Content(wanted, sum(zlib.crc32(line[:-1]) for line in lines))
        return self._contents[table.name, wanted]


def data_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file below its header, with their line ends."""
    with path.open("rb") as file:
        next(file)
        yield from file


def files_of(workload: Workload, rows: int, folder: Path, separator: str = ",") -> Files:
    """The workload's files below `folder`: those of an earlier run, or new ones."""
    mark = {"seed": SEED, "rows": rows, "separator": separator, "pieces": PIECES}
    name = f"{workload.files}-{rows}" + ("-tab" if separator == "\t" else "")
    files = Files(workload, rows, folder / name, separator)
    mark_path = files.folder / MARK
    if not mark_path.exists() or json.loads(mark_path.read_text()) != mark:
        shutil.rmtree(files.folder, ignore_errors=True)
        for table in workload.tables:
            files.folder.mkdir(parents=True, exist_ok=True)
            table.write(files.whole(table), table.rows_of(rows), separator)
            files.cut(table, PIECES)
        mark_path.write_text(json.dumps(mark))
    return files


def _split(whole: Path, pieces: list[Path]) -> None:
    """Cut the data into pieces of about the same size. No record of these files contains a line end."""
    with whole.open("rb") as source:
        source.readline()
        begin, size = source.tell(), whole.stat().st_size
        for number, piece in enumerate(pieces, start=1):
            end = size
            if number < len(pieces):
                source.seek(max(begin, size * number // len(pieces)))
                source.readline()
                end = source.tell()
            source.seek(begin)
            with piece.open("wb") as out:
                _copy(source, out, end - begin)
            begin = end


def _copy(source: BinaryIO, out: BinaryIO, size: int) -> None:
    while size:
        data = source.read(min(size, 2**20))
        out.write(data)
        size -= len(data)
