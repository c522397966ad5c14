"""Plain copies: what a job reads instead of a file that is packed, or in an encoding that needs one.

A copy belongs to one job and one attempt to make it (`<job key>.<attempt>` under PLAIN_DIR), is there whole or not at
all, and goes when its job has ended; a retry makes it again.
"""

import errno
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from importer import jobs
from importer.engine.errors import SourceChanged, SourceProblem
from importer.engine.load import open_source
from importer.engine.packed import Limits
from importer.engine.plain import plain_pieces
from importer.models import ImportJob
from importer.sources import SPARE_BYTES, DiskFull

LOOK_EVERY = 1.0  # seconds between two signs of life
PART = ".part"


def make(job: ImportJob) -> bool:
    """Make the plain copy of the job's file, if it needs one and has none. False: this attempt is no longer wanted.

    Raises SourceProblem for a file that cannot be unpacked or decoded, SourceChanged, DiskFull; nothing stays behind.
    """
    if not job.needs_copy or (job.plain_copy and job.plain_file.exists()):
        return True
    settings.PLAIN_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = f"{job.key}.{job.step_attempt}"
    part = settings.PLAIN_DIR / f"{name}{PART}"
    try:
        with open_source(job.source.file) as fd, _disk_full_explained(job):
            _refuse_changed(fd, job)
            if not _write(job, fd, part):
                return False
            _refuse_changed(fd, job)
            size = part.stat().st_size
            part.replace(settings.PLAIN_DIR / name)
    finally:
        part.unlink(missing_ok=True)
    return jobs.record_copy(job, name, size)


def _write(job: ImportJob, fd: int, part: Path) -> bool:
    """Write the copy, giving signs of life. False as soon as it is no longer wanted."""
    limits = Limits(settings.UNPACKED_MAX_BYTES, settings.UNPACKED_MAX_RATIO)
    seen = time.monotonic()
    with part.open("wb") as out:
        for piece in plain_pieces(fd, job.packing, job.file_dialect.encoding, limits):
            out.write(piece.data)
            if time.monotonic() - seen < LOOK_EVERY:
                continue
            _require_room(job)
            out.flush()
            # Little by little: all at the end could take longer than the lease.
            os.fdatasync(out.fileno())
            if not jobs.renew_copy(job, piece.used):
                return False
            seen = time.monotonic()
        out.flush()
        os.fsync(out.fileno())
    return jobs.renew_copy(job, job.source.size)


def remove_unneeded() -> int:
    """Remove copies whose job has ended or is gone, and parts that nobody is writing any more; how many."""
    removed = 0
    for path in settings.PLAIN_DIR.glob("*-*-*-*-*.*"):
        if not _needed(path.name):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def _needed(name: str) -> bool:
    key, attempt, *_part = name.split(".")
    try:
        job = ImportJob.objects.exclude(status__in=ImportJob.ENDED).get(key=uuid.UUID(key))
    except (ValueError, ImportJob.DoesNotExist):
        return False
    return job.plain_copy == name or (not job.plain_copy and str(job.step_attempt) == attempt)


def _refuse_changed(fd: int, job: ImportJob) -> None:
    size = os.fstat(fd).st_size
    if size != job.source.size:
        raise SourceChanged(
            f"The file has {size:,} bytes, it had {job.source.size:,} when the import was planned.",
            where=job.source.name,
            advice="Wait until it is complete, then import it again.",
        )


def _require_room(job: ImportJob) -> None:
    if shutil.disk_usage(settings.PLAIN_DIR).free < SPARE_BYTES:
        raise _disk_full(job)


@contextmanager
def _disk_full_explained(job: ImportJob) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _disk_full(job) from error


def _disk_full(job: ImportJob) -> SourceProblem:
    what = "unpacked" if job.packing else "turned into UTF-8"
    return DiskFull(
        f"The disk is full: the file cannot be {what}. What had been written of it was removed.",
        where=job.source.name,
        advice=f"Make room under {settings.PLAIN_DIR}, or give PLAIN_DIR a larger disk; then retry.",
    )
