"""Describes a chunk of an open file, for code that reads its rows again."""

from dataclasses import dataclass

from importer.engine.sorting.original_positions import OriginalPositions
from importer.engine.source.byte_source import Readable, SourceLocation
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect


@dataclass(frozen=True)
class ChunkSource:
    """The `chunk` of the file `path`, which is open as `fd` and read in `dialect`.

    `places` are the original positions of the rows, if the file is a sorted copy.
    """

    fd: Readable
    path: SourceLocation
    chunk: ChunkRange
    dialect: Dialect
    places: OriginalPositions | None = None
