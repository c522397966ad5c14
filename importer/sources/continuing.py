"""Uploads that their sender has left, and that another one continues, such as a command that is typed again."""

import hashlib
import os
import uuid
from datetime import timedelta

from django.utils import timezone

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


def take_over(source: SourceFile, received: int, digest: bytes) -> None:
    """Let the acting sender alone continue an upload: it gets another key, and its earlier sender finds it no more.

    `received`, `digest`: how many bytes of the sender's own file would be continued, and their SHA-256; that may be all
    of them, if the process has died that was to finish the upload. Raises WrongOffset if another number has arrived or
    the upload is finished, UploadBusy while somebody sends or has just sent a part, SourceInUse if an import follows
    it, ChecksumMismatch if its bytes are others, UploadGone after a removal.
    """
    with locked(source) as descriptor:
        refresh(source)
        if source.received != received or not source.arriving:
            raise WrongOffset(f"{source.received:,} of {source.size:,} bytes have arrived.", source.name)
        if timezone.now() - source.touched_at < LEFT_AFTER:
            raise UploadBusy("A part of this upload has just arrived.", source.name, "Try again in a moment.")
        if imports_of(source).exists():
            raise SourceInUse("An import reads this upload while it arrives.", source.name, "Begin another upload.")
        if _digest_of(descriptor, received) != digest:
            raise ChecksumMismatch(
                f"The first {received:,} bytes have arrived with another SHA-256.", source.name, "Begin another upload."
            )
        _give_another_key(source)


def _digest_of(descriptor: int, length: int) -> bytes:
    digest, offset = hashlib.sha256(), 0
    while offset < length and (piece := os.pread(descriptor, min(PIECE_BYTES, length - offset), offset)):
        digest.update(piece)
        offset += len(piece)
    return digest.digest()


def _give_another_key(source: SourceFile) -> None:
    key = uuid.uuid4()
    same = SourceFile.objects.filter(pk=source.pk, key=source.key, status=SourceFile.Status.UPLOADING)
    if not same.update(key=key, touched_at=timezone.now()):
        raise UploadGone("The upload was removed.", source.name, "Upload the file again.")
    source.key = key
