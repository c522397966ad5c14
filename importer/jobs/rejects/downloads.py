"""Makes the two files about rows that did not go in: the reject file and the file of reasons.

The engine writes parts for each chunk (importer.engine.load.rejects): the original bytes of the rejected records, and a
CSV with the reasons of rejected and skipped ones. Only the parts of loaded chunks are used: a failed attempt may have
left some too. Parts are kept as long as the policy
`rejects` says (importer.retention), and at most as long as the chunks.
"""

import csv
import io
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q

from importer.connections.source_location import location_of_job
from importer.engine.errors import Problem, SourceProblem, room_in_words
from importer.engine.load.rejects.formulas import defused_csv, escape_formulas
from importer.engine.source import archives, encodings
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.joined import JoinedFile, line_end_of
from importer.engine.source.dialect import Dialect
from importer.engine.source.formats import registry
from importer.engine.source.records.blocks import read_exactly
from importer.jobs.rejects.corrected import STAND_IN
from importer.jobs.rejects.storage import (
    RejectsInStore,
    folder,
    local_keys,
    missing,
    opened,
    opened_as_text,
    storage_of,
)
from importer.models import Chunk, ImportJob, SourceFile
from importer.sources import parts, uploads

HEADER = ("line", "byte_offset", "column", "value", "code", "reason")
OF_SEVERAL = "file"  # the column after them in an import of several files; line and offset are then those of the file
PIECE_BYTES = 2**20
LONGEST_NAME = 50  # characters of the source's name; a file name has at most 255 bytes
HEAD = "head"
# The delimiters of copies for spreadsheets by their names. Which one a spreadsheet expects depends on its language.
SPREADSHEET_DELIMITERS = {"comma": ",", "semicolon": ";"}
# As csv.writer writes the files of reasons.
RFC4180_CRLF = Dialect(line_end="\r\n")
LEFT_OUT = Q(rejected_rows__gt=0) | Q(skipped_rows__gt=0)
FIND_THEM = "Find the rows in the source by the counts and reasons on the page of the import."


@dataclass(frozen=True)
class ExplainedRow:
    """One row of the file of reasons: 1-based line and 0-based byte offset in the source, and the reason.

    `file` is the name of the file, of an import of several.
    """

    line: int
    byte_offset: int
    column: str
    value: str
    code: str
    reason: str
    file: str = ""


def make_folder(job: ImportJob) -> Path:
    """Create the job's folder, and keep the source's bytes before the data, with which a reject file begins.

    Raises SourceProblem if the source is gone, Problem if the folder cannot be written to.
    """
    path = folder(job)
    with _writing(path):
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if missing(job, [HEAD]):
        with open_source(location_of_job(job)) as fd:
            head = read_exactly(fd, job.data_offset, 0)
        kept = storage_of(job)
        if isinstance(kept, RejectsInStore):
            # Not by way of a file: another process of this host, which does the same, would remove it.
            kept.store.put_bytes(kept.address(HEAD), head)
        else:
            _replace(path / HEAD, [head])
    return path


def reject_file(job: ImportJob) -> Iterator[bytes]:
    """A file that can be loaded with the job's dialect: the source's BOM and header, then the rejected records.

    Of a file in another format than CSV, it is in the dialect of its working copy: tabs, and backslashes as in MySQL.

    Raises SourceProblem, before the first piece, if no row was rejected or the parts no longer exist.
    """
    return _in_source_form(job, _rejected(job))


def is_own_start(job: ImportJob, start: bytes) -> bool:
    """Whether these first bytes of a file are those of the job's reject file. False if that can no longer be made."""
    try:
        own = b""
        for piece in reject_file(job):
            own += piece
            if len(own) >= len(start):
                break
    except Problem:
        return False
    return own.startswith(start)


def fixed_file(job: ImportJob, records: Iterable[bytes]) -> Iterator[bytes]:
    """A file as reject_file() makes it, of these records of the plain file. Raises SourceProblem without the header."""
    return _in_source_form(job, chain(_pieces(job, _existing(job, [HEAD])), records))


def _in_source_form(job: ImportJob, pieces: Iterator[bytes]) -> Iterator[bytes]:
    dialect = job.file_dialect.of_rejects
    if dialect.skip_footer:
        # The dialect leaves out as many lines at the end.
        pieces = chain(pieces, [f"{STAND_IN}{line_end_of(dialect)}".encode() * dialect.skip_footer])
    return encodings.to_source_encoding(pieces, dialect.encoding)


def defused_file(job: ImportJob, delimiter: str = ",") -> Iterator[bytes]:
    """The rejected records for a look at them in a spreadsheet, which finds no formula in them.

    Not for a new import: the values are changed. Raises as reject_file() does.
    """
    return defused_csv(_rejected(job), job.dialect, delimiter)


def _rejected(job: ImportJob) -> Iterator[bytes]:
    """The source's bytes before its data, and the rejected records, as in the plain file. Raises as reject_file()."""
    parts = _parts(job, "rejects", Q(rejected_rows__gt=0))
    if not parts:
        raise _nothing_rejected(job)
    return _pieces(job, _existing(job, [HEAD, *parts]))


def reasons_file(job: ImportJob) -> Iterator[bytes]:
    """CSV in UTF-8 with the header HEADER, a row for each rejected or skipped one. Raises as reject_file() does."""
    parts = _parts(job, "csv", LEFT_OUT)
    if job.files_json:
        return _with_files(job, parts)
    return chain([_csv_line(HEADER)], _pieces(job, parts))


def spreadsheet_reasons(job: ImportJob, delimiter: str) -> Iterator[bytes]:
    """The file of reasons for a spreadsheet: with this delimiter and a BOM. Raises as reasons_file() does."""
    return defused_csv(reasons_file(job), RFC4180_CRLF, delimiter)


def write_reject_file(job: ImportJob) -> Path | None:
    """Write the reject file into the job's folder, for the command line; None if no row was rejected.

    Raises SourceProblem as reject_file() does, Problem if the folder cannot be written to.
    """
    if not job.rejected_rows:
        return None
    path = folder(job) / file_name(job, "rejects")
    _replace(path, reject_file(job))
    return path


def write_reasons_file(job: ImportJob) -> Path | None:
    """Write the file of reasons into the job's folder, for the command line; None if every row went in.

    Raises as write_reject_file() does.
    """
    if not job.rejected_rows + job.skipped_rows:
        return None
    path = folder(job) / file_name(job, "reasons")
    _replace(path, reasons_file(job))
    return path


def as_source(job: ImportJob, user: User) -> SourceFile:
    """The reject file as an upload of the user. Returns the existing upload while it has not been imported.

    Raises as write_reject_file() does, and DiskFull.
    """
    path = write_reject_file(job)
    if not path:
        raise _nothing_rejected(job)
    source = uploads.begin_upload(path.name, path.stat().st_size, user)
    with path.open("rb") as file:
        parts.append(source, 0, file, source.size)
    uploads.finish(source)
    same = uploads.not_imported(user).filter(
        pk__in=[each.pk for each in uploads.same_content(source)], uploaded_by=user
    )
    if earlier := same.first():
        uploads.remove(source)
        return earlier
    return source


def first_rows(job: ImportJob, most: int) -> list[ExplainedRow]:
    """The first rows of the file of reasons, in the order of the source; reads no more parts than needed."""
    rows: list[ExplainedRow] = []
    for number, of_file in _numbers(job, LEFT_OUT):
        file = file_of(job, of_file)
        try:
            with opened_as_text(job, _part(number, "csv")) as part:
                for line, offset, column, value, code, reason in csv.reader(part):
                    at = int(line), _own_offset(job, file, offset)
                    rows.append(ExplainedRow(*at, column, value, code, reason, file.name if file else ""))
                    if len(rows) == most:
                        return rows
        except FileNotFoundError:
            return rows
    return rows


def file_of(job: ImportJob, number: int) -> JoinedFile | None:
    """The file of this number, of an import of several files; None of an import of one."""
    return job.joined_files[number] if job.files_json else None


def _own_offset(job: ImportJob, file: JoinedFile | None, offset: str) -> int:
    """The offset in the file itself. That of a converted file is recorded as such."""
    return file.own_offset(int(offset)) if file and not job.file_dialect.is_converted else int(offset)


def file_name(job: ImportJob, kind: str) -> str:
    """`orders.csv.gz` -> `orders.rejects.csv`, `orders.defused.csv` or `orders.reasons.csv`."""
    name = PurePath(job.source.name)
    while name.suffix.lower() in archives.ENDINGS:
        name = name.with_suffix("")
    text = name.suffix.lower() in registry.ENDINGS
    suffix = name.suffix if text and kind == "rejects" else ".csv"
    if job.file_dialect.is_converted and kind == "rejects":
        suffix = ".tsv"
    return f"{(name.stem if text else name.name)[:LONGEST_NAME]}.{kind}{suffix}"


def remove_orphans() -> int:
    """Remove the folders on this host of jobs that no longer exist. Returns their number."""
    names = local_keys()
    known = {str(key) for key in ImportJob.objects.filter(key__in=names).values_list("key", flat=True)}
    orphans = [name for name in names if name not in known]
    for name in orphans:
        shutil.rmtree(settings.REJECTS_DIR / name, ignore_errors=True)
    return len(orphans)


def _parts(job: ImportJob, suffix: str, which: Q) -> list[str]:
    """The names of the existing parts. Raises SourceProblem if some were removed."""
    if job.chunks_removed_at and job.rejected_rows + job.skipped_rows:
        raise SourceProblem("The rows that were left out are no longer kept.", str(folder(job)), FIND_THEM)
    return _existing(job, [_part(number, suffix) for number, _ in _numbers(job, which)])


def _nothing_rejected(job: ImportJob) -> SourceProblem:
    return SourceProblem("No row was rejected.", where=str(job))


def _existing(job: ImportJob, parts: list[str]) -> list[str]:
    """The parts, unchanged. Raises SourceProblem if one of them was removed."""
    if gone := missing(job, parts):
        raise SourceProblem(
            f"{len(gone):,} of {len(parts):,} parts of what was left out are no longer there, first {gone[0]}.",
            where=str(folder(job)),
            advice=FIND_THEM,
        )
    return parts


def _part(number: int, suffix: str) -> str:
    return f"{number:08d}.{suffix}"


def _numbers(job: ImportJob, which: Q) -> Iterator[tuple[int, int]]:
    """The number of each loaded chunk, with that of its file."""
    chunks = job.chunks.filter(which, status=Chunk.Status.LOADED).order_by("number")
    return chunks.values_list("number", "file").iterator()


def _pieces(job: ImportJob, names: list[str]) -> Iterator[bytes]:
    for name in names:
        with opened(job, name) as part:
            while piece := part.read(PIECE_BYTES):
                yield piece


def _with_files(job: ImportJob, parts: list[str]) -> Iterator[bytes]:
    """The parts with the name of the file in each row, and the offset in it."""
    yield _csv_line((*HEADER, OF_SEVERAL))
    for name, (_, number) in zip(parts, _numbers(job, LEFT_OUT), strict=True):
        file = file_of(job, number)
        with opened_as_text(job, name) as part:
            for line, offset, *rest in csv.reader(part):
                yield _csv_line(
                    (line, _own_offset(job, file, offset), *rest, escape_formulas(file.name if file else ""))
                )


def _csv_line(values: Iterable[object]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue().encode()


def _replace(path: Path, pieces: Iterator[bytes] | list[bytes]) -> None:
    """Write a file atomically: readers see the old file or the whole new one. On an error, nothing stays behind."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    with _writing(path.parent):
        try:
            with temporary.open("wb") as out:
                for piece in pieces:
                    out.write(piece)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn an error of the disk into a Problem."""
    try:
        yield
    except OSError as error:
        raise Problem(
            f"The rejected rows cannot be written to disk: {error.strerror or error}. {room_in_words(folder)}",
            where=str(folder),
            advice="Make room there, or give REJECTS_DIR a larger disk; then try again.",
        ) from error
