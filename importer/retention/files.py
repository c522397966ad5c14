"""Deletes files that are no longer kept: uploaded and fetched ones, and rejected rows.

The row is marked first and the bytes are deleted after it. If the process ends in between, the next run finds a file
whose row is marked, or that has no row.
"""

from datetime import datetime, timedelta
from math import inf
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, ProtectedError, Q, QuerySet

from importer.access import audit
from importer.engine.errors import Problem
from importer.jobs.actions import fixes
from importer.jobs.rejects import storage
from importer.models import ImportJob, SourceFile
from importer.preparation import examination
from importer.retention.needed import (
    FILE_OBSTACLES,
    JOBS_OF_FILE,
    RETRIED,
    any_of,
    can_be_retried,
    file_reasons,
    why_file_stays,
)
from importer.retention.policies import before, in_force
from importer.sources import upload_storage
from importer.sources.store.file_store import UNKNOWN_KEPT, file_store

File = SourceFile.Status
AT_ONCE = 500  # names in one query
TOGETHER = 100  # rows that one transaction deletes
# Rows whose bytes are deleted, also from the store.
DELETED = Q(status=File.REMOVED, store_etag="")
PARTS_KEPT = timedelta(hours=24)  # the parts of a file that a host that has died was putting into the store
_BALANCED = Exists(JOBS_OF_FILE.filter(status=ImportJob.Status.SUCCEEDED, balanced=True))


def remove_files(now: datetime, most: int) -> int:
    """Delete at most `most` files by the policies imported-files and other-files. Returns their number."""
    due = _due(now)
    found = due.order_by("pk").values_list("pk", flat=True)[:most]
    return sum(_remove(pk, due) for pk in list(found))


def _due(now: datetime) -> QuerySet[SourceFile]:
    # Samples of labs are the lab's to delete.
    stored = SourceFile.objects.filter(owned=True, status=File.READY).exclude(path__startswith=str(settings.LAB_DIR))
    old = Q()
    if (cutoff := before("imported-files", now)) is not None:
        old |= Q(_BALANCED) & ~Q(Exists(JOBS_OF_FILE.filter(finished_at__gte=cutoff)))
    if (cutoff := before("other-files", now)) is not None:
        old |= ~Q(_BALANCED) & ~Q(Exists(JOBS_OF_FILE.filter(finished_at__gte=cutoff))) & Q(touched_at__lt=cutoff)
    if not old:
        return stored.none()
    return stored.filter(old).exclude(any_of(file_reasons(now)))


def _remove(pk: int, allowed: QuerySet[SourceFile]) -> bool:
    """Delete a file's bytes, and its row unless imports name it. False: it is needed again, or somebody was faster."""
    source = SourceFile.objects.filter(pk=pk).first()
    # A compare-and-set: the conditions are read again in the statement that marks the row.
    if source is None:
        return False
    if not allowed.filter(pk=pk).update(status=File.REMOVED, **upload_storage.pending_deletion(source)):
        return False
    source.refresh_from_db()
    examination.stop(source)
    upload_storage.delete_bytes_later(source)
    forget_rows([pk])
    return True


def remove_by_hand(source: SourceFile) -> None:
    """Delete a file on request; imports of it stay, and cannot be retried. Raises Problem if something needs it."""
    audit.about(source)
    stored = SourceFile.objects.filter(owned=True).exclude(status=File.REMOVED).exclude(any_of(FILE_OBSTACLES))
    if not _remove(source.pk, stored):
        why = why_file_stays(source) or "it is deleted already"
        raise Problem(f"The file stays: {why}.", source.name, "Look at the imports of the file.")


def forget_old_rows(now: datetime, most: int) -> int:
    """Delete at most `most` rows of deleted files, and of files elsewhere, that no import names any more."""
    elsewhere = Q(owned=False, touched_at__lt=now - timedelta(days=1))
    rows = SourceFile.objects.filter(DELETED | elsewhere).exclude(Exists(JOBS_OF_FILE))
    return forget_rows(list(rows.exclude(any_of(FILE_OBSTACLES)).values_list("pk", flat=True)[:most]))


def forget_rows(keys: list[int]) -> int:
    """Delete these rows of files that no import names any more; those of kept files stay. Returns their number."""
    return sum(_forget_together(keys[first : first + TOGETHER]) for first in range(0, len(keys), TOGETHER))


def _forget_together(keys: list[int]) -> int:
    """In one transaction; in one for each row if a job of one of them was created since."""
    rows = SourceFile.objects.filter(DELETED | Q(owned=False)).exclude(Exists(JOBS_OF_FILE))
    try:
        with transaction.atomic():
            return rows.filter(pk__in=keys).delete()[1].get(SourceFile._meta.label, 0)
    except ProtectedError:
        return sum(_forget_together([pk]) for pk in keys) if len(keys) > 1 else 0


def remove_orphans(_now: datetime, most: int) -> int:
    """Delete at most `most` files of this host and of the store whose row says that they are deleted.

    A process ended in between, or the store was away.
    """
    stored = SourceFile.objects.filter(status=File.REMOVED).exclude(store_etag="").order_by("touched_at")
    for source in stored[:most]:
        upload_storage.delete_bytes_later(source)
    paths = [str(path) for path in settings.UPLOAD_DIR.glob("*-*-*-*-*")]
    orphans: list[str] = []
    for first in range(0, len(paths), AT_ONCE):
        marked = SourceFile.objects.filter(status=File.REMOVED, path__in=paths[first : first + AT_ONCE])
        orphans += marked.values_list("path", flat=True)
    for path in orphans[:most]:
        Path(path).unlink(missing_ok=True)
    return len(orphans[:most])


def remove_parts(now: datetime, _most: int) -> int:
    """Delete the parts of files that were being put into the store when their host died, or that no browser continues.

    Those of an upload under way stay, however long it takes: it is removed after a day without a new part
    (importer/sources/abandoned.py).
    """
    store = file_store()
    if store is None:
        return 0
    under_way = SourceFile.objects.filter(status=File.UPLOADING).exclude(store_upload="")
    return store.abort_older(now - PARTS_KEPT, set(under_way.values_list("store_upload", flat=True)))


def remove_unknown_rejects(now: datetime, most: int) -> int:
    """Delete the store's rejected rows of at most `most` keys that no import has, once all of them are old.

    A retry of an import that stages gives it another key. Such folders of a host go with its sweep.
    """
    store = file_store()
    if store is None:
        return 0
    names, removed = storage.keys_in_store(store), 0
    for first in range(0, len(names), AT_ONCE):
        some = names[first : first + AT_ONCE]
        known = set(map(str, ImportJob.objects.filter(key__in=some).values_list("key", flat=True)))
        for key in (each for each in some if each not in known):
            removed += storage.forget_old(store, key, now - UNKNOWN_KEPT)
            if removed == most:
                return removed
    return removed


def rejects_kept_until(job: ImportJob) -> datetime | None:
    """When the rejected rows of an import may be deleted, or it with them; None: never, or it has not ended."""
    retried = job.status in RETRIED and job.chunks_removed_at is None
    days = max(min(_days("rejects"), _days("jobs")), _days("retry") if retried else 0)
    return job.finished_at + timedelta(days=days) if job.finished_at and days != inf else None


def _days(name: str) -> float:
    days = in_force(name).days
    return inf if days is None else days


def remove_rejects(now: datetime, most: int) -> int:
    """Delete the rejected rows of at most `most` imports. Those of imports that can be retried stay."""
    cutoff = before("rejects", now)
    if cutoff is None:
        return 0
    names = storage.stored_keys()
    old = ImportJob.objects.filter(status__in=ImportJob.ENDED, finished_at__lt=cutoff).exclude(can_be_retried(now))
    removed = 0
    for first in range(0, len(names), AT_ONCE):
        for job in old.filter(key__in=names[first : first + AT_ONCE]).only("key"):
            fixes.forget(job)
            removed += storage.forget(job)
            if removed == most:
                return removed
    return removed
