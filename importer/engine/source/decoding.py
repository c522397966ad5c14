"""What a file holds once it is unpacked and, where its encoding needs that, turned into UTF-8."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
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

# For a look, which takes no more than it wants.
NO_LIMITS = DecompressionLimits(largest=2**63, ratio=2**63)


def needs_copy(packing: str, encoding: str) -> bool:
    """Whether a file is read from a plain copy; then its offsets and lines are those of the copy."""
    return bool(packing) or encodings.kind(encoding) is EncodingKind.OTHER


def plain_pieces(fd: Readable, packing: str, encoding: str, limits: DecompressionLimits) -> Iterator[Piece]:
    """The plain bytes of an open file from its start, and how many of its own bytes each piece has come to.

    Unpacked, and in UTF-8 where the encoding is one that ASCII bytes do not stand for themselves in. Raises
    SourceProblem as unpacked() and encodings.copied() do.
    """
    used = 0

    def counted(pieces: Iterator[Piece]) -> Iterator[bytes]:
        nonlocal used
        for piece in pieces:
            used = piece.used
            yield piece.data

    packed = unpacked(fd, packing, limits) if packing else _as_it_is(fd)
    plain = counted(packed)
    if encodings.kind(encoding) is EncodingKind.OTHER:
        plain = encodings.copied(plain, encoding)
    for data in plain:
        yield Piece(data, used)


def _as_it_is(fd: Readable) -> Iterator[Piece]:
    at = 0
    while data := read_at(fd, PIECE_BYTES, at):
        at += len(data)
        yield Piece(data, at)


@dataclass(frozen=True)
class SourceHead:
    """The first bytes of what a file of `size` bytes holds, at most `wanted`, unpacked but not decoded.

    `used` bytes of the file have come to them; `whole` if they are all there is.
    """

    packing: str
    data: bytes
    size: int
    used: int
    wanted: int

    @property
    def whole(self) -> bool:
        return len(self.data) < self.wanted or (not self.packing and self.size == self.wanted)


@dataclass(frozen=True)
class SourceSample:
    """A plain file that can be read through `fd` as far as `readable`; it has `size` bytes, or about so many.

    `whole`: it can be read to its end.
    """

    fd: Readable
    readable: int
    size: int
    whole: bool


def read_head(fd: Readable, wanted: int) -> SourceHead:
    """Look into an open file, as far as `wanted` unpacked bytes.

    Raises SourceProblem as unpacked() does, and for what is no text: a picture, a workbook, an archive in an archive.
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
    """The first bytes, `wanted` of them if there are so many, and about how much of the file they come from."""
    data, used = bytearray(), 0
    for piece in pieces:
        data += piece.data
        used = piece.used
        if len(data) >= wanted:
            return bytes(data[:wanted]), max(1, used * wanted // len(data))
    return bytes(data), used


@contextmanager
def open_sample(fd: Readable, head: SourceHead, encoding: str) -> Iterator[SourceSample]:
    """The plain file, where that is the file itself; else as much of it as the head has, in a file of its own."""
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
