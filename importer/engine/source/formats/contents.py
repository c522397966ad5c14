"""The bytes of a file in another format: unpacked, and of a text in UTF-8."""

import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from importer.engine.errors import DiskFull, SourceProblem, full_disk_as, room_in_words
from importer.engine.source import encodings
from importer.engine.source.archives import unpacked
from importer.engine.source.byte_source import Readable, as_file, size_of
from importer.engine.source.compression import DecompressionLimits, Piece, as_it_is, unpacking_limits
from importer.engine.source.encodings import UTF8, EncodingKind
from importer.engine.source.records.blocks import read_exactly

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _TemporaryFile(io.BufferedRandom):
    """An unnamed temporary file. A write raises DiskFull if fewer free bytes than the reserve would be left."""

    def write(self, data: "ReadableBuffer", /) -> int:
        needed, kept_free = memoryview(data).nbytes, unpacking_limits().kept_free
        free = max(0, shutil.disk_usage(tempfile.gettempdir()).free - kept_free)
        if needed > free:
            raise _disk_full(needed, self.tell())
        with full_disk_as(_disk_full):
            return super().write(data)

    def flush(self) -> None:
        with full_disk_as(_disk_full):
            super().flush()


def temporary_file() -> BinaryIO:
    """An unnamed temporary file, for a `with`. What is written to it raises DiskFull if the disk has no room."""
    return _TemporaryFile(tempfile.TemporaryFile(buffering=0))


def _disk_full(needed: int = 0, written: int = 0) -> DiskFull:
    folder = tempfile.gettempdir()
    after = f" {written:,} bytes are written." if written else ""
    room = room_in_words(Path(folder), unpacking_limits().kept_free, needed)
    return DiskFull(
        f"The disk of {folder} is full, where files are unpacked to read them.{after} {room}",
        advice="Make room there, or name a folder on a larger disk in TMPDIR.",
    )


@dataclass(frozen=True)
class Contents:
    """An open file that is packed in this way, with the limits for its unpacking. `encoding`: that of a text.

    `member`: the file in an archive, "" for the only one. `tolerate`: a row that cannot be read is marked in the copy,
    and the rows after it are read; otherwise it is a RecordUnreadable.
    """

    fd: Readable
    packing: str
    limits: DecompressionLimits
    encoding: str = UTF8
    member: str = ""
    tolerate: bool = False

    def pieces(self) -> Iterator[Piece]:
        """The unpacked bytes from the file's start. Raises SourceProblem as unpacked() does."""
        return unpacked(self.fd, self.packing, self.limits, self.member) if self.packing else as_it_is(self.fd)

    @contextmanager
    def file(self) -> Iterator[BinaryIO]:
        """The unpacked file, for formats that are not read from the start: itself, or a temporary copy."""
        if not self.packing:
            with as_file(self.fd) as file:
                yield file
            return
        with temporary_file() as copy:
            for piece in self.pieces():
                copy.write(piece.data)
            copy.seek(0)
            yield copy

    def end(self, length: int) -> bytes:
        """The last bytes in UTF-8, at most `length`; b"" of a file that is packed or in another encoding."""
        if self.packing or self.encoding != UTF8:
            return b""
        size = size_of(self.fd)
        begin = max(0, size - length)
        return read_exactly(self.fd, size - begin, begin)

    def text(self, errors: str = "strict") -> Iterator[Piece]:
        """The text in UTF-8 without a byte order mark. Raises SourceProblem for bytes that are not in the encoding.

        A piece may end within a character, and of a text in UTF-8 invalid bytes are among them. `errors`: as that of
        encodings.transcoded().
        """
        used = 0

        def counted() -> Iterator[bytes]:
            nonlocal used
            for piece in self.pieces():
                used = piece.used
                yield piece.data

        mark = encodings.byte_order_mark(UTF8)
        for data in self._utf8(counted(), errors):
            yield Piece(data.removeprefix(mark), used)
            mark = b"" if data else mark

    def _utf8(self, pieces: Iterator[bytes], errors: str) -> Iterator[bytes]:
        kind = encodings.kind(self.encoding)
        if kind is EncodingKind.UTF8:
            return pieces
        if kind is EncodingKind.OTHER:
            return encodings.utf8_copy(pieces, self.encoding)
        return self._transcoded(pieces, errors)

    def _transcoded(self, pieces: Iterator[bytes], errors: str) -> Iterator[bytes]:
        try:
            yield from encodings.transcoded(pieces, self.encoding, errors)
        except UnicodeDecodeError as error:
            wrong = error.object[error.start : error.end].hex(" ")
            raise SourceProblem(
                f"The bytes {wrong} are not {self.encoding}.", advice="Choose another encoding (--encoding)."
            ) from error
