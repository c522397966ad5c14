"""Room on the disks that Millrace writes to: where writing stops, and from where on admins are warned.

Writing stops while some room is left. The application's database and Redis are often on the same disk, and without room
for them everything stops, for everybody.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from importer.engine.errors import DiskFull, room_in_words

# The settings with the folders that uploads, imports and the application write into.
WRITTEN = ("VAR_DIR", "UPLOAD_DIR", "PLAIN_DIR", "REJECTS_DIR")


@dataclass(frozen=True)
class Disk:
    """The disk of a folder; `free` in bytes."""

    folder: Path
    free: int

    @property
    def kept_free(self) -> int:
        """The bytes that are left for the application itself."""
        kept: int = settings.KEEP_FREE_BYTES
        return kept

    @property
    def is_full(self) -> bool:
        """Whether nothing more may be written."""
        return self.free < self.kept_free

    @property
    def is_low(self) -> bool:
        """Whether admins are warned."""
        warned: int = settings.WARN_FREE_BYTES
        return self.free < warned


def room(folder: Path) -> int:
    """The bytes that may still be written into a folder, which may not have been created yet."""
    disk = disk_of(folder)
    return max(0, disk.free - disk.kept_free)


def is_full(folder: Path) -> bool:
    """Whether nothing more may be written into a folder."""
    return disk_of(folder).is_full


def in_words(folder: Path, needed: int = 0, *, about: bool = False) -> str:
    """The file system of a folder, for a message: its free bytes, those to be kept free, and those needed."""
    return room_in_words(folder, settings.KEEP_FREE_BYTES, needed, about=about)


def of_full_disk(error: OSError, where: str = "") -> DiskFull:
    """The problem of an error of a full disk, for writers without words of their own: the place, and its room.

    Without a path the error is of a file that was open already: most likely on the disk with the least room.
    """
    folder = Path(str(error.filename)).parent if error.filename else fullest_disk().folder
    advice = "Make room there, then try again."
    return DiskFull(f"A file cannot be written: {error.strerror}. {in_words(folder)}", where, advice)


def fullest_disk() -> Disk:
    """Of the disks that Millrace writes to, the one with the fewest free bytes."""
    folders = [Path(getattr(settings, name)) for name in WRITTEN]
    return min(map(disk_of, folders), key=lambda disk: disk.free)


def kept_free_among_temporary_files() -> int:
    """The bytes that temporary files leave free: on a disk of their own none, since no database needs them there."""
    disk = Path(tempfile.gettempdir()).stat().st_dev
    shared = any(existing(getattr(settings, name)).stat().st_dev == disk for name in WRITTEN)
    return settings.KEEP_FREE_BYTES if shared else 0


def disk_of(folder: Path) -> Disk:
    """The disk of a folder; without a free byte if that cannot be told."""
    try:
        return Disk(folder, shutil.disk_usage(existing(folder)).free)
    except OSError:
        return Disk(folder, 0)


def existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next((each for each in (folder, *folder.parents) if each.exists()), Path("/"))
