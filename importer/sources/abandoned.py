"""Uploads that nobody continues, and files of this host that no upload needs: removed, or finished if all is there."""

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from config.environment import private_folder
from importer.engine.errors import Problem, SourceProblem
from importer.models import SourceFile
from importer.sources.upload_storage import waits_for_whole_files
from importer.sources.uploads import ABANDONED_AFTER, UNBEGUN_AFTER, discard, finish, give_up

log = logging.getLogger(__name__)

TIDIED_EVERY = 3600.0  # seconds, on a host without workers
Status = SourceFile.Status


def is_stalled(source: SourceFile) -> bool:
    """Whether an upload has had no new byte for so long that nobody seems to send it any more."""
    return source.arriving and source.touched_at < timezone.now() - UNBEGUN_AFTER


def remove_abandoned() -> int:
    """Remove uploads without new bytes for ABANDONED_AFTER, and files under UPLOAD_DIR that no row needs.

    Announcements without a byte are removed after UNBEGUN_AFTER. Returns the number of files removed.
    """
    removed = 0
    now = timezone.now()
    under_way = SourceFile.objects.filter(status=Status.UPLOADING, owned=True)
    for source in under_way.filter(touched_at__lt=now - ABANDONED_AFTER):
        removed += _removed(give_up, source)
    for source in under_way.filter(received=0, touched_at__lt=now - UNBEGUN_AFTER):
        # The first part of a slow upload is in the file before it is in the row. Of several hosts one has the file.
        there = source.file.exists()
        if not (there and source.file.stat().st_size) and (there or not waits_for_whole_files()):
            removed += _removed(discard, source)
    return removed + _remove_strays()


def _removed(remove: Callable[[SourceFile], None], source: SourceFile) -> bool:
    """Remove the upload. False: its bytes in the store cannot be deleted now."""
    try:
        remove(source)
    except Problem as problem:
        log.warning("%s stays for now: %s", source.name, problem)
        return False
    return True


def finish_received() -> None:
    """Finish the uploads that have arrived whole, here or in the store, and whose process died before it could."""
    since = timezone.now() - UNBEGUN_AFTER
    whole = SourceFile.objects.filter(status=Status.UPLOADING, owned=True, received=F("size"), touched_at__lt=since)
    for source in whole:
        if source.store_upload or source.file.exists():
            try:
                finish(source)
            except SourceProblem as problem:
                log.warning("%s: the upload cannot be finished: %s", source.name, problem)


def remove_strays_if_due() -> None:
    """Remove files that no upload needs, at most every TIDIED_EVERY seconds: for a host whose workers do not sweep."""
    stamp = private_folder(settings.VAR_DIR / "run") / "uploads-tidied"
    if not stamp.exists() or time.time() - stamp.stat().st_mtime > TIDIED_EVERY:
        stamp.touch(mode=0o600)
        _remove_strays()


def _remove_strays() -> int:
    """Remove the files of this host whose row is gone, is marked as deleted, or names their place in the store."""
    removed, before = 0, (timezone.now() - ABANDONED_AFTER).timestamp()
    for path in settings.UPLOAD_DIR.glob("*-*-*-*-*"):
        if path.lstat().st_mtime < before:
            needed = SourceFile.objects.filter(path=str(path)).exclude(status=Status.REMOVED)
            if not needed.exists():
                path.unlink(missing_ok=True)
                removed += 1
    return removed
