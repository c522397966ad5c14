"""Writes and reads a chunk's reject files: three files for each chunk, complete on disk before its COMMIT.

`<number>.rejects` has the original bytes of the rejected records, `<number>.csv` explains the rejected and the skipped
ones (line, byte offset, column, value, code, reason; no header), `<number>.json` has counts. A retry of the chunk
writes the same files again; they are valid only if the chunk is committed.
"""

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from importer.engine import failpoints
from importer.engine.errors import Problem, room_in_words
from importer.engine.load.outcome import NoticeCount, Outcome, ReasonCount, RejectSummary, Tally
from importer.engine.load.rejects.formulas import escape_formulas
from importer.engine.source.records.row_error import LONGEST_VALUE, RowError
from importer.engine.stored import from_json, to_json

# Characters of a skipped row, which is in the table or on an earlier line already.
LONGEST_SKIPPED = 50

SUFFIXES = ("rejects", "csv", "json")


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A record that was rejected, or else skipped as a duplicate: its place in the file and its error.

    `detail` is a remark about this record only, "" for none.
    """

    line: int
    offset: int
    error: RowError
    value: str
    detail: str
    raw: bytes
    rejected: bool

    @property
    def kind(self) -> str:
        """The reason without its details: rows with an equal one are counted together."""
        return self.error.reason if self.rejected else f"Skipped: {self.error.reason}"

    @property
    def reason(self) -> str:
        """The whole reason: its kind, the detail, and the server's own words.

        These are left out of a skipped row. Most rows of a file may be skipped, and its kind says all.
        """
        message = self.error.server_message if self.rejected else ""
        quote = f"The server says: {message}" if message else ""
        return " ".join(each for each in (self.kind, self.detail, quote) if each)


def write_reject_files(
    folder: Path, number: int, records: Iterable[RejectedRow], outcome: Callable[[], Outcome], line_end: bytes
) -> None:
    """Write the chunk's files; they replace those of an earlier attempt.

    `outcome` is called after the last record. `line_end` is added to a last record that has none. Raises Problem on an
    error of the disk; no partial files remain.
    """
    paths = reject_paths(folder, number)
    try:
        with _all_or_none(paths) as (rejects, explained, summary):
            write = csv.writer(io.TextIOWrapper(explained, "utf-8", newline="", write_through=True)).writerow
            for record in records:
                write(_csv_row(record))
                if record.rejected:
                    rejects.write(record.raw)
                    rejects.write(b"" if record.raw.endswith((b"\n", b"\r")) else line_end)
            summary.write(json.dumps(to_json(outcome().summary)).encode())
    except OSError as error:
        raise Problem(
            f"The rejected and skipped rows cannot be written to disk: {error.strerror}. {room_in_words(folder)}",
            where=str(folder),
            advice="Make room there, then retry: nothing of this chunk was kept.",
        ) from error


def reject_paths(folder: Path, number: int) -> list[Path]:
    """The chunk's files, in the order of SUFFIXES."""
    return [folder / f"{number:08d}.{suffix}" for suffix in SUFFIXES]


def remove_reject_files(folder: Path, number: int) -> None:
    """Remove the chunk's files, if they exist."""
    for path in reject_paths(folder, number):
        path.unlink(missing_ok=True)


def read_counts(
    folder: Path, number: int, tally: Tally, read: Callable[[Path], bytes] = Path.read_bytes
) -> tuple[tuple[ReasonCount, ...], tuple[NoticeCount, ...]]:
    """Reasons and notices of a committed chunk; empty if there is no file, or one whose tally is not `tally`.

    `read` gives the bytes of a file that belongs into the folder.
    """
    try:
        stored = json.loads(read(reject_paths(folder, number)[-1]))
    except FileNotFoundError:
        return (), ()
    summary = from_json(RejectSummary, stored)
    return (summary.reasons, summary.notices) if summary.tally == tally else ((), ())


def _csv_row(record: RejectedRow) -> tuple[Any, ...]:
    most = LONGEST_VALUE if record.rejected else LONGEST_SKIPPED
    value = record.value if len(record.value) <= most else f"{record.value[:most]}…"
    texts = (escape_formulas(each) for each in (record.error.column, value, record.error.code, record.reason))
    return (record.line, record.offset, *texts)


@contextmanager
def _all_or_none(final: list[Path]) -> Iterator[list[IO[bytes]]]:
    """Open temporary files that get their final names when all are complete on disk; on an error they are removed.

    Those of an attempt that was killed are removed here, too.
    """
    temporary = [path.with_name(f"{path.name}.{os.getpid()}.tmp") for path in final]
    for path in final:
        for abandoned in {*path.parent.glob(f"{path.name}.*.tmp")} - {*temporary}:
            abandoned.unlink(missing_ok=True)
    files: list[IO[bytes]] = []
    try:
        for path in temporary:
            files.append(path.open("wb"))
        yield files
        for file in files:
            file.flush()
            os.fsync(file.fileno())
            file.close()
        failpoints.reach("rejects.complete")
        for path, name in zip(temporary, final, strict=True):
            path.replace(name)
    finally:
        for file in files:
            with suppress(OSError):
                file.close()
        for path in temporary:
            path.unlink(missing_ok=True)
