"""The archive of a backup: a tar file with the manifest as its last member. It is written and read as a stream."""

import hashlib
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from importer.engine.errors import Problem
from importer.management.backup import manifest as manifests
from importer.management.backup.manifest import Manifest, Stored

PIECE_BYTES = 2**20  # bytes per read and write
MANIFEST_MOST_BYTES = 2**30
# The folders of the archive, and its single files.
UPLOADS, REJECTS, KEYS = "uploads", "rejects", "keys"
SECRET_KEY, ENCRYPTION_KEYS = f"{KEYS}/secret_key", f"{KEYS}/encryption_key"


class Damaged(Problem):
    """The archive is not as it was written."""


class ArchiveWriter:
    """Adds files to a new archive, and remembers their checksums for the manifest."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self.tar = tar
        self.files: dict[str, Stored] = {}

    def add_file(self, name: str, path: Path) -> bool:
        """Add the file as it is now; what is appended later is left out. False: it is there no more."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return False
        with file:
            self._add(name, file, os.fstat(file.fileno()).st_size)
        return True

    def add_bytes(self, name: str, content: bytes) -> None:
        self._add(name, BytesIO(content), len(content))

    def add_manifest(self, manifest: Manifest) -> None:
        """Add the manifest, which ends the archive."""
        self.add_bytes(manifests.NAME, manifest.as_json())

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        reader = _Digesting(file)
        try:
            self.tar.addfile(info, reader)
        except OSError as error:
            if reader.size < size:  # tarfile: "unexpected end of data".
                raise Problem(
                    f"{name} became shorter while it was read, or cannot be read: {error}.", advice="Try again."
                ) from error
            raise
        self.files[name] = Stored(size, reader.digest.hexdigest())
        self.tar.members.clear()  # type: ignore[attr-defined] # Or they pile up in memory.


class _Digesting:
    """A file that computes the SHA-256 of what is read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.digest, self.size = file, hashlib.sha256(), 0

    def read(self, size: int = -1) -> bytes:
        piece = self.file.read(size)
        self.digest.update(piece)
        self.size += len(piece)
        return piece


@contextmanager
def new_archive(path: Path) -> Iterator[ArchiveWriter]:
    """A new archive (mode 0600), which appears under its name when it is complete; otherwise nothing stays behind.

    Raises Problem if there is a file of this name, or no room.
    """
    part = path.with_name(path.name + ".part")
    if path.exists():
        raise Problem("There is a file of this name.", str(path), "Choose another name.")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise Problem(f"The file cannot be made: {error.strerror}.", str(part), "Choose another folder.") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w|", format=tarfile.PAX_FORMAT, bufsize=PIECE_BYTES) as tar:
                yield ArchiveWriter(tar)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, path)  # Unlike a renaming, never over another file.
    except OSError as error:
        raise Problem(f"The backup cannot be written: {error.strerror or error}.", str(path), "Make room.") from error
    finally:
        part.unlink(missing_ok=True)


def checked(path: Path) -> Manifest:
    """The manifest of an archive, all of which has been read. Raises Damaged, with the names of what is damaged."""
    found: dict[str, Stored] = {}
    texts = []

    def look(name: str, file: IO[bytes], size: int) -> None:
        reader = _Digesting(file)
        if name == manifests.NAME and size <= MANIFEST_MOST_BYTES:
            texts.append(reader.read())
        while reader.read(PIECE_BYTES):
            pass
        found[name] = Stored(reader.size, reader.digest.hexdigest())

    _each_file(path, look)
    try:
        manifest = manifests.manifest_from_json(texts[0])
    except (IndexError, ValueError) as error:
        last = f" It ends after {list(found)[-1]}." if found else ""
        raise _damaged(path, f"has no manifest, so that it is not complete.{last}") from error
    wrong = [name for name, stored in manifest.files.items() if found.get(name) != stored]
    if wrong:
        several = f" and {len(wrong) - 5:,} more" if len(wrong) > 5 else ""
        raise _damaged(path, f"is damaged in {', '.join(wrong[:5])}{several}.")
    return manifest


def extract(path: Path, manifest: Manifest, place_of: Callable[[str], Path | None]) -> None:
    """Write each file of the archive to its place (mode 0600), without those whose place is None.

    Raises Damaged if a file is not as the manifest says, and Problem if one cannot be written.
    """

    def write(name: str, file: IO[bytes], _size: int) -> None:
        place = place_of(name) if name in manifest.files and is_safe(name) else None
        if place is None:
            return
        reader = _Digesting(file)
        try:
            _write(place, reader)
        except OSError as error:
            raise Problem(f"The file cannot be written: {error.strerror}.", str(place), "Make room there.") from error
        if Stored(reader.size, reader.digest.hexdigest()) != manifest.files[name]:
            raise _damaged(path, f"is damaged in {name}.")

    _each_file(path, write)


def _write(place: Path, content: _Digesting) -> None:
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.fdopen(os.open(place, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as out:
        while piece := content.read(PIECE_BYTES):
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())


def is_safe(name: str) -> bool:
    """Whether the name of a member stays in its folder: an archive may come from anywhere."""
    return not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts


def _each_file(path: Path, use: Callable[[str, IO[bytes], int], None]) -> None:
    """Hand each regular file of the archive on, one after another. Raises Damaged, or Problem if it cannot be read."""
    name = "its beginning"
    try:
        with path.open("rb") as file, tarfile.open(fileobj=file, mode="r|", bufsize=PIECE_BYTES) as tar:
            for member in tar:
                name = member.name
                if content := tar.extractfile(member) if member.isreg() else None:
                    use(name, content, member.size)
                tar.members.clear()  # type: ignore[attr-defined] # Or they pile up in memory.
    except tarfile.TarError as error:
        raise _damaged(path, f"is damaged at {name}, or no backup ({error}).") from error
    except OSError as error:
        raise Problem(f"The backup cannot be read: {error.strerror or error}.", str(path), "Check the path.") from error


def _damaged(path: Path, how: str) -> Damaged:
    return Damaged(f"The backup {how}", str(path), "Nothing has been changed. Use another backup.")
