"""What a chunk leaves out, on disk: one set of files for each chunk, complete before its COMMIT.

`<number>.rejects` holds the original bytes of the rejected records, `<number>.csv` explains the rejected and the
skipped ones (line, byte offset, column, value, code, reason; no header), `<number>.json` counts. A retry of the chunk
writes the same again; a set of files counts only if the chunk is in.
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

from importer.engine.errors import Problem
from importer.engine.load.outcome import NoticeCount, Outcome, ReasonCount, RejectSummary, Tally
from importer.engine.source.records.row_error import LONGEST_VALUE, RowError
from importer.engine.stored import from_json, to_json

SUFFIXES = ("rejects", "csv", "json")


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A record that did not go in: where it is in the file and what is wrong with it; `rejected`, or else skipped.

    `more` is what was found out about this one besides.
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
        """The reason that it shares with others."""
        return self.error.reason if self.rejected else f"Skipped: {self.error.reason}"

    @property
    def reason(self) -> str:
        """All there is to say about it: the reason, what was found out, the server's own words."""
        said = f"The server says: {self.error.said}" if self.error.said else ""
        return " ".join(each for each in (self.kind, self.detail, said) if each)


def write_reject_files(
    folder: Path, number: int, records: Iterable[RejectedRow], outcome: Callable[[], Outcome], line_end: bytes
) -> None:
    """Write the chunk's files, in place of those of an earlier attempt.

    `outcome` is asked after the last record. `line_end` is what a last record without one gets. Raises Problem if the
    disk does not take them; nothing half written stays behind.
    """
    paths = [folder / f"{number:08d}.{suffix}" for suffix in SUFFIXES]
    try:
        with _all_or_none(paths) as (rejects, explained, summary):
            write = csv.writer(io.TextIOWrapper(explained, "utf-8", newline="", write_through=True)).writerow
            for record in records:
                write(_explaining(record))
                if record.rejected:
                    rejects.write(record.raw)
                    rejects.write(b"" if record.raw.endswith((b"\n", b"\r")) else line_end)
            summary.write(json.dumps(to_json(outcome().summary)).encode())
    except OSError as error:
        raise Problem(
            f"The rows that were left out cannot be written down: {error.strerror}.",
            where=str(folder),
            advice="Make room there, then retry: nothing of this chunk was kept.",
        ) from error


def remove_reject_files(folder: Path, number: int) -> None:
    """Remove the chunk's files, if there are any."""
    for suffix in SUFFIXES:
        (folder / f"{number:08d}.{suffix}").unlink(missing_ok=True)


def read_counts(folder: Path, number: int, tally: Tally) -> tuple[tuple[ReasonCount, ...], tuple[NoticeCount, ...]]:
    """Reasons and notices of a chunk that is in, whose rows became `tally`; empty if no file tells of them."""
    try:
        stored = json.loads((folder / f"{number:08d}.json").read_bytes())
    except FileNotFoundError:
        return (), ()
    summary = from_json(RejectSummary, stored)
    return (summary.reasons, summary.notices) if summary.tally == tally else ((), ())


def escape_formulas(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would run it as a formula.

    Those that begin with = + - @ or a control character do (OWASP, CSV Injection). Plain numbers stay as they are:
    nothing in -5 or +3.2 runs.
    """
    return f"'{text}" if text[:1] in _FORMULA and not _is_plain_number(text) else text


_FORMULA = frozenset("=+-@\t\r\n")


def _is_plain_number(text: str) -> bool:
    return text[:1] in "+-" and text[1:].replace(".", "", 1).isdecimal() and text.isascii()


def _explaining(record: RejectedRow) -> tuple[Any, ...]:
    value = record.value if len(record.value) <= LONGEST_VALUE else f"{record.value[:LONGEST_VALUE]}…"
    said = (escape_formulas(each) for each in (record.error.column, value, record.error.code, record.reason))
    return (record.line, record.offset, *said)


@contextmanager
def _all_or_none(final: list[Path]) -> Iterator[list[IO[bytes]]]:
    """Files that take their names when all are complete and on disk; none of them if anything goes wrong."""
    temporary = [path.with_name(f"{path.name}.{os.getpid()}.tmp") for path in final]
    files: list[IO[bytes]] = []
    try:
        for path in temporary:
            files.append(path.open("wb"))
        yield files
        for file in files:
            file.flush()
            os.fsync(file.fileno())
            file.close()
        for path, name in zip(temporary, final, strict=True):
            path.replace(name)
    finally:
        for file in files:
            with suppress(OSError):
                file.close()
        for path in temporary:
            path.unlink(missing_ok=True)
