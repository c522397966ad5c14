"""Where the files about rejected rows are kept: in a folder of each import, on this host or in the store.

The engine writes them into the folder of this host (importer.engine.load.rejects). With a store they go there before
their chunk is committed, so that the web host and every worker can read them, and no host keeps them.
"""

import io
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, TextIO
from uuid import UUID

from django.conf import settings

from importer.engine.load.chunk_load import RejectStorage
from importer.engine.source.byte_source import as_file
from importer.models import ImportJob
from importer.sources.store.file_store import FileStore, NotInStore, file_store

REJECTS = "rejects"  # the store's folder for them


def folder(job: ImportJob) -> Path:
    """The folder of this host: with a store only for files that are being written."""
    return settings.REJECTS_DIR / str(job.key)


def storage_of(job: ImportJob) -> RejectStorage:
    """Where the workers keep the files of the job's chunks."""
    store = file_store()
    return RejectsInStore(str(job.key), store) if store else RejectStorage()


@dataclass(frozen=True)
class RejectsInStore(RejectStorage):
    """Keeps the files of a job in the store."""

    key: str
    store: FileStore

    def keep(self, paths: Sequence[Path]) -> None:
        """Put the files into the store, and remove them here. Raises StoreAway."""
        for path in paths:
            self.store.put(self.address(path.name), path)
        for path in paths:
            path.unlink()

    def read(self, path: Path) -> bytes:
        """A file of the folder or of the store. Raises FileNotFoundError if it is in none of them, and StoreAway."""
        if path.exists():
            return path.read_bytes()
        try:
            with self.store.opened(self.address(path.name)) as ranges:
                return ranges.read(0, ranges.size)
        except NotInStore as problem:
            raise FileNotFoundError(path.name) from problem

    def address(self, name: str) -> str:
        return self.store.address_of(REJECTS, self.key, name)


@contextmanager
def opened(job: ImportJob, name: str) -> Iterator[BinaryIO]:
    """A file of the job for reading. Raises FileNotFoundError if it is gone, StoreAway."""
    path, kept = folder(job) / name, storage_of(job)
    if path.exists() or not isinstance(kept, RejectsInStore):
        with path.open("rb") as here:
            yield here
        return
    try:
        # People wait for their pages, and a thread of the web server with them.
        with kept.store.quick.opened(kept.address(name)) as ranges, as_file(ranges) as there:
            yield there
    except NotInStore as problem:
        raise FileNotFoundError(name) from problem


@contextmanager
def opened_as_text(job: ImportJob, name: str) -> Iterator[TextIO]:
    """A file of the job in UTF-8, with its line ends as they are. Raises as opened() does."""
    with opened(job, name) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        yield text


def missing(job: ImportJob, names: Collection[str]) -> list[str]:
    """Those of the names that are neither here nor in the store, in their order."""
    gone = [name for name in names if not (folder(job) / name).exists()]
    if not gone or (known := file_store()) is None:
        return gone
    store = known.quick
    if len(gone) == 1:
        return [] if store.has(store.address_of(REJECTS, str(job.key), gone[0])) else gone
    there = {each.name for each in store.listed(REJECTS, str(job.key))}
    return [name for name in gone if name not in there]


def forget(job: ImportJob) -> bool:
    """Delete all files of the job. Returns whether none is left on this host. Raises StoreAway."""
    if store := file_store():
        store.delete_below(REJECTS, str(job.key))
    shutil.rmtree(folder(job), ignore_errors=True)
    return not folder(job).exists()


def stored_keys() -> list[str]:
    """The keys of the jobs that have files, here or in the store. Raises StoreAway."""
    names = set(local_keys())
    if store := file_store():
        names |= set(keys_in_store(store))
    return sorted(names)


def keys_in_store(store: FileStore) -> list[str]:
    """The keys of the jobs that have files in the store. Raises StoreAway."""
    return [name for name in store.folders(REJECTS) if _is_key(name)]


def forget_old(store: FileStore, key: str, before: datetime) -> bool:
    """Delete the files with this key from the store if all of them are older. Raises StoreAway."""
    there = list(store.listed(REJECTS, key))
    if not all(each.written_at and each.written_at < before for each in there):
        return False
    store.delete(*(each.address for each in there))
    return bool(there)


def local_keys() -> list[str]:
    """The keys of the jobs that have a folder on this host."""
    if not settings.REJECTS_DIR.is_dir():
        return []
    return [each.name for each in settings.REJECTS_DIR.iterdir() if _is_key(each.name)]


def stored_bytes() -> Counter[str]:
    """The bytes of each job's files in the store, by the job's key. Raises StoreAway."""
    sizes: Counter[str] = Counter()
    if store := file_store():
        for each in store.listed(REJECTS):
            sizes[each.address.split("/")[-2]] += each.size
    return sizes


def _is_key(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
