"""What has changed in an import's file since it was read: looked at once all of its rows are in.

Each chunk was compared with the scan while it was sent, so the table has the rows of the file that was scanned. What
happened to the file behind that, nothing else notices: rows that were appended, or a file that was cut, replaced or
edited after its rows were sent.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from importer.engine.errors import Problem
from importer.models import ImportJob, SourceFile
from importer.sources.in_place import version_of
from importer.sources.upload_storage import fingerprint

if TYPE_CHECKING:
    from importer.connections.listed_files import ListedFile

CONTINUED = " They continue its last record, which had no line end: the last row in the table is incomplete."


@dataclass(frozen=True)
class SourceChange:
    """A change of one file: `kind` is grown, changed, or unknown if its place does not answer; `bytes` were added."""

    file: str
    kind: str
    bytes: int
    what: str
    advice: str


def find_changes(job: ImportJob, keep_alive: Callable[[], object]) -> list[SourceChange]:
    """The changes of the job's files since they were read. `keep_alive` is called while a file is read to compare it.

    A file that is gone has not changed: its writer has moved it away. An upload never changes.
    """
    return [change for each in job.source.files for change in _changes_of(job, each, keep_alive)]


def record_changes(job: ImportJob, changes: list[SourceChange]) -> None:
    """Record the changes with the job. The job ends next, which increases its version."""
    job.source_changes_json = [asdict(each) for each in changes]
    ImportJob.objects.filter(pk=job.pk).update(source_changes_json=job.source_changes_json)


def _changes_of(job: ImportJob, source: SourceFile, keep_alive: Callable[[], object]) -> Iterator[SourceChange]:
    if source.connection is None:
        if not source.owned and source.found_etag:
            yield from _changes_here(job, source, keep_alive)
        return
    from importer.connections import operations  # Here: few imports have a connection.

    try:
        seen = operations.seen(source.connection, source.found_name)
    except Problem as problem:
        what = f"Whether {source.name} has changed since it was read is not known: {problem.what}"
        yield SourceChange(source.name, "unknown", 0, what, "Look at the file at its place.")
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


def _changes_here(job: ImportJob, source: SourceFile, keep_alive: Callable[[], object]) -> Iterator[SourceChange]:
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


def _grown(source: SourceFile, more: int, what: str, continued: bool = False) -> SourceChange:
    advice = (
        f"Import what is behind byte {source.size:,} as a file of its own, with the header. The whole file again would"
        " load its first rows twice, except in the modes replace and upsert."
    )
    return SourceChange(source.name, "grown", more, f"{what}; they are not loaded.{CONTINUED * continued}", advice)


def _changed(source: SourceFile) -> SourceChange:
    what = f"{source.name} was changed or replaced after its rows were read: the table has the rows from before."
    return SourceChange(source.name, "changed", 0, what, "Import the file again if the present ones are wanted.")
