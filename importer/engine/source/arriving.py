"""A file that is still being uploaded: its first bytes can be read, the rest has not arrived."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from importer.engine.errors import SourceProblem
from importer.engine.source.byte_source import Readable, open_source


class NotArrived(SourceProblem):
    """Bytes were asked for that have not arrived yet."""


@dataclass(frozen=True)
class ArrivingBytes:
    """Reads a file that will have `size` bytes, of which the first `arrived` are there and never change again."""

    descriptor: int
    size: int
    arrived: int

    def read(self, offset: int, length: int) -> bytes:
        """The bytes from `offset` on, `length` of them or up to the file's end. Raises NotArrived if one is missing."""
        end = min(offset + length, self.size)
        if end > self.arrived:
            raise NotArrived(
                f"{self.arrived:,} of {self.size:,} bytes have arrived, and {end:,} are needed.",
                advice="Wait for the rest of the upload.",
            )
        return os.pread(self.descriptor, max(0, end - offset), offset)


@dataclass(frozen=True)
class ArrivingFile:
    """The place of such a file."""

    path: Path
    size: int
    arrived: int

    @property
    def name(self) -> str:
        return self.path.name

    @contextmanager
    def open(self) -> Iterator[Readable]:
        """Open the file. Raises SourceProblem if it is gone."""
        with open_source(self.path) as descriptor:
            assert isinstance(descriptor, int)
            yield ArrivingBytes(descriptor, self.size, self.arrived)
