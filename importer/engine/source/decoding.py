"""Plain contents of a file: unpacked, and converted to UTF-8 or from another format if that is needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from importer.engine.errors import RecordUnreadable, SourceProblem
from importer.engine.source import encodings
from importer.engine.source.archives import PACKING_NAMES, detect_packing, members, tar_packing, unpacked
from importer.engine.source.arrays import Offsets, np
from importer.engine.source.arriving import ArrivingBytes
from importer.engine.source.byte_source import Readable, read_at, size_of
from importer.engine.source.compression import MAGIC, DecompressionLimits, Piece, unpacking_limits
from importer.engine.source.dialect import CSV, Dialect
from importer.engine.source.encodings import EncodingKind
from importer.engine.source.file_signature import refuse_other_kinds
from importer.engine.source.formats import copy_records
from importer.engine.source.formats.contents import Contents, temporary_file
from importer.engine.source.formats.registry import FORMATS, detect_format

# The first bytes, which show whether a file is a tar archive.
TAR_BYTES = 512
# Bytes that show the format of a file that is packed by itself, such as a workbook.
FORMAT_BYTES = 64 * 1024
# For samples that are no more than the first bytes, and so bounded by their number.
NO_LIMITS = DecompressionLimits(largest=2**63, ratio=2**63)


def needs_copy(packing: str, dialect: Dialect) -> bool:
    """Whether a file is read from a plain copy. If so, offsets and line numbers refer to the copy."""
    return bool(packing) or dialect.encoding_kind is EncodingKind.OTHER


def plain_pieces(
    fd: Readable, packing: str, dialect: Dialect, limits: DecompressionLimits, *, tolerate: bool = False
) -> Iterator[Piece]:
    """The plain bytes of an open file from its start; each piece has the number of the file's own bytes used so far.

    The bytes are unpacked. They are UTF-8 if the file's encoding is of kind OTHER, else in the file's encoding. A file
    of another format than CSV is converted; the first piece is the header then, and the others have places. Rows that
    its format cannot read are marked if that is to be tolerated. Raises SourceProblem as unpacked(),
    encodings.utf8_copy() and the format's convert() do.
    """
    contents = Contents(fd, packing, limits, dialect.encoding, dialect.member, tolerate)
    if dialect.is_converted:
        if dialect.header:
            yield Piece(copy_records.header(dialect.fields), 0)
        yield from _within(limits, FORMATS[dialect.format].convert(contents, dialect))
        return
    used = 0

    def counted(pieces: Iterator[Piece]) -> Iterator[bytes]:
        nonlocal used
        for piece in pieces:
            used = piece.used
            yield piece.data

    plain = counted(contents.pieces())
    if dialect.encoding_kind is EncodingKind.OTHER:
        plain = encodings.utf8_copy(plain, dialect.encoding)
    for data in plain:
        yield Piece(data, used)


def _within(limits: DecompressionLimits, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces, within the largest size: a few bytes of a workbook may stand for very many rows."""
    total = 0
    for piece in pieces:
        total += len(piece.data)
        limits.require_size(total)
        yield piece


@dataclass(frozen=True)
class SourceHead:
    """The first bytes of a file of `size` bytes, at most `wanted` of them, unpacked but not decoded.

    `used` is the number of the file's own bytes that were read for them. `format`: the format that they begin like.
    `members`: the files of an archive, or unless `all_listed` the first ones; `member`: the one that is read, "" if
    there is no other.
    """

    packing: str
    data: bytes
    size: int
    used: int
    wanted: int
    format: str = CSV
    member: str = ""
    members: tuple[str, ...] = ()
    all_listed: bool = True

    @property
    def whole(self) -> bool:
        """Whether `data` is the file's whole contents."""
        return len(self.data) < self.wanted or (not self.packing and self.size == self.wanted)


@dataclass(frozen=True)
class SourceSample:
    """A plain file of which the first `readable` bytes can be read through `fd`.

    `size` is the size of the whole plain file in bytes; unless `whole`, which means that the file can be read to its
    end, that of a packed file is an estimate. `places`: of each row of a converted file its row, line and offset there.
    `refused`: the problem of the first row among them that cannot be read.
    """

    fd: Readable
    readable: int
    size: int
    whole: bool
    places: "Offsets | None" = None
    refused: RecordUnreadable | None = None


def read_head(fd: Readable, wanted: int, member: str = "") -> SourceHead:
    """Read the first `wanted` unpacked bytes of an open file; of an archive those of this member, or of the first one.

    Raises SourceProblem as unpacked() does, and for files that are not text: a picture, an archive in an archive.
    """
    size = size_of(fd)
    data = read_at(fd, wanted, 0)
    begins_like = detect_format(data)
    packed_as = detect_packing(data) if begins_like == CSV else ""
    if not packed_as:
        refuse_other_kinds(data)
        return SourceHead("", data, size, len(data), wanted, begins_like)
    packed_as = _through(fd, packed_as)
    names, all_listed = members(fd, packed_as)
    chosen = "" if len(names) < 2 and not member else member or names[0]
    data, used = _first(unpacked(fd, packed_as, NO_LIMITS, chosen), wanted)
    begins_like = detect_format(data)
    refuse_other_kinds(data)
    if begins_like == CSV and detect_packing(data):
        raise SourceProblem(
            f"The file is packed twice: inside is another one ({PACKING_NAMES[detect_packing(data)]}).",
            advice="Unpack it once.",
        )
    return SourceHead(packed_as, data, size, used, wanted, begins_like, chosen, names, all_listed)


def packing_of(fd: Readable) -> str:
    """How an open file is packed, as SourceHead has it; "" for a workbook. Raises SourceProblem as unpacked() does."""
    data = read_at(fd, FORMAT_BYTES, 0)
    return _through(fd, detect_packing(data)) if detect_format(data) == CSV else ""


def _through(fd: Readable, packed_as: str) -> str:
    """The packing; that of a tar archive, if such a one is inside."""
    if packed_as not in MAGIC:
        return packed_as
    return tar_packing(packed_as, _first(unpacked(fd, packed_as, NO_LIMITS), TAR_BYTES)[0])


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
def open_sample(fd: Readable, head: SourceHead, dialect: Dialect) -> Iterator[SourceSample]:
    """Open the file itself if it is plain; else a temporary file with the first `head.wanted` plain bytes.

    Of a plain file that is still arriving, the sample is what `head` has of it.
    """
    if not needs_copy(head.packing, dialect) and isinstance(fd, ArrivingBytes):
        yield SourceSample(fd, len(head.data), head.size, False)
        return
    if not needs_copy(head.packing, dialect):
        yield SourceSample(fd, head.size, head.size, True)
        return
    taken: list[Piece] = []
    # A format may need the whole file for its first record.
    limits = unpacking_limits() if dialect.is_converted else NO_LIMITS
    data, used = _first(_noted(plain_pieces(fd, head.packing, dialect, limits, tolerate=True), taken), head.wanted)
    whole = len(data) < head.wanted
    with temporary_file() as file:
        file.write(data)
        file.flush()
        size = len(data) if whole else max(len(data), len(data) * head.size // used)
        refused = next((each.refused for each in taken if each.refused), None)
        yield SourceSample(file.fileno(), len(data), size, whole, _places(taken), refused)


def _noted(pieces: Iterator[Piece], taken: list[Piece]) -> Iterator[Piece]:
    """The pieces; those with places are added to the list, without their bytes."""
    for piece in pieces:
        if piece.places is not None:
            taken.append(piece._replace(data=b""))
        yield piece


def _places(pieces: list[Piece]) -> "Offsets | None":
    return np.concatenate([each.places for each in pieces if each.places is not None]) if pieces else None
