"""Makes a backup, also while Millrace runs."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone

from importer.engine.errors import Problem
from importer.management.backup import database
from importer.management.backup.archive import (
    ENCRYPTION_KEYS,
    REJECTS,
    SECRET_KEY,
    UPLOADS,
    ArchiveWriter,
    new_archive,
)
from importer.management.backup.manifest import FORMAT, Manifest, applied_migrations


@dataclass(frozen=True)
class Backup:
    """What a new backup holds: files of each folder, and bytes of the archive."""

    uploads: int
    rejects: int
    bytes: int


def create(path: Path) -> Backup:
    """Write a backup to a new file. Raises Problem if there is one of this name, or no room.

    The database is read first. What it names exists before: uploads only grow, and a file that is deleted during it is
    one that the application has deleted.
    """
    with new_archive(path) as archive:
        migrations = applied_migrations()
        with tempfile.TemporaryDirectory(prefix=f"{path.name}.", dir=path.parent) as folder:
            snapshot = Path(folder) / "snapshot"
            database.write_snapshot(snapshot)
            archive.add_file(database.file_of(connection.vendor), snapshot)
        archive.add_bytes(SECRET_KEY, settings.SECRET_KEY.encode())
        archive.add_bytes(ENCRYPTION_KEYS, ",".join(settings.ENCRYPTION_KEYS).encode())
        uploads = _add_folder(archive, UPLOADS, settings.UPLOAD_DIR)
        rejects = _add_folder(archive, REJECTS, settings.REJECTS_DIR)
        archive.add_manifest(
            Manifest(
                format=FORMAT,
                version=settings.VERSION,
                made_at=timezone.now().isoformat(),
                database=connection.vendor,
                migrations=migrations,
                uploads=str(settings.UPLOAD_DIR),
                files=dict(archive.files),
            )
        )
    return Backup(uploads, rejects, path.stat().st_size)


def refuse_unusable(path: Path) -> None:
    """Raise Problem if there is nothing to back up, or if the backup would be part of itself."""
    if not applied_migrations():
        raise Problem("There is no database yet.", str(settings.VAR_DIR), "Check VAR_DIR and DATABASE_URL.")
    for folder in (settings.UPLOAD_DIR, settings.REJECTS_DIR):
        if path.resolve().is_relative_to(folder.resolve()):
            raise Problem("The backup would be in a folder that it holds.", str(path), "Choose another folder.")


def _add_folder(archive: ArchiveWriter, name: str, folder: Path) -> int:
    return sum(archive.add_file(f"{name}/{path.relative_to(folder)}", path) for path in _files_below(folder))


def _files_below(folder: Path) -> Iterator[Path]:
    """The regular files below a folder, not those that a restore lays ready there."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path
