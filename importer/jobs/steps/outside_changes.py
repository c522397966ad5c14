"""What others have changed during an import, which it survives: looked at once all of its rows are in.

Of the file: each chunk was compared with the scan while it was sent, so the table has the rows of the file that was
scanned. Rows that were appended later, or a file that was cut, replaced or edited after its rows were sent, are noticed
here alone. Of the table: rows that other sessions added or deleted (engine/load/verify.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from importer.engine.errors import Problem
from importer.engine.load import verify
from importer.models import ImportJob, SourceFile
from importer.sources.in_place import version_of
from importer.sources.upload_storage import fingerprint

if TYPE_CHECKING:
    from importer.connections.listed_files import ListedFile

CONTINUED = " They continue its last record, which had no line end: the last row in the table is incomplete."


@dataclass(frozen=True)
class OutsideChange:
    """A change of a file or of the table, by name.

    `kind` of a file: grown, changed, or unknown if its place does not answer; of a table: rows or altered. `bytes` were
    appended to the file; the table has `rows` more than it should, or fewer if negative.
    """

    of: str
    name: str
    kind: str
    what: str
    advice: str
    bytes: int = 0
    rows: int = 0


def find_changes(job: ImportJob, keep_alive: Callable[[], object]) -> list[OutsideChange]:
    """The changes of the job's files since they were read, and of its table since the first chunk.

    `keep_alive` is called while a file is read to compare it. A file that is gone has not changed: its writer has moved
    it away. An upload never changes. Raises TargetProblem if the table has lost the import's rows.
    """
    of_files = [change for each in job.source.files for change in _changes_of(job, each, keep_alive)]
    return [*of_files, *_changes_of_table(job)]


def record_changes(job: ImportJob, changes: list[OutsideChange]) -> None:
    """Record the changes with the job. The job ends next, which increases its version."""
    job.outside_changes_json = [asdict(each) for each in changes]
    ImportJob.objects.filter(pk=job.pk).update(outside_changes_json=job.outside_changes_json)


def _changes_of_table(job: ImportJob) -> Iterator[OutsideChange]:
    altered, retried = job.temporary_changes is not None, job.attempts > 1
    change = verify.compare_table(job.target.address, job.plan, str(job.key), altered=altered, retried=retried)
    if change:
        yield OutsideChange("table", job.table_name, change.kind, change.what, change.advice, rows=change.rows)


def _changes_of(job: ImportJob, source: SourceFile, keep_alive: Callable[[], object]) -> Iterator[OutsideChange]:
    if source.connection is None:
        if not source.owned and source.found_etag:
            yield from _changes_here(job, source, keep_alive)
        return
    from importer.connections import operations  # Here: few imports have a connection.

    try:
        seen = operations.seen(source.connection, source.found_name)
    except Problem as problem:
        what = f"Whether {source.name} has changed since it was read is not known: {problem.what}"
        yield OutsideChange("file", source.name, "unknown", what, "Look at the file at its place.")
        return
    if not seen or not _is_other(seen, source):
        return
    if (more := (seen.size or 0) - source.size) > 0:
        yield _grown(source, more, f"{source.name} has {more:,} bytes more at its place than were read")
    else:
        yield _changed(source)


def _is_other(seen: "ListedFile", source: SourceFile) -> bool:
    """Whether the place of a file has another version now. Without an ETag on both sides its size tells."""
    if seen.etag and source.found_etag:
        return seen.etag != source.found_etag
    return seen.size is not None and seen.size != source.size


def _changes_here(job: ImportJob, source: SourceFile, keep_alive: Callable[[], object]) -> Iterator[OutsideChange]:
    """The change of a file of this host. The time of its last status change shows an edit that kept size and time."""
    try:
        now = source.file.stat()
        if version_of(now) == source.found_etag and now.st_ctime < job.created_at.timestamp():
            return
        more = now.st_size - source.size
        if more < 0 or fingerprint(source.file, keep_alive, source.size) != source.fingerprint:
            yield _changed(source)
        elif more:
            continued = _continues_record(job, source)
            yield _grown(source, more, f"{more:,} bytes were appended to {source.name} after the scan", continued)
    except OSError:
        return


def _continues_record(job: ImportJob, source: SourceFile) -> bool:
    """Whether bytes were appended to the last record, which had no line end when it was read."""
    if job.packing or job.file_dialect.is_converted:
        return False
    with source.file.open("rb") as file:
        file.seek(source.size - 1)
        return not set(file.read(2)) & set(b"\r\n")


def _grown(source: SourceFile, more: int, what: str, continued: bool = False) -> OutsideChange:
    advice = (
        f"Import what is behind byte {source.size:,} as a file of its own, with the header. The whole file again would"
        " load its first rows twice, except in the modes replace and upsert."
    )
    what = f"{what}; they are not loaded.{CONTINUED * continued}"
    return OutsideChange("file", source.name, "grown", what, advice, bytes=more)


def _changed(source: SourceFile) -> OutsideChange:
    what = f"{source.name} was changed or replaced after its rows were read: the table has the rows from before."
    return OutsideChange("file", source.name, "changed", what, "Import the file again if the present ones are wanted.")
