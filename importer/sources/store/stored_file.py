"""Reads a file of the store."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from importer.engine.source.byte_source import Readable
from importer.sources.store.file_store import require_store


@dataclass(frozen=True)
class StoredFile:
    """Version `etag` of the object at `address`. The store's account is read when it is opened.

    Without an ETag it is the version that is there; a working copy never gets another one.
    """

    address: str
    etag: str = ""

    def __str__(self) -> str:
        return self.address

    @property
    def name(self) -> str:
        return self.address.rpartition("/")[2]

    def next_to(self, suffix: str) -> "StoredFile":
        """The object with this one's name and the suffix."""
        return StoredFile(self.address + suffix)

    def open(self) -> AbstractContextManager[Readable]:
        """Open it. Raises SourceProblem if it cannot be read, SourceChanged if it was replaced."""
        opened: AbstractContextManager[Readable] = require_store(self.address).opened(self.address, self.etag)
        return opened
