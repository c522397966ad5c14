"""Sources: uploads, which arrive in UPLOAD_DIR (upload_storage.py), and files on the server, which stay in place."""

import fcntl
import os
import unicodedata
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from importer import queue
from importer.access import limits, policy
from importer.engine.errors import DiskFull, NoConnection, Problem, SourceProblem, full_disk_as
from importer.engine.source.file_signature import NoCSV
from importer.models import Examination, ImportJob, SourceFile, SourceMember
from importer.queue import Message
from importer.sources import in_place, quotas, upload_storage
from importer.sources.reservations import require_room
from importer.sources.room import in_words
from importer.sources.upload_storage import fingerprint

ABANDONED_AFTER = timedelta(hours=24)
UNBEGUN_AFTER = timedelta(minutes=10)  # an announcement without a byte is removed after this time
UNNAMED = "unnamed"
JOINERS = "\u200c\u200d"  # invisible characters that belong to words and emoji
LONGEST_PATH = 1024  # characters of the path of a file that stays where it is


class TooLarge(SourceProblem):
    """More bytes came than are allowed, or than were announced."""


class WrongOffset(SourceProblem):
    """The bytes do not continue where the last ones ended."""


class UploadComplete(WrongOffset):
    """All of the upload has arrived, and it is kept elsewhere by now."""


class UploadBusy(SourceProblem):
    """Another request writes to or finishes this upload."""


class UploadGone(SourceProblem):
    """The upload has been removed."""


class SourceInUse(SourceProblem):
    """An import reads the file, or has read it."""


def clean_name(name: str) -> str:
    """A file name for display: the last path part, without control and direction characters, at most 255 characters.

    It is never used as a path.
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    hidden = ("Cc", "Cf", "Cs", "Zl", "Zp")
    shown = "".join(each for each in last if each in JOINERS or unicodedata.category(each) not in hidden).strip()
    return shown[:255] if shown.strip(f".{JOINERS}") else UNNAMED


def with_file_name(problem: Problem, source: SourceFile) -> Problem:
    """The problem with an upload's path on disk replaced by the name that its owner knows."""
    for each in source.files:
        if not each.owned:
            continue
        if isinstance(problem, SourceProblem) and not each.store_etag and not each.file.exists():
            return SourceProblem("The uploaded file is no longer on this server.", each.name, "Upload it again.")
        for internal in (each.path, each.file.name):
            problem.where = problem.where.replace(internal, each.name)
            problem.what = problem.what.replace(internal, each.name)
    if isinstance(problem, SourceProblem):
        problem.where = problem.where or source.name
    return problem


def begin_upload(name: str, size: int, user: User | None) -> SourceFile:
    """Create an empty file and its row, ready for its parts (parts.py). Sizes are bytes.

    Raises SourceProblem for a size of 0, TooLarge over UPLOAD_MAX_BYTES, DiskFull if the disk has no room for it,
    QuotaExceeded if the user keeps too much, TooManyAtOnce if the user has as many uploads under way as allowed.
    """
    shown = announced(name, size)
    settings.UPLOAD_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = uuid.uuid4()
    path = settings.UPLOAD_DIR / str(key)
    with limits.one_more(limits.UNDER_WAY, user), quotas.counted(user, shown, 1, size):
        require_room(shown, size)
        with full_disk_as(lambda: disk_full(shown)):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return SourceFile.objects.create(key=key, name=shown, path=str(path), size=size, uploaded_by=user)


def announced(name: str, size: int) -> str:
    """The name to show of a file that is announced. Raises SourceProblem for a size of 0, TooLarge for a larger one."""
    shown = clean_name(name)
    if size <= 0:
        raise SourceProblem("The file is empty.", where=shown, advice="Choose a file with at least a header and a row.")
    if size > settings.UPLOAD_MAX_BYTES:
        raise _too_large(shown, f"{size:,}")
    return shown


def _too_large(name: str, size: str) -> TooLarge:
    return TooLarge(
        f"The file has {size} bytes; at most {settings.UPLOAD_MAX_BYTES:,} may be uploaded.",
        where=name,
        advice="Raise UPLOAD_MAX_BYTES, or import it on the server: millrace load.",
    )


def change_size(source: SourceFile, size: int) -> None:
    """Change the announced size of an upload whose size was unknown at first. Raises as begin_upload() does."""
    if size > settings.UPLOAD_MAX_BYTES:
        raise _too_large(source.name, f"more than {source.received:,}")
    with quotas.counted(source.uploaded_by, source.name, 0, size - source.size):
        require_room(source.name, size - source.size, source)
        SourceFile.objects.filter(pk=source.pk).update(size=size)
    source.size = size


def finish(source: SourceFile) -> SourceFile:
    """Make a completely received upload READY: synced to disk, checked for size, and stored (upload_storage.py).

    Does nothing if it is READY already. Raises SourceProblem if bytes are missing, UploadBusy while another request
    writes to or finishes it, StoreAway if the store does not answer.
    """
    if source.store_upload:
        return _finish_joined(source)
    try:
        with locked(source) as descriptor:
            refresh(source)
            if source.status == SourceFile.Status.READY:
                return source
            on_disk = os.fstat(descriptor).st_size
            if source.received != source.size or on_disk != source.size:
                raise SourceProblem(
                    f"{source.size:,} bytes were announced, {min(source.received, on_disk):,} are there.",
                    where=source.name,
                    advice="Continue the upload, or remove it and upload the file again.",
                )
            with full_disk_as(lambda: disk_full(source.name)):
                os.fsync(descriptor)
            arrived, kept = source.file, upload_storage.keep(source)
            if not _change(source, **kept, status=SourceFile.Status.READY):
                place = {name: value for name, value in kept.items() if name != "fingerprint"}
                SourceFile.objects.filter(pk=source.pk, status=SourceFile.Status.REMOVED).update(**place)
                upload_storage.delete_stored(source)
                raise _gone(source)
            source.refresh_from_db()
            if source.store_etag:
                arrived.unlink(missing_ok=True)
    except UploadComplete:
        return source
    wake_followers(source)
    return source


def _finish_joined(source: SourceFile) -> SourceFile:
    """Make an upload READY whose parts are joined in the store (direct.py). Two hosts may do so at the same time.

    Raises NoCSV for another kind of file, and removes the upload.
    """
    refresh(source)
    if source.status == SourceFile.Status.READY:
        return source
    try:
        kept = upload_storage.keep_joined(source)
    except NoCSV as problem:
        problem.where = source.name
        give_up(source)
        raise
    except NoConnection as problem:
        problem.where = source.name  # Not where the store is: its owner sees the problem.
        raise
    if _change(source, **kept, status=SourceFile.Status.READY):
        source.refresh_from_db()
        wake_followers(source)
    else:
        refresh(source)
    return source


def wake_followers(source: SourceFile) -> None:
    """Tell the imports that follow the upload, and its examination, that more has arrived, or that no more will."""
    following = source.jobs.exclude(status__in=ImportJob.ENDED).filter(scan_finished=False)
    queue.send([Message("advance", pk) for pk in following.values_list("pk", flat=True)])
    if Examination.objects.filter(source=source, done=False).exists():
        queue.send([Message("examine", source.pk)])


def same_content(source: SourceFile) -> list[SourceFile]:
    """Other sources with the same content, newest first, with their jobs prefetched."""
    if not source.fingerprint:
        return []
    same = SourceFile.objects.filter(
        fingerprint=source.fingerprint, size=source.size, status=SourceFile.Status.READY
    ).exclude(pk=source.pk)
    return list(same.order_by("-pk").prefetch_related("jobs"))


def uploads_of(user: User | AnonymousUser) -> models.QuerySet[SourceFile]:
    """The uploads that the user may see and change: their own; all for staff. Deleted ones are not among them."""
    uploads = SourceFile.objects.filter(owned=True).exclude(status=SourceFile.Status.REMOVED)
    return uploads if user.is_staff else uploads.filter(uploaded_by_id=user.pk)


def importable_by(user: User | AnonymousUser) -> models.QuerySet[SourceFile]:
    """The sources that the user may read and import: their uploads, files of connections, and several of them as one.

    For staff also imported files of this server.
    """
    known = SourceFile.objects.exclude(status=SourceFile.Status.REMOVED)
    if not user.is_staff:
        return policy.visible(user, known)
    imported = models.Exists(ImportJob.objects.filter(source=models.OuterRef("pk"), trial=None))
    there = models.Q(connection__isnull=False) | models.Q(file_count__gt=1)
    return known.filter(models.Q(owned=True) | imported | there)


def not_imported(user: User | AnonymousUser) -> models.QuerySet[SourceFile]:
    """The user's uploads (all uploads for staff) that have no job yet, newest first."""
    with_others = models.Exists(ImportJob.objects.filter(source__members__file=models.OuterRef("pk")))
    return uploads_of(user).filter(jobs=None).exclude(with_others).order_by("-pk")


def save_choices(source: SourceFile, choices: dict[str, str]) -> None:
    """Store the choices made on the source's page, so that the page shows them again."""
    SourceFile.objects.filter(pk=source.pk).update(choices=choices)


def remove(source: SourceFile) -> None:
    """Delete a source, and its file if it is an upload. Raises SourceInUse if it has jobs.

    The removal of an upload that is still arriving ends the jobs that follow it.
    """
    if source.arriving:
        give_up(source)
        return
    if jobs := imports_of(source).count():
        raise _in_use(source, jobs)
    # Sources of several files that nobody has imported.
    SourceFile.objects.filter(members__file=source).delete()
    try:
        discard(source)
    except IntegrityError as error:  # A job was created since the count; ProtectedError is an IntegrityError.
        raise _in_use(source, imports_of(source).count()) from error


def imports_of(*sources: SourceFile) -> models.QuerySet[ImportJob]:
    """The imports that read one of the files, by itself or with others, the oldest first."""
    # Two queries: with a subquery in an OR the index on sources would not be used.
    keys = [each.pk for each in sources]
    wholes = SourceMember.objects.filter(file__in=keys).values_list("whole", flat=True)
    return ImportJob.objects.filter(source__in=[*keys, *wholes]).order_by("pk")


def last_imports(files: Iterable[SourceFile], jobs: models.QuerySet[ImportJob]) -> dict[int, ImportJob]:
    """By the keys of the files, the newest of the imports that read each of them, by itself or with others."""
    last: dict[int, int] = {}
    for file in ("source", "source__members__file"):
        found = jobs.order_by().filter(**{f"{file}__in": files}).values_list(file).annotate(models.Max("pk"))
        last |= {key: max(job, last.get(key, 0)) for key, job in found}
    imports = jobs.in_bulk(list(last.values()))
    return {key: imports[job] for key, job in last.items()}


def _in_use(source: SourceFile, jobs: int) -> SourceInUse:
    what = f"{jobs} import{'s' if jobs > 1 else ''} of this file would lose what they read."
    return SourceInUse(what, source.name, "It stays, so that they can be retried and checked.")


def discard(source: SourceFile) -> None:
    """Delete a source without jobs, and its file if it is an upload. Raises StoreAway, and then all is as it was."""
    # The row first: if it cannot be deleted, the file must stay. A file without a row is removed by a later sweep.
    with transaction.atomic():
        SourceFile.objects.filter(pk=source.pk).delete()
        upload_storage.delete_stored(source)
    if source.owned:
        upload_storage.delete_local(source)


def give_up(source: SourceFile) -> None:
    """End an upload that will not be completed. Imports that follow it keep its row, and fail."""
    try:
        discard(source)
    except IntegrityError:
        if _change(source, status=SourceFile.Status.REMOVED, **upload_storage.pending_deletion(source)):
            source.refresh_from_db()
            upload_storage.delete_bytes_later(source)
            Examination.objects.filter(source=source).delete()
            wake_followers(source)


def _change(source: SourceFile, **values: Any) -> bool:
    """Change an upload that is still arriving. False: it is complete or removed."""
    arriving = SourceFile.objects.filter(pk=source.pk, status=SourceFile.Status.UPLOADING)
    return bool(arriving.update(**values, touched_at=timezone.now()))


def register(path: Path, server_path: str = "") -> SourceFile:
    """A source for a file on this server, which stays in place and is never deleted.

    The same unchanged file gives the same row. `server_path`: its path on the database's host, if it was named by that.
    Raises SourceProblem if it is no readable regular file, or if its path is too long to be stored.
    """
    path = path.absolute()
    if max(len(str(path)), len(server_path)) > LONGEST_PATH:
        what = f"The path of the file has more than {LONGEST_PATH:,} characters."
        raise SourceProblem(what, f"{path.name[:80]}", "Move it to a shorter path.")
    status = in_place.status_of(path)
    size, found = status.st_size, in_place.version_of(status)
    digest = fingerprint(path)
    same = SourceFile.objects.filter(path=str(path), server_path=server_path, owned=False)
    known = same.filter(size=size, fingerprint=digest).first()
    if known:
        if known.connection_id is None:  # A connection recognises its files by an identity of its own.
            known.found_etag = found
        known.save(update_fields=["touched_at", "found_etag"])  # A row that was used just now is not deleted.
        return known
    return SourceFile.objects.create(
        name=clean_name(path.name),
        path=str(path),
        server_path=server_path,
        size=size,
        received=size,
        status=SourceFile.Status.READY,
        fingerprint=digest,
        found_etag=found,
        owned=False,
    )


def expires_at(source: SourceFile) -> datetime | None:
    """When an upload is removed unless more of it arrives; None for one that is complete."""
    if not source.arriving or source.received == source.size:
        return None
    return source.touched_at + (ABANDONED_AFTER if source.received else UNBEGUN_AFTER)


def refresh(source: SourceFile) -> None:
    """Read the row again. Raises UploadGone without one, or if its bytes were deleted."""
    try:
        source.refresh_from_db()
    except SourceFile.DoesNotExist as error:
        raise _gone(source) from error
    if source.status == SourceFile.Status.REMOVED:
        raise _gone(source)


def _gone(source: SourceFile) -> UploadGone:
    return UploadGone("The upload was removed.", source.name, "Upload the file again.")


@contextmanager
def locked(source: SourceFile) -> Iterator[int]:
    """The upload's file, open and locked: two requests on one upload would overwrite each other's bytes.

    Raises UploadGone without a file, UploadComplete if it is kept in the store by now, UploadBusy while another request
    has it.
    """
    try:
        descriptor = os.open(source.path, os.O_RDWR)
    except FileNotFoundError as error:
        refresh(source)
        if source.store_etag:
            raise UploadComplete("All of the file has arrived.", source.name) from error
        raise _gone(source) from error
    try:
        _lock(descriptor, source.name)
        yield descriptor
    finally:
        os.close(descriptor)  # Releases the lock.


def _lock(descriptor: int, name: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UploadBusy("Another request is writing to this upload.", name, "Try again in a moment.") from error


def disk_full(name: str) -> DiskFull:
    """The problem of an upload that is removed because the disk is full."""
    return DiskFull(
        f"The disk for uploads is full. {in_words(settings.UPLOAD_DIR)} What had arrived of the file was removed.",
        where=name,
        advice="Remove uploads that are no longer needed, or give UPLOAD_DIR a larger disk; then upload it again.",
    )
