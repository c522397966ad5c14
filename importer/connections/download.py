"""The sources that come of what is found: read where they are, or fetched into the folder of the uploads."""

from contextlib import suppress

from django.contrib.auth.models import User

from importer.connections.listing import ListedFile
from importer.models import SourceConnection, SourceFile
from importer.sources.uploads import (
    PIECE_BYTES,
    SourceInUse,
    Stream,
    announce,
    append,
    begin_upload,
    clean_name,
    finish,
    remove,
)

__all__ = ["PIECE_BYTES", "copy_stream", "latest_copy", "register_in_place"]

# Written down at once: with each of them, the row says how far it is.
STEP = 16 * PIECE_BYTES


def register_in_place(
    connection: SourceConnection, found: ListedFile, path: str, size: int, fingerprint: str
) -> SourceFile:
    """A source that stays where it is; the same version of a file gives the same row. `size` is in bytes."""
    source, _ = SourceFile.objects.get_or_create(
        connection=connection,
        found_name=found.name,
        found_etag=found.etag,
        path=path,
        size=size,
        fingerprint=fingerprint,
        owned=False,
        status=SourceFile.Status.READY,
        defaults={
            "name": clean_name(found.name),
            "received": size,
            "found_modified_at": found.modified_at,
        },
    )
    return source


def copy_stream(
    connection: SourceConnection, found: ListedFile, stream: Stream, size: int | None, user: User | None
) -> SourceFile:
    """A copy of what the stream gives, kept as an upload. `size` in bytes, if it is known.

    Raises what the stream raises, and as begin_upload(), append() and finish() do; then nothing is kept.
    """
    source = begin_upload(clean_name(found.name.partition("?")[0]), STEP if size is None else size, user)
    SourceFile.objects.filter(pk=source.pk).update(
        connection=connection,
        found_name=found.name,
        found_etag=found.etag,
        found_modified_at=found.modified_at,
    )
    try:
        _take(source, stream, grows=size is None)
        return finish(source)
    except BaseException:
        with suppress(SourceInUse):
            remove(source)
        raise


def _take(source: SourceFile, stream: Stream, *, grows: bool) -> None:
    while True:
        wanted = min(STEP, source.size - source.received)
        before = source.received
        if append(source, before, stream, wanted) < before + wanted:
            break
        if source.received == source.size:
            if not grows:
                return
            announce(source, source.size + STEP)
    if grows:
        announce(source, source.received)


def latest_copy(connection: SourceConnection, found: ListedFile) -> SourceFile | None:
    """The last copy of the file that is still here."""
    copies = connection.files.filter(found_name=found.name, owned=True, status=SourceFile.Status.READY)
    last = copies.order_by("-pk").first()
    return last if last and last.file.exists() else None
