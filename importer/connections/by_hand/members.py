"""All files of an archive, which one import reads as one: each becomes a copy, like an upload."""

from collections.abc import Iterator

from importer.access.acting import acting_user
from importer.connections.download import copy_stream
from importer.connections.listed_files import ListedFile
from importer.connections.source_location import location_of
from importer.engine.errors import SourceProblem
from importer.engine.source.archives import contents
from importer.engine.source.byte_source import open_source
from importer.engine.source.compression import Piece, unpacking_limits
from importer.engine.source.decoding import packing_of
from importer.models import SourceFile
from importer.sources import uploads
from importer.sources.limits import require_short_wait


def copy_members(source: SourceFile, *, somebody_waits: bool = False) -> list[SourceFile]:
    """Copies of all files in the archive, in its order, under their own names.

    `somebody_waits`: no more is unpacked than a page copies. Raises SourceProblem for a file that is no archive, for a
    damaged or encrypted one, and as uploads do; the copies made until then are removed.
    """
    if source.arriving:
        raise SourceProblem("The archive is not there as a whole.", source.name, "Wait for its upload.")
    copies: list[SourceFile] = []
    try:
        with open_source(location_of(source)) as fd:
            for name, pieces in contents(fd, packing_of(fd), unpacking_limits()):
                stream = _PieceStream(pieces, source.name)
                stream.waited_for = sum(each.size for each in copies) if somebody_waits else None
                copies.append(copy_stream(None, ListedFile(name, None, None), stream, None, acting_user()))
        if not copies:
            raise SourceProblem(
                "The file is no archive with files in it.", source.name, "Import it as it is, or name another one."
            )
    except BaseException:
        for each in copies:
            uploads.discard(each)
        raise
    return copies


class _PieceStream:
    """The bytes of pieces, as uploads read them.

    `waited_for`: the bytes that a person has waited for before these; None if nobody waits.
    """

    def __init__(self, pieces: Iterator[Piece], where: str) -> None:
        self._pieces, self._where, self._rest, self._read = pieces, where, b"", 0
        self.waited_for: int | None = None

    def read(self, size: int) -> bytes:
        """At most `size` bytes; b"" at the end. Raises SourceProblem, as unpacking does, and for a long wait."""
        while not self._rest and (piece := next(self._pieces, None)):
            self._rest = piece.data
            self._read += len(piece.data)
            if self.waited_for is not None:
                require_short_wait(self.waited_for + self._read, self._where)
        data, self._rest = self._rest[:size], self._rest[size:]
        return data
