"""The use of disk and memory: folders, the database and its tables, Redis, and what is free on each disk."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import redis
from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum

from importer import queue
from importer.access import audit
from importer.engine.errors import NoConnection
from importer.engine.units import count_of
from importer.jobs.rejects import storage
from importer.models import ImportJob, SourceFile
from importer.retention.files import rejects_kept_until
from importer.sources.room import WRITTEN, existing

TABLES_SHOWN = 8
REJECTS_SHOWN = 10


@dataclass(frozen=True)
class Taken:
    """The bytes of one kind of thing, and the number of what it consists of (`unit`); None if not known.

    `about`: what it is, in words.
    """

    name: str
    bytes: int | None
    about: str
    count: int | None = None
    unit: str = "file"

    @property
    def counted(self) -> str:
        """The number with its unit."""
        return "" if self.count is None else count_of(self.count, self.unit)


@dataclass(frozen=True)
class DiskRoom:
    """A disk with the folders on it; sizes in bytes."""

    folders: tuple[Path, ...]
    free: int
    total: int

    @property
    def used(self) -> int:
        return self.total - self.free


@dataclass(frozen=True)
class RejectFolder:
    """The rejected rows of one import. `until`: when the policies delete them; None: never, or it has not ended."""

    job: ImportJob
    bytes: int
    until: datetime | None


def folders() -> list[Taken]:
    """The folders that Millrace writes into."""
    kinds = (
        ("Files", settings.UPLOAD_DIR, "uploaded and fetched files"),
        ("Working copies", settings.PLAIN_DIR, "of imports under way"),
        ("Rejected rows", settings.REJECTS_DIR, "and their reasons"),
        ("Lab", settings.LAB_DIR, "samples of labs under way"),
        ("Logs", settings.VAR_DIR / "log", "one for each process"),
    )
    return [_taken(name, Path(folder), about) for name, folder, about in kinds]


def store() -> list[Taken]:
    """The files in the store, by what the database knows of them; nothing without a store."""
    if not settings.FILE_STORE:
        return []
    kept = SourceFile.objects.exclude(store_etag="").aggregate(files=Count("pk"), bytes=Sum("size", default=0))
    return [Taken("Store", kept["bytes"], f"uploaded and fetched files, in {settings.FILE_STORE}", kept["files"])]


def staged() -> list[Taken]:
    """The staged rows that imports keep on their targets; nothing without any."""
    kept = ImportJob.objects.filter(status__in=ImportJob.ENDED, staging=ImportJob.Staging.KEPT)
    sizes = [seen["bytes"] for seen in kept.values_list("seen_json", flat=True) if seen]
    about = "of previews and of imports that wait for a decision, on their targets"
    return [Taken("Staged rows", sum(sizes), about, len(sizes), "import")] if sizes else []


def database() -> list[Taken]:
    """The application's database, its largest tables if the server knows their sizes, and the audit log."""
    whole = _sqlite() if connection.vendor == "sqlite" else _server_tables()
    return [*whole, Taken("Audit log", None, "in the database", audit.count(), "event")]


def memory() -> int | None:
    """The bytes that Redis uses; None if it does not answer."""
    try:
        return int(queue.connection().info("memory")["used_memory"])
    except (redis.RedisError, KeyError):
        return None


def disks() -> list[DiskRoom]:
    """Each disk that Millrace writes to, once."""
    found: dict[int, list[Path]] = {}
    for folder in (existing(getattr(settings, name)) for name in WRITTEN):
        found.setdefault(folder.stat().st_dev, []).append(folder)
    usages = [(tuple(dict.fromkeys(on_it)), shutil.disk_usage(on_it[0])) for on_it in found.values()]
    return [DiskRoom(on_it, usage.free, usage.total) for on_it, usage in usages]


def largest_rejects() -> list[RejectFolder]:
    """The imports whose rejected rows take most, the largest first."""
    try:
        sizes = storage.stored_bytes()
    except NoConnection:  # The first page says that the store does not answer.
        sizes = Counter()
    sizes.update({key: _size(settings.REJECTS_DIR / key)[0] for key in storage.local_keys()})
    most = sorted(sizes, key=lambda name: -sizes[name])[:REJECTS_SHOWN]
    jobs = ImportJob.objects.filter(key__in=most).select_related("source", "created_by", "target")
    found = [RejectFolder(job, sizes[str(job.key)], rejects_kept_until(job)) for job in jobs]
    return sorted(found, key=lambda each: -each.bytes)


def _taken(name: str, folder: Path, about: str) -> Taken:
    size, files = _size(folder)
    return Taken(name, size, about, files)


def _size(folder: Path) -> tuple[int, int]:
    """The bytes of all files below a folder, as they lie on the disk, and their number."""
    blocks = [each.stat(follow_symlinks=False).st_blocks for each in _files(folder)]
    return 512 * sum(blocks), len(blocks)


def _files(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _files(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry
    except FileNotFoundError:
        return


def _sqlite() -> list[Taken]:
    """The file with its log, and what of it is free for new rows."""
    name = str(connection.settings_dict["NAME"])
    size = sum(path.stat().st_size for path in map(Path, (name, f"{name}-wal")) if path.exists())
    with connection.cursor() as cursor:
        cursor.execute("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
        free = cursor.fetchone()[0]
    return [Taken("Database", size, "SQLite"), Taken("Free in the database", free, "used again for new rows")]


def _server_tables() -> list[Taken]:
    """The database, and its largest tables. The server refreshes these figures only now and then."""
    sql = (
        "SELECT TABLE_NAME, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES"
        " WHERE TABLE_SCHEMA = DATABASE() AND DATA_LENGTH IS NOT NULL ORDER BY 2 DESC"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql)
        sizes = [(str(name), int(size)) for name, size in cursor.fetchall()]
    tables = [Taken(name, size, "table with its indexes") for name, size in sizes[:TABLES_SHOWN]]
    return [Taken("Database", sum(size for _, size in sizes), connection.display_name), *tables]
