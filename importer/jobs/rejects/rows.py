"""Reads the rejected rows of an import page by page: the record of each, and why it was rejected.

The files of a chunk hold them in one order (importer.engine.load.rejects.reject_files); chunks without a row that is
wanted are not read. A row is named by its chunk and its place, from 0, among the rejected rows of the chunk.
"""

import csv
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TextIO

from django.db.models import QuerySet

from importer.engine.load.rejects.formulas import escape_formulas
from importer.engine.source.records.record_stream import whole_records
from importer.jobs.rejects.counts import OTHERS, by_reason
from importer.jobs.rejects.storage import opened, opened_as_text
from importer.models import Chunk, ImportJob

# A reason for rejects, and the column that it is about; "" for the whole row.
Why = tuple[str, str]
SKIPPED = "Skipped: "
Place = tuple[int, int]


@dataclass(frozen=True)
class RejectedRecord:
    """A rejected row. `line` is 1-based in the source; `record` are its bytes in the plain file, b"" if unknown.

    `file` is the name of its file, of an import of several.

    `column` and `reason` are as in the file of reasons.
    """

    chunk: int
    place: int
    line: int
    column: str
    value: str
    reason: str
    record: bytes
    file: str = ""

    @property
    def at(self) -> Place:
        return self.chunk, self.place


def reasons(job: ImportJob) -> list[tuple[Why, int]]:
    """The reasons for which rows were rejected, each with its number of rows; the most frequent first."""
    kinds = by_reason(job.reject_reasons, "rows")
    return [((each["reason"], each["column"]), each["rows"]) for each in kinds if not _is_skip(each["reason"])]


def rows(job: ImportJob, why: Why | None, first: int, most: int) -> list[RejectedRecord]:
    """At most `most` rejected rows from number `first` (from 0) on, in the order of the source; all or of one reason.

    Empty if the files are gone.
    """
    found: list[RejectedRecord] = []
    for chunk in _chunks(job):
        if why and (known := _count(chunk, why)) is not None and known <= first:
            first -= known
            continue
        if not why and chunk.rejected_rows <= first:
            first -= chunk.rejected_rows
            continue
        wanted = (each for each in _of_chunk(job, chunk) if why is None or _why(each, chunk) == why)
        for each in wanted:
            if first:
                first -= 1
            else:
                found.append(each)
            if len(found) == most:
                return found
    return found


def rows_at(job: ImportJob, places: Collection[Place]) -> list[RejectedRecord]:
    """The rejected rows at these places, in the order of the source; without those whose files are gone."""
    found = []
    for chunk in _chunks(job).filter(number__in={number for number, _ in places}):
        found += [each for each in _of_chunk(job, chunk) if each.at in places]
    return found


def _chunks(job: ImportJob) -> QuerySet[Chunk]:
    return job.chunks.filter(status=Chunk.Status.LOADED, rejected_rows__gt=0).order_by("number")


def _of_chunk(job: ImportJob, chunk: Chunk) -> Iterator[RejectedRecord]:
    """The rejected rows of a chunk. Without records if they cannot be told apart, as with quotes that never close."""
    try:
        with opened(job, f"{chunk.number:08d}.rejects") as records:
            raw = records.read()
        with opened_as_text(job, f"{chunk.number:08d}.csv") as explained:
            yield from _explained(job, chunk, raw, explained)
    except FileNotFoundError:
        return


def _explained(job: ImportJob, chunk: Chunk, raw: bytes, explained: TextIO) -> Iterator[RejectedRecord]:
    split = [data[low:high] for data, low, high in _records(raw, job)]
    known = split if len(split) == chunk.rejected_rows else []
    name = job.file_names[chunk.file] if job.files_json else ""
    lines = (each for each in csv.reader(explained) if not each[5].startswith(SKIPPED))
    for place, (line, _, column, value, _, reason) in enumerate(islice(lines, chunk.rejected_rows)):
        record = known[place] if known else b""
        yield RejectedRecord(chunk.number, place, int(line), column, value, reason, record, name)


def _records(raw: bytes, job: ImportJob) -> Iterator[tuple[bytes, int, int]]:
    for data, ends in whole_records([raw], job.dialect):
        low = 0
        for high in ends.as_array().tolist():
            yield data, low, high
            low = high


def _count(chunk: Chunk, why: Why) -> int | None:
    """The chunk's rejected rows of that reason; None if its summary does not tell all of its reasons."""
    whys = [(each["reason"], each["column"]) for each in chunk.reject_reasons]
    if OTHERS in (why[0], *(reason for reason, _ in whys)):
        return None
    return sum(int(each["rows"]) for each, of in zip(chunk.reject_reasons, whys, strict=True) if of == why)


def _why(row: RejectedRecord, chunk: Chunk) -> Why:
    """The reason of a row without the details that are about this row only."""
    fitting = [
        (each["reason"], each["column"])
        for each in chunk.reject_reasons
        if row.column == escape_formulas(each["column"]) and row.reason.startswith(escape_formulas(each["reason"]))
    ]
    return max(fitting, key=lambda why: len(why[0]), default=(OTHERS, ""))


def _is_skip(reason: str) -> bool:
    return reason.startswith(SKIPPED)
