"""Uploads that their sender has left, and that another one continues, such as a command that is typed again.

What has arrived is compared with the sender's own file. Much of it is read by a thread of its own: a proxy would give
the request up before, and the request would keep one of the few threads that answer. The digest is kept next to the
upload's file, until that is continued, or until the files go that no upload needs (abandoned.py).
"""

import fcntl
import hashlib
import os
import threading
import uuid
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from importer.engine.units import MIB
from importer.models import SourceFile
from importer.sources.parts import ChecksumMismatch
from importer.sources.upload_storage import PIECE_BYTES
from importer.sources.uploads import (
    SourceInUse,
    UploadBusy,
    UploadGone,
    WrongOffset,
    imports_of,
    locked,
    refresh,
)

# A sender begins the next part sooner, unless its connection is broken.
LEFT_AFTER = timedelta(seconds=5)
READ_AT_ONCE = 64 * MIB  # the most that a request reads itself
LONGEST_NOTE = 128  # bytes

_reading = threading.Lock()  # Each process reads the beginning of one upload at a time.


class BeingCompared(UploadBusy):
    """What has arrived is read, to be compared: the same request gets its answer later."""

    seconds = 2  # after which the sender asks again


def take_over(source: SourceFile, received: int, digest: bytes) -> None:
    """Let the acting sender alone continue an upload: it gets another key, and its earlier sender finds it no more.

    `received`, `digest`: how many bytes of the sender's own file would be continued, and their SHA-256; that may be all
    of them, if the process has died that was to finish the upload. Raises WrongOffset if another number has arrived or
    the upload is finished, UploadBusy while somebody sends or has just sent a part, BeingCompared until many bytes are
    read, SourceInUse if an import follows it, ChecksumMismatch if its bytes are others, UploadGone after a removal.
    """
    with locked(source):
        refresh(source)
        if source.received != received or not source.arriving:
            raise WrongOffset(f"{source.received:,} of {source.size:,} bytes have arrived.", source.name)
        if timezone.now() - source.touched_at < LEFT_AFTER:
            raise UploadBusy("A part of this upload has just arrived.", source.name, "Try again in a moment.")
        if imports_of(source).exists():
            raise SourceInUse("An import reads this upload while it arrives.", source.name, "Begin another upload.")
        if _digest_of_beginning(source, received) != digest:
            raise ChecksumMismatch(
                f"The first {received:,} bytes have arrived with another SHA-256.", source.name, "Begin another upload."
            )
        _give_another_key(source)
        _note_of(source).unlink(missing_ok=True)


def _give_another_key(source: SourceFile) -> None:
    key = uuid.uuid4()
    same = SourceFile.objects.filter(pk=source.pk, key=source.key, status=SourceFile.Status.UPLOADING)
    if not same.update(key=key, touched_at=timezone.now()):
        raise UploadGone("The upload was removed.", source.name, "Upload the file again.")
    source.key = key


def _digest_of_beginning(source: SourceFile, length: int) -> bytes:
    """The SHA-256 of the first `length` bytes of an upload. Raises BeingCompared while a thread reads many bytes."""
    if length <= READ_AT_ONCE:
        return _digest(source.file, length)
    note = os.open(_note_of(source), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
        known = os.pread(note, LONGEST_NOTE, 0).split()
        if known[:1] == [b"%d" % length]:
            return bytes.fromhex(known[1].decode())
        if _reading.acquire(blocking=False):
            threading.Thread(target=_read, args=(os.dup(note), source.file, length), daemon=True).start()
    except BlockingIOError:  # A thread reads it, perhaps of another process.
        pass
    finally:
        os.close(note)  # The thread has a descriptor of its own, and with it the lock.
    raise BeingCompared(f"The first {length:,} bytes are being compared.", source.name, "Send the same request again.")


def _note_of(source: SourceFile) -> Path:
    return Path(f"{source.path}.sha256")


def _read(note: int, path: Path, length: int) -> None:
    """Write the digest of a beginning into its note, and unlock that."""
    try:
        with suppress(FileNotFoundError):  # The upload was removed.
            digest = _digest(path, length)
            os.ftruncate(note, 0)
            os.pwrite(note, b"%d %s" % (length, digest.hex().encode()), 0)
    finally:
        os.close(note)
        _reading.release()


def _digest(path: Path, length: int) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while length and (piece := file.read(min(PIECE_BYTES, length))):
            digest.update(piece)
            length -= len(piece)
    return digest.digest()
