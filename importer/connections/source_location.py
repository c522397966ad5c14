"""Says where the bytes of an import are read: the uploaded file, here or in the store, its copy, or a remote file."""

from pathlib import Path

from importer.connections.remote_file import RemoteFile
from importer.engine.source.arriving import ArrivingFile
from importer.engine.source.byte_source import SourceLocation
from importer.engine.source.chunks.joined import JoinedFile, JoinedFiles
from importer.models import ImportJob, SourceFile
from importer.sources.store.stored_file import StoredFile
from importer.sources.upload_storage import STORED


def location_of(source: SourceFile) -> SourceLocation:
    """The local file, as far as it has arrived, or the remote file of the connection that listed it.

    Of several files the first one, which shows how all of them are read.
    """
    source = source.files[0]
    if source.arriving and source.owned:
        return ArrivingFile(source.file, source.size, source.received)
    return _bytes_of(source)


def _bytes_of(source: SourceFile) -> SourceLocation:
    if source.store_etag:
        return StoredFile(source.path, source.store_etag)
    if source.owned or source.connection_id is None:
        return source.file
    return RemoteFile(source.connection_id, source.path, source.found_etag)


def location_of_job(job: ImportJob) -> SourceLocation:
    """The file that the job's chunks are read from: the source, or the job's working copy.

    Of a file that is still being uploaded, the bytes of each chunk are there.
    """
    if job.needs_copy:
        return copy_of(job)
    return location_of_all(job.source, job.joined_files)


def copy_of(job: ImportJob) -> Path | StoredFile:
    """The job's working copy, here or in the store."""
    return StoredFile(job.plain_copy) if job.plain_copy.startswith(STORED) else job.copy_file


def location_of_all(source: SourceFile, files: tuple[JoinedFile, ...]) -> SourceLocation:
    """The bytes of a source that has arrived; of several files, which `files` places, the joined ones."""
    if files:
        return JoinedFiles(files, tuple(map(_bytes_of, source.files)))
    return _bytes_of(source)


def location_of_types(job: ImportJob) -> SourceLocation:
    """The file that a new table's types are read from: as location_of_job(), but with the rows in the file's order."""
    return location_of_job(job) if job.needs_plain_copy or job.files_json else location_of(job.source)
