"""One chunk's place in a file that is open: what everybody who reads its rows again is given."""

from dataclasses import dataclass

from importer.engine.sorting.original_positions import OriginalPositions
from importer.engine.source.byte_source import Readable, SourceLocation
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect


@dataclass(frozen=True)
class ChunkSource:
    """The `chunk` of the file `path`, open as `fd` and read in `dialect`.

    With `places` the file is a sorted copy; they say where its rows stood.
    """

    fd: Readable
    path: SourceLocation
    chunk: ChunkRange
    dialect: Dialect
    places: OriginalPositions | None = None
