"""Makes sources of listed files: a reference to the remote file, or a copy among the uploads."""

from contextlib import suppress

from django.contrib.auth.models import User

from importer.connections.listed_files import ListedFile, refuse_long_name
from importer.engine.errors import SourceProblem
from importer.models import SourceConnection, SourceFile
from importer.sources.parts import Stream, append
from importer.sources.upload_storage import PIECE_BYTES, is_there
from importer.sources.uploads import SourceInUse, begin_upload, change_size, clean_name, finish, remove

__all__ = ["PIECE_BYTES", "copy_stream", "latest_copy", "register_in_place"]

# Bytes between two updates of the upload's progress in the database.
STEP = 16 * PIECE_BYTES


def register_in_place(
    connection: SourceConnection, file: ListedFile, path: str, size: int, fingerprint: str
) -> SourceFile:
    """A source that is read without a copy. Two calls for one version of a file give one row. `size` is in bytes.

    Raises SourceProblem for a path that is too long to be stored.
    """
    refuse_long_name(path)
    source, _ = SourceFile.objects.get_or_create(
        connection=connection,
        found_name=file.name,
        found_etag=file.etag,
        path=path,
        size=size,
        fingerprint=fingerprint,
        owned=False,
        status=SourceFile.Status.READY,
        defaults={
            "name": clean_name(file.name),
            "received": size,
            "found_modified_at": file.modified_at,
        },
    )
    return source


def copy_stream(
    connection: SourceConnection | None,
    file: ListedFile,
    stream: Stream,
    size: int | None,
    user: User | None,
    name: str = "",
) -> SourceFile:
    """Copy the stream into a new upload. `size` in bytes; None if unknown.

    `connection`: the stored one that lists the file; None for a file that a person has named. `name`: the name of the
    upload; "" for that of the file.

    Raises the errors of the stream, begin_upload(), append() and finish(); the upload is then removed. Raises
    SourceProblem for a name that is too long to be stored.
    """
    refuse_long_name(file.name)
    source = begin_upload(clean_name(name or file.name), STEP if size is None else size, user)
    SourceFile.objects.filter(pk=source.pk).update(
        connection=connection if connection and connection.pk else None,
        found_name=file.name,
        found_etag=file.etag,
        found_modified_at=file.modified_at,
    )
    try:
        _append_all(source, stream, grows=size is None)
        return finish(source)
    except BaseException:
        with suppress(SourceInUse):
            remove(source)
        raise


def _append_all(source: SourceFile, stream: Stream, *, grows: bool) -> None:
    while True:
        wanted = min(STEP, source.size - source.received)
        before = source.received
        if append(source, before, stream, wanted) < before + wanted:
            break
        if source.received == source.size:
            if not grows:
                return
            change_size(source, source.size + STEP)
    if grows and not source.received:
        raise SourceProblem("The file is empty.", source.name, "Look at what writes it.")
    if grows:
        change_size(source, source.received)


def latest_copy(connection: SourceConnection, file: ListedFile, user: User | None) -> SourceFile | None:
    """The user's latest copy of the file that still exists; None without one, and for a connection that is not stored.

    A copy is an upload of the person for whom it was fetched: nobody else sees it.
    """
    if not connection.pk:
        return None
    ready = SourceFile.Status.READY
    copies = connection.files.filter(found_name=file.name, owned=True, status=ready, uploaded_by=user)
    last = copies.order_by("-pk").first()
    return last if last and is_there(last) else None
