"""Where the bytes of an upload are kept: in UPLOAD_DIR, or, with a store, there as soon as all of them have arrived.

While it arrives an upload is a file of this host, or parts in the store (direct.py). After it, its row names the object
in the store, and the file goes. Each step may be repeated: the object has the name of the upload's key, and the file
stays until the row is written.
"""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import xxhash
from django.conf import settings
from django.utils import timezone

from importer.engine.errors import NoConnection, Problem, SourceProblem
from importer.engine.source.file_signature import refuse_other_kinds
from importer.models import SourceFile
from importer.sources.store.file_store import FileStore, file_store, require_store

log = logging.getLogger(__name__)

PIECE_BYTES = 2**20  # bytes per read or hash update
OFTEN = 64 * PIECE_BYTES
UPLOADS = "uploads"  # the store's folder for them
STORED = "s3://"  # how the place of a file in a store begins
MAYBE = "?"  # in place of the ETag of a file that may be in the store


def keep(source: SourceFile) -> dict[str, str]:
    """Put an upload that has arrived where it is kept. Returns what its row is to say: its fingerprint and place.

    Raises StoreAway, and other Problems of the store; then the file is where it was.
    """
    store = file_store()
    if store is None:
        return {"fingerprint": fingerprint(source.file)}
    digest = xxhash.xxh3_128()
    try:
        stored = store.put(address_of_upload(store, source.key), source.file, digest.update)
    except NoConnection as problem:
        problem.where = source.name  # Not where the store is: its owner sees the problem.
        raise
    return {"fingerprint": digest.hexdigest(), "path": stored.address, "store_etag": stored.etag}


def keep_joined(source: SourceFile) -> dict[str, str]:
    """Read a file that was joined of parts in the store (direct.py). Returns what its row is to say.

    May be repeated. Raises NoCSV for another kind of file, SourceProblem for another size than was announced, StoreAway
    if the store does not answer.
    """
    store = require_store(source.path)
    whole = store.latest(source.path)
    if whole.size != source.size:
        raise SourceProblem(
            f"{source.size:,} bytes were announced, and the store has {whole.size:,}.",
            source.name,
            "Remove the upload, and upload the file again.",
        )
    digest, offset = xxhash.xxh3_128(), 0
    with store.opened(source.path, whole.etag) as opened:
        while piece := opened.read(offset, PIECE_BYTES):
            if not offset:
                refuse_other_kinds(piece)
            digest.update(piece)
            offset += len(piece)
    return {"fingerprint": digest.hexdigest(), "store_etag": whole.etag, "store_upload": ""}


def fingerprint(path: Path, on_bytes: Callable[[], object] = lambda: None, most: int | None = None) -> str:
    """The xxh3-128 of a whole file, or of its first `most` bytes, in hexadecimal. Reads pieces of PIECE_BYTES.

    `on_bytes` is called after each OFTEN bytes.
    """
    digest, read, left = xxhash.xxh3_128(), 0, sys.maxsize if most is None else most
    with path.open("rb", buffering=0) as file:
        while piece := file.read(min(PIECE_BYTES, left)):
            digest.update(piece)
            read += len(piece)
            left -= len(piece)
            if read >= OFTEN:
                on_bytes()
                read = 0
    return digest.hexdigest()


def is_there(source: SourceFile) -> bool:
    """Whether the file can still be read, as far as this host knows: nobody asks the store or a connection."""
    if source.status != SourceFile.Status.READY:
        return False
    return bool(source.store_etag) or (not source.owned and source.connection_id is not None) or source.file.exists()


def pending_deletion(source: SourceFile) -> dict[str, str]:
    """What the row of a file that is marked as deleted is to say until its bytes in the store are deleted.

    They may be there already, although the row does not say so yet.
    """
    if source.store_etag or not source.owned or not source.arriving:
        return {}
    if source.store_upload:
        return {"store_etag": MAYBE}
    if source.received == source.size and (store := file_store()):
        return {"store_etag": MAYBE, "path": address_of_upload(store, source.key)}
    return {}


def delete_stored(source: SourceFile) -> None:
    """Delete the file in the store, if it is there. Raises Problem, such as StoreAway, if it cannot be deleted."""
    values = {"path": source.path, "store_etag": source.store_etag, **pending_deletion(source)}
    if not values["store_etag"]:
        return
    store = require_store(values["path"])
    if source.store_upload:
        store.presigned_upload(source.path, source.store_upload).abort()
    store.delete(values["path"])
    SourceFile.objects.filter(pk=source.pk).update(store_etag="")


def delete_local(source: SourceFile) -> None:
    """Delete the file of this host: where it is kept, or where it arrived."""
    path = settings.UPLOAD_DIR / str(source.key) if source.path.startswith(STORED) else source.file
    path.unlink(missing_ok=True)


def delete_bytes_later(source: SourceFile) -> None:
    """Delete the bytes of a file whose row is marked. A later run of the deletion does it if the store does not."""
    delete_local(source)
    try:
        delete_stored(source)
    except Problem as problem:
        log.warning("%s stays for now: %s", source.path, problem)
        SourceFile.objects.filter(pk=source.pk).update(touched_at=timezone.now())  # Others first.


def waits_for_whole_files() -> bool:
    """Whether nothing is read of an upload before all of it is there: only one host has it while it arrives."""
    return file_store() is not None


def address_of_upload(store: FileStore, key: UUID) -> str:
    """The address of the upload with this key."""
    return store.address_of(UPLOADS, str(key))
