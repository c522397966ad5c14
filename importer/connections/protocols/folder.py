"""Files in a folder on this server.

No symbolic link is followed, and no path is resolved twice: each folder is opened relative to the descriptor of its
parent, and a file is examined through the descriptor that it was opened with. Only regular files are used.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import xxhash
from django.conf import settings
from django.contrib.auth.models import User

from importer.connections import download
from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import (
    ListedFile,
    as_text,
    findings_of_names,
    is_text,
    refuse_too_many,
    sorted_by_name,
)
from importer.engine.errors import SourceChanged, SourceMissing, SourceProblem
from importer.engine.preflight.finding import Finding
from importer.models import SourceConnection, SourceFile

# A file that was written to within this time is listed as not settled (seconds).
SETTLED = 3.0
MOST_OFFERED = 50
# Endings of the names of files that are still being written.
UNFINISHED = (".part", ".partial", ".tmp", ".temp", ".crdownload", ".filepart", ".swp", "~")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_location(connection: SourceConnection) -> "Folder":
    return Folder(connection)


class Folder:
    """The folder `base`, which lies in one of IMPORT_FOLDERS, and the files below it."""

    def __init__(self, connection: SourceConnection) -> None:
        self._connection = connection
        self._base = connection.base

    def find(self, pattern: Pattern) -> list[ListedFile]:
        """The matching regular files, without hidden files, links and names of unfinished files."""
        files: list[ListedFile] = []
        with ExitStack() as opened:
            try:
                fd = opened.enter_context(self._opened(pattern.folders))
            except FileNotFoundError:
                return []  # The folder of a later date does not exist yet.
            for each in self._walk(fd, pattern.folders, pattern):
                files.append(each)
                refuse_too_many(len(files), self._base)
        return sorted_by_name(files, self._base)

    def _walk(self, fd: int, folders: tuple[str, ...], pattern: Pattern) -> Iterator[ListedFile]:
        with os.scandir(fd) as entries:
            below = []
            for entry in entries:
                name = "/".join((*folders, entry.name))
                if is_left_out(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.name)
                elif pattern.matches(name) and (seen := _stat(entry)):
                    yield _listed_file(name, seen)
        for each in below:
            if pattern.may_lie_below((*folders, each)):
                with self._below(fd, (*folders, each)) as folder:
                    yield from self._walk(folder, (*folders, each), pattern)

    def folders(self, folder: tuple[str, ...]) -> list[str]:
        """The names of the folders in a folder, without hidden ones and links."""
        with self._translated_errors("/".join(folder)), self._opened(folder) as fd, os.scandir(fd) as entries:
            return sorted(
                each.name for each in entries if each.is_dir(follow_symlinks=False) and not is_left_out(each.name)
            )

    def head(self, file: ListedFile, size: int) -> bytes:
        with self.opened(file.name, file.etag) as fd:
            return os.pread(fd, size, 0)

    @contextmanager
    def _below(self, fd: int, folders: tuple[str, ...]) -> Iterator[int]:
        with self._translated_errors("/".join(folders)):
            folder = os.open(folders[-1], _FOLDER, dir_fd=fd)
        try:
            yield folder
        finally:
            os.close(folder)

    def seen(self, name: str) -> ListedFile | None:
        *above, last = name.split("/")
        with self._translated_errors(name), suppress(FileNotFoundError), self._opened(tuple(above)) as folder:
            found = _stat_at(folder, last)
            return _listed_file(name, found) if found and stat.S_ISREG(found.st_mode) else None
        return None

    def fetch(self, file: ListedFile, user: User | None) -> SourceFile:
        """A reference to the file, without a copy."""
        del user  # Not an upload: the file keeps its owner.
        with self._file(file.name) as fd:
            seen = self._same(fd, file)
            if not seen.st_size:
                raise SourceProblem("The file is empty.", self._path(file.name), "Look at what writes it.")
            digest = xxhash.xxh3_128()
            while piece := os.read(fd, download.PIECE_BYTES):
                digest.update(piece)
            self._same(fd, file)
        return download.register_in_place(
            self._connection, file, self._path(file.name), seen.st_size, digest.hexdigest()
        )

    def move(self, file: ListedFile, folder: str) -> str:
        *above, name = file.name.split("/")
        with ExitStack() as opened, self._translated_errors(f"{folder}/{name}"):
            to = opened.enter_context(self._opened(tuple(folder.split("/")), make=True))
            try:
                fro = opened.enter_context(self._opened(tuple(above)))
                self._refuse_changed(fro, name, file)
            except FileNotFoundError:
                if (there := _stat_at(to, name)) and identity(there) == file.etag:
                    return file.etag
                raise
            with self._free_name(to, name, folder):
                os.rename(name, name, src_dir_fd=fro, dst_dir_fd=to)
        return file.etag

    def delete(self, file: ListedFile) -> None:
        *above, name = file.name.split("/")
        with self._translated_errors(file.name), suppress(FileNotFoundError), self._opened(tuple(above)) as folder:
            self._refuse_changed(folder, name, file)
            os.unlink(name, dir_fd=folder)

    def check(self) -> Iterator[Finding]:
        with self._opened(()) as fd:
            yield Finding("folder", "ok", f"{self._base} can be read.")
            with os.scandir(fd) as entries:
                seen = [entry for _, entry in zip(range(10_000), entries, strict=False)]
            yield _counted([entry for entry in seen if _stat(entry)], fd)
            yield from findings_of_names(each.name for each in seen)
            if links := sum(entry.is_symlink() for entry in seen):
                yield Finding("links", "warn", f"{links:,} links are left out.", "Links are never followed.")
            if os.access(".", os.W_OK | os.X_OK, dir_fd=fd):
                yield Finding("afterwards", "ok", "Files may be moved and deleted.")
            else:
                yield Finding("afterwards", "warn", "Files may only be kept: the folder is read-only for Millrace.")

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}"

    @contextmanager
    def _opened(self, folders: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        """The descriptor of a folder below the base. Raises FileNotFoundError if it does not exist, unless `make`."""
        with ExitStack() as opened:
            fd = self._open_root(opened)
            for name in folders:
                if make:
                    with self._translated_errors(name), suppress(FileExistsError):
                        os.mkdir(name, dir_fd=fd)
                try:
                    fd = os.open(name, _FOLDER, dir_fd=fd)
                except FileNotFoundError:
                    raise
                except OSError as error:
                    raise self._refused(error, "/".join(folders)) from error
                opened.callback(os.close, fd)
            yield fd

    def _open_root(self, opened: ExitStack) -> int:
        """The descriptor of the base. Its root in IMPORT_FOLDERS may be a link; no folder below it may."""
        root = root_of(self._base)
        with self._translated_errors(""):
            fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            opened.callback(os.close, fd)
            for name in Path(self._base).relative_to(root).parts:
                fd = os.open(name, _FOLDER, dir_fd=fd)
                opened.callback(os.close, fd)
        return fd

    @contextmanager
    def opened(self, name: str, etag: str) -> Iterator[int]:
        """The file's descriptor, for reading. Raises SourceChanged unless it is the version `etag`."""
        with self._file(name) as fd:
            self._same(fd, ListedFile(name, None, None, etag))
            yield fd

    @contextmanager
    def _file(self, name: str) -> Iterator[int]:
        *above, last = name.split("/")
        with ExitStack() as opened:
            with self._translated_errors(name):
                folder = opened.enter_context(self._opened(tuple(above)))
                fd = os.open(last, _FILE, dir_fd=folder)
                opened.callback(os.close, fd)
            yield fd

    def _same(self, fd: int, file: ListedFile) -> os.stat_result:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            raise SourceProblem("This is not a regular file.", self._path(file.name), "Only files are loaded.")
        if seen.st_nlink > 1:
            raise SourceProblem(
                "The file has a second name (a hard link), which may lead anywhere.",
                self._path(file.name),
                "Copy the file instead of linking it.",
                retryable=True,
            )
        if file.etag and identity(seen) != file.etag:
            raise self._changed(file)
        return seen

    def _refuse_changed(self, folder: int, name: str, file: ListedFile) -> None:
        if identity(os.stat(name, dir_fd=folder, follow_symlinks=False)) != file.etag:
            raise self._changed(file)

    def _changed(self, file: ListedFile) -> SourceChanged:
        return SourceChanged(
            "The file is no longer the one that was found.",
            self._path(file.name),
            "Its writer should use another name until the file is complete. The file stays as it is.",
        )

    @contextmanager
    def _free_name(self, folder: int, name: str, shown: str) -> Iterator[None]:
        """Reserve the name with an empty file, since a rename would replace an existing file.

        An empty file of that name counts as free: an interrupted move leaves one.
        """
        with suppress(FileExistsError):
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=folder))
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if there.st_size or not stat.S_ISREG(there.st_mode):
            raise SourceProblem(
                f"There is a {name} in {shown} already.",
                self._base,
                "Rename or remove one of them; put a date into the folder's name if names come back.",
            )
        try:
            yield
        except OSError:
            os.unlink(name, dir_fd=folder)
            raise

    @contextmanager
    def _translated_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._refused(error, name) from error

    def _refused(self, error: OSError, name: str) -> SourceProblem:
        where = self._path(name).rstrip("/")
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            return SourceProblem("This is a link, or no folder or file.", where, "Links are never followed.")
        if error.errno == errno.ENOENT:
            return SourceMissing("This is not there.", where, "Put it back, or correct the connection.")
        if error.errno == errno.EXDEV:
            return SourceProblem("The folder is on another disk.", where, "Choose one on the same disk.")
        user = f"user {os.geteuid()}"
        return SourceProblem(f"{error.strerror}.", where, f"Let the account of Millrace ({user}) read and change it.")


def root_of(base: str) -> Path:
    """The folder of IMPORT_FOLDERS that the base is in. Raises SourceMissing if there is none here."""
    for root in map(os.path.normpath, settings.IMPORT_FOLDERS):
        if Path(base).is_relative_to(root) and ".." not in Path(base).parts:
            return Path(root)
    allowed = ", ".join(settings.IMPORT_FOLDERS) or "none yet"
    raise SourceMissing(
        f"Files may not be picked up there. Folders that they may come from: {allowed}.",
        base,
        "An administrator can add it to IMPORT_FOLDERS (see .env.example) and restart Millrace.",
    )


def selectable_folders() -> list[str]:
    """The folders that a form offers: IMPORT_FOLDERS, and up to MOST_OFFERED readable folders directly below each."""
    folders: list[str] = []
    for root in map(os.path.normpath, settings.IMPORT_FOLDERS):
        folders.append(root)
        with suppress(OSError), os.scandir(root) as entries:
            below = (each.path for each in entries if each.is_dir(follow_symlinks=False) and not is_left_out(each.name))
            folders += sorted(islice(below, MOST_OFFERED))
    return folders


def is_left_out(name: str) -> bool:
    """Whether a file or folder of this name is hidden, still being written, or named in another encoding than UTF-8."""
    return name.startswith((".", "~")) or name.lower().endswith(UNFINISHED) or not is_text(name)


def identity(seen: os.stat_result) -> str:
    """An identity that changes when a file is written to or replaced, and stays when it is moved."""
    return f"{seen.st_dev:x}-{seen.st_ino:x}-{seen.st_size:x}-{seen.st_mtime_ns:x}"


def _settled(seen: os.stat_result) -> bool:
    # A copy can set the modification time (mtime), into the future too, but not that of the last status change (ctime).
    now = time.time()
    return all(abs(now - each) >= SETTLED for each in (seen.st_mtime, seen.st_ctime))


def _stat(entry: "os.DirEntry[str]") -> os.stat_result | None:
    """The stat of a regular file; None for other types, and if the file has been removed since."""
    with suppress(FileNotFoundError):
        seen = entry.stat(follow_symlinks=False)
        return seen if stat.S_ISREG(seen.st_mode) else None
    return None


def _stat_at(folder: int, name: str) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    return None


def _listed_file(name: str, seen: os.stat_result) -> ListedFile:
    modified = datetime.fromtimestamp(seen.st_mtime, UTC)
    return ListedFile(name, seen.st_size, modified, identity(seen), _settled(seen))


def _counted(files: list["os.DirEntry[str]"], fd: int) -> Finding:
    unreadable = [each.name for each in files if not os.access(each.name, os.R_OK, dir_fd=fd, follow_symlinks=False)]
    if unreadable:
        some = ", ".join(map(as_text, unreadable[:3]))
        return Finding(
            "files",
            "warn",
            f"{len(unreadable):,} of {len(files):,} files may not be read: {some}.",
            f"Let the account of Millrace (user {os.geteuid()}) read them.",
        )
    return Finding("files", "ok", f"{len(files):,} {'file' if len(files) == 1 else 'files'} in the folder.")
