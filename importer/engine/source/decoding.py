"""Plain contents of a file: unpacked and, if its encoding requires it, converted to UTF-8."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.arriving import ArrivingBytes
from importer.engine.source.byte_source import Readable, read_at, size_of
from importer.engine.source.compression import (
    PACKING_NAMES,
    PIECE_BYTES,
    DecompressionLimits,
    Piece,
    detect_packing,
    unpacked,
)
from importer.engine.source.encodings import EncodingKind
from importer.engine.source.file_signature import refuse_other_kinds

# For samples, which are bounded by the number of bytes they need.
NO_LIMITS = DecompressionLimits(largest=2**63, ratio=2**63)


def needs_copy(packing: str, encoding: str) -> bool:
    """Whether a file is read from a plain copy. If so, offsets and line numbers refer to the copy."""
    return bool(packing) or encodings.kind(encoding) is EncodingKind.OTHER


def plain_pieces(fd: Readable, packing: str, encoding: str, limits: DecompressionLimits) -> Iterator[Piece]:
    """The plain bytes of an open file from its start; each piece has the number of the file's own bytes used so far.

    The bytes are unpacked. They are UTF-8 if the file's encoding is of kind OTHER, else in the file's encoding. Raises
    SourceProblem as unpacked() and encodings.utf8_copy() do.
    """
    used = 0

    def counted(pieces: Iterator[Piece]) -> Iterator[bytes]:
        nonlocal used
        for piece in pieces:
            used = piece.used
            yield piece.data

    packed = unpacked(fd, packing, limits) if packing else _unchanged(fd)
    plain = counted(packed)
    if encodings.kind(encoding) is EncodingKind.OTHER:
        plain = encodings.utf8_copy(plain, encoding)
    for data in plain:
        yield Piece(data, used)


def _unchanged(fd: Readable) -> Iterator[Piece]:
    at = 0
    while data := read_at(fd, PIECE_BYTES, at):
        at += len(data)
        yield Piece(data, at)


@dataclass(frozen=True)
class SourceHead:
    """The first bytes of a file of `size` bytes, at most `wanted` of them, unpacked but not decoded.

    `used` is the number of the file's own bytes that were read for them.
    """

    packing: str
    data: bytes
    size: int
    used: int
    wanted: int

    @property
    def whole(self) -> bool:
        """Whether `data` is the file's whole contents."""
        return len(self.data) < self.wanted or (not self.packing and self.size == self.wanted)


@dataclass(frozen=True)
class SourceSample:
    """A plain file of which the first `readable` bytes can be read through `fd`.

    `size` is the size of the whole plain file in bytes; unless `whole`, which means that the file can be read to its
    end, that of a packed file is an estimate.
    """

    fd: Readable
    readable: int
    size: int
    whole: bool


def read_head(fd: Readable, wanted: int) -> SourceHead:
    """Read the first `wanted` unpacked bytes of an open file.

    Raises SourceProblem as unpacked() does, and for files that are not text: a picture, a workbook, an archive in an
    archive.
    """
    size = size_of(fd)
    data = read_at(fd, wanted, 0)
    packed_as = detect_packing(data)
    refuse_other_kinds(data)
    if not packed_as:
        return SourceHead("", data, size, len(data), wanted)
    data, used = _first(unpacked(fd, packed_as, NO_LIMITS), wanted)
    refuse_other_kinds(data)
    if detect_packing(data):
        raise SourceProblem(
            f"The file is packed twice: inside is another one ({PACKING_NAMES[detect_packing(data)]}).",
            advice="Unpack it once.",
        )
    return SourceHead(packed_as, data, size, used, wanted)


def _first(pieces: Iterator[Piece], wanted: int) -> tuple[bytes, int]:
    """The first `wanted` bytes, or all if there are fewer, and about how many of the file's own bytes they take."""
    data, used = bytearray(), 0
    for piece in pieces:
        data += piece.data
        used = piece.used
        if len(data) >= wanted:
            return bytes(data[:wanted]), max(1, used * wanted // len(data))
    return bytes(data), used


@contextmanager
def open_sample(fd: Readable, head: SourceHead, encoding: str) -> Iterator[SourceSample]:
    """Open the file itself if it is plain; else a temporary file with the first `head.wanted` plain bytes.

    Of a plain file that is still arriving, the sample is what `head` has of it.
    """
    if not needs_copy(head.packing, encoding) and isinstance(fd, ArrivingBytes):
        yield SourceSample(fd, len(head.data), head.size, False)
        return
    if not needs_copy(head.packing, encoding):
        yield SourceSample(fd, head.size, head.size, True)
        return
    data, used = _first(plain_pieces(fd, head.packing, encoding, NO_LIMITS), head.wanted)
    whole = len(data) < head.wanted
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        size = len(data) if whole else max(len(data), len(data) * head.size // used)
        yield SourceSample(file.fileno(), len(data), size, whole)
