"""Reads a source's bytes: from an open local file, or by ranges from a remote object."""

import io
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from importer.engine.errors import SourceMissing, SourceProblem


class RangeReader(Protocol):
    """Reads ranges of a remote object of `size` bytes, in the version that was seen first."""

    @property
    def size(self) -> int: ...

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset` on; b"" at the end. Raises SourceChanged if the object has changed."""


Readable = int | RangeReader


class RemoteSource(Protocol):
    """A source without a local path that may be opened directly."""

    @property
    def name(self) -> str: ...

    def open(self) -> AbstractContextManager[Readable]:
        """Open the source. Raises SourceProblem if it cannot be read, SourceChanged if it has changed."""


@runtime_checkable
class RemoteCopy(RemoteSource, Protocol):
    """A working copy without a local path. A file that belongs to it lies next to it."""

    def next_to(self, suffix: str) -> "RemoteCopy":
        """The file with the copy's name and this suffix."""


SourceLocation = Path | RemoteSource


@contextmanager
def open_source(location: SourceLocation) -> Iterator[Readable]:
    """Open the source for reading, and close it at the end.

    Raises SourceProblem if it cannot be opened: SourceMissing if it is not there.
    """
    if not isinstance(location, Path):
        with location.open() as opened:
            yield opened
        return
    try:
        fd = os.open(location, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        kind = SourceMissing if isinstance(error, FileNotFoundError | NotADirectoryError) else SourceProblem
        raise kind(
            f"The file cannot be opened: {error.strerror}.",
            where=str(location),
            advice="Put it back and retry, or import it as a new one.",
        ) from error
    try:
        yield fd
    finally:
        os.close(fd)


def read_at(source: Readable, size: int, offset: int) -> bytes:
    """Up to `size` bytes of the source from `offset` on; b"" at the end."""
    return os.pread(source, size, offset) if isinstance(source, int) else source.read(offset, size)


def as_file(source: Readable) -> BinaryIO:
    """The source as a file object, for libraries that need one. Closing it leaves the source open."""
    return os.fdopen(os.dup(source), "rb") if isinstance(source, int) else io.BufferedReader(_RawRanges(source))


class _RawRanges(io.RawIOBase):
    def __init__(self, ranges: RangeReader) -> None:
        self._ranges, self._at = ranges, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._ranges.size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = self._ranges.read(self._at, len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def size_of(source: Readable) -> int:
    """The source's present size in bytes."""
    return os.fstat(source).st_size if isinstance(source, int) else source.size
