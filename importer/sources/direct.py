"""Uploads that a browser puts straight into the store, in parts; this host signs the URL of each, and joins them.

For the store to refuse bytes that were changed on their way, each URL is signed for the part's size and SHA-256; when
they are joined, it compares them with those of the whole file once more. Which parts are there only the store knows, so
an upload can be continued by any web host. Until all are there, nothing counts as received.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from django.contrib.auth.models import User
from django.utils import timezone

from importer.access import limits
from importer.engine.errors import SourceProblem
from importer.models import SourceFile
from importer.sources import quotas
from importer.sources.store.file_store import FileStore, file_store, require_store
from importer.sources.store.multipart import part_bytes
from importer.sources.store.presigned_upload import CHECKSUM, PartsDiffer, PresignedUpload, UploadEnded
from importer.sources.upload_storage import address_of_upload
from importer.sources.uploads import UploadComplete, UploadGone, announced, finish, give_up, refresh


class NotOffered(SourceProblem):
    """No browser reaches the store of this installation."""


class PartsMissing(SourceProblem):
    """Parts of the upload are not in the store."""


@dataclass(frozen=True)
class SignedPart:
    """How to send a part: the URL for a PUT, and the headers that it must have."""

    url: str
    headers: dict[str, str]


def is_offered() -> bool:
    """Whether browsers reach the store."""
    store = file_store()
    return bool(store and store.browser_url)


def begin(name: str, size: int, user: User | None) -> SourceFile:
    """Begin the upload of a file of `size` bytes.

    Raises NotOffered, StoreAway, SourceProblem for a size of 0, TooLarge over UPLOAD_MAX_BYTES, QuotaExceeded if the
    user keeps too much, TooManyAtOnce if the user has as many uploads under way as allowed.
    """
    store = _offering_store()
    shown, key = announced(name, size), uuid4()
    address = address_of_upload(store, key)
    with limits.one_more(limits.UNDER_WAY, user), quotas.counted(user, shown, 1, size):
        upload = store.presigned_upload(address).create()
        return SourceFile.objects.create(
            key=key, name=shown, path=address, size=size, store_upload=upload.id, uploaded_by=user
        )


def size_of_part(source: SourceFile, number: int) -> int:
    """The bytes of part `number`, from 1; 0 for one that the file does not have."""
    most = part_bytes(source.size)
    return max(0, min(most, source.size - (number - 1) * most)) if number > 0 else 0


def stored_parts(source: SourceFile) -> list[int]:
    """The numbers of the parts that are in the store with the bytes they must have, in order; all of a whole file.

    Raises UploadGone, StoreAway.
    """
    upload = _arriving(source)
    if upload is None:
        return _numbers(source)
    try:
        found = upload.parts()
    except UploadEnded as ended:
        if require_store(source.path).has(source.path):
            return _numbers(source)
        give_up(source)  # Somebody has removed the parts.
        raise UploadGone("The parts are no longer in the store.", source.name, "Upload the file again.") from ended
    return sorted(number for number, part in found.items() if part.size == size_of_part(source, number))


def sign(source: SourceFile, number: int, checksum: str) -> SignedPart:
    """How to send part `number` with this SHA-256 in Base64.

    Raises SourceProblem for a part that the file does not have, UploadComplete, UploadGone, NotOffered.
    """
    _offering_store()
    upload = _arriving(source)
    if upload is None:
        raise UploadComplete("All of the file has arrived.", source.name)
    size = size_of_part(source, number)
    if not size:
        raise SourceProblem(f"The file has no part {number}.", source.name, f"Send the parts 1 to {_count(source)}.")
    SourceFile.objects.filter(pk=source.pk).update(touched_at=timezone.now())
    return SignedPart(upload.signed_url(number, size, checksum), {CHECKSUM: checksum})


def complete(source: SourceFile, checksums: Sequence[str]) -> SourceFile:
    """Join the parts, check the whole, and make it READY. Does nothing if that was done before.

    `checksums`: the SHA-256 of each part in Base64, in order; the store compares them with those of the parts. Raises
    PartsMissing, PartsDiffer, NoCSV (which removes the upload), UploadGone, StoreAway.
    """
    upload = _arriving(source)
    if upload is None:
        return source
    if len(checksums) != _count(source):
        raise SourceProblem(f"The file has {_count(source):,} parts.", source.name, "Send the SHA-256 of each.")
    if missing := sorted(set(_numbers(source)) - set(stored_parts(source))):
        raise PartsMissing(
            f"{len(missing):,} of {_count(source):,} parts are not in the store; the first is part {missing[0]:,}.",
            source.name,
            "Send them, then complete the upload.",
        )
    try:
        upload.join(checksums)
    except UploadEnded:  # They were joined by a request whose answer was lost.
        pass
    except PartsDiffer as problem:
        problem.where, problem.advice = source.name, "Remove the upload, and upload the file again."
        raise
    # From now on any host can finish it, if this one dies.
    under_way = SourceFile.objects.filter(pk=source.pk, status=SourceFile.Status.UPLOADING)
    under_way.update(received=source.size, touched_at=timezone.now())
    return finish(source)


def _numbers(source: SourceFile) -> list[int]:
    return list(range(1, _count(source) + 1))


def _count(source: SourceFile) -> int:
    return -(-source.size // part_bytes(source.size))


def _arriving(source: SourceFile) -> PresignedUpload | None:
    """The upload's parts in the store; None if it is complete. Raises UploadGone."""
    refresh(source)
    if not source.arriving:
        return None
    return require_store(source.path).presigned_upload(source.path, source.store_upload)


def _offering_store() -> FileStore:
    store = file_store()
    if store and store.browser_url:
        return store
    raise NotOffered(
        "Files are uploaded by this server here, not straight into a store.",
        advice="Send the parts to POST /api/v1/uploads (tus 1.0), or set FILE_STORE_BROWSER_URL.",
    )
