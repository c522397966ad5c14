"""Unpacks files as a stream, with limits: compressed ones, and a file of a ZIP or tar archive."""

import struct
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple, Self

from importer.engine.errors import SourceProblem
from importer.engine.source.byte_source import Readable, as_file, size_of
from importer.engine.source.compression import (
    AGAIN,
    MAGIC,
    MIB,
    PIECE_BYTES,
    DecompressionLimits,
    Piece,
    as_it_is,
    damaged,
    decompressed,
    require_within,
    unpacking_limits,
)
from importer.engine.units import count_of

# Enough for an archive of one file, with folders and the entries that macOS adds.
MOST_ENTRIES = 1000
# Names are looked for in so much of a compressed tar archive before an import is planned: a second or two.
LISTED_BYTES = 512 * MIB
MOST_SHOWN = 5
LONGEST_SHOWN = 60  # characters of a name
ZIP = "zip"
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_AT, _TAR_MAGIC = 257, b"ustar"
# How a tar archive is compressed.
_TARS = {"tar": "", "tar.gz": "gzip", "tar.zst": "zstd", "tar.bz2": "bz2", "tar.xz": "xz"}
PACKING_NAMES = {
    "gzip": "gzip",
    "zstd": "Zstandard",
    "bz2": "bzip2",
    "xz": "xz",
    ZIP: "ZIP",
    **{tar: " and ".join(filter(None, ("tar", packing))) for tar, packing in _TARS.items()},
}
ENDINGS = (".gz", ".zst", ".bz2", ".xz", ".zip", ".tar", ".tgz", ".tbz2", ".txz")


def detect_packing(head: bytes) -> str:
    """How a file with these first bytes is packed: one of PACKING_NAMES, or "" if it is not. Its name is ignored."""
    if head.startswith(_ZIP_MAGIC):
        return ZIP
    if head.startswith(_TAR_MAGIC, _TAR_AT):
        return "tar"
    return next((name for name, magic in MAGIC.items() if head.startswith(magic)), "")


def tar_packing(packing: str, head: bytes) -> str:
    """The packing of a tar archive that is compressed in this way; the packing itself if the unpacked head is none."""
    found = next((tar for tar, inside in _TARS.items() if inside == packing), "")
    return found if found and head.startswith(_TAR_MAGIC, _TAR_AT) else packing


def unpacked(fd: Readable, packing: str, limits: DecompressionLimits, member: str = "") -> Iterator[Piece]:
    """Unpack an open file from its start; of an archive this member, or the only file.

    Raises SourceProblem for a file that is cut, damaged or encrypted, that has other data after the compressed data,
    for an archive without the member, or of several files if none is named, and if the data exceeds the limits.
    """
    total = 0
    for piece in _pieces(fd, packing, limits, member):
        total += len(piece.data)
        require_within(limits, total, piece.used)
        yield piece


def _pieces(fd: Readable, packing: str, limits: DecompressionLimits, member: str) -> Iterator[Piece]:
    if packing == ZIP:
        return _zip(fd, member)
    return _tar(fd, packing, limits, member) if packing in _TARS else decompressed(fd, packing)


class Listing(NamedTuple):
    """The names of the files in an archive, without those that macOS adds. `whole`: there are no others."""

    names: tuple[str, ...] = ()
    whole: bool = True


def members(fd: Readable, packing: str) -> Listing:
    """The files in an archive; none for a file that is no archive.

    A compressed tar archive must be unpacked to find them: of a large one, those that begin in its first LISTED_BYTES
    are found. Raises SourceProblem as unpacked() does, and for an archive of very many files.
    """
    if packing == ZIP:
        with _opened_zip(fd) as archive:
            return Listing(tuple(_files_of_zip(archive)))
    if packing == "tar":
        return Listing(_names_by_headers(fd))
    return _first_members(fd, packing) if packing in _TARS else Listing()


def _first_members(fd: Readable, packing: str) -> Listing:
    names: list[str] = []
    try:
        with _TarReader(fd, packing, unpacking_limits(), LISTED_BYTES).opened() as archive:
            for each in _entries(archive):
                _add_name(names, each)
    except _Enough:
        return Listing(tuple(names), whole=False)
    return Listing(tuple(names))


def _names_by_headers(fd: Readable) -> tuple[str, ...]:
    """The names in a tar archive that is not compressed: what lies between them is not read."""
    names: list[str] = []
    with as_file(fd) as file:
        file.seek(0)
        try:
            with tarfile.open(fileobj=file, mode="r:", tarinfo=_Entry) as archive:
                for each in _entries(archive):
                    _add_name(names, each)
        except (tarfile.TarError, EOFError) as error:
            raise damaged(f"at about byte {file.tell():,}", error) from error
    return tuple(names)


class _Entry(tarfile.TarInfo):
    """An entry of a tar archive, for which a damaged or cut header is an error.

    tarfile takes one for the end of the archive. That is a block of zeros, or the end of the file behind an entry, as
    GNU tar accepts it.
    """

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        """Overrides the documented method that reads a header: which others it calls differs between Pythons."""
        try:
            return super().fromtarfile(archive)
        except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"{error} of an entry") from error


def _entries(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The entries of a tar archive. tarfile would keep all of them, and a small packed file can hold millions."""
    for each in archive:
        archive.members.clear()  # type: ignore[attr-defined]
        yield each


def _add_name(names: list[str], info: tarfile.TarInfo) -> bool:
    """Add the name of an entry that is a file, and none that macOS adds. Returns whether it is one."""
    if not info.isreg() or _is_added(info.name):
        return False
    _refuse_second(names, info.name, "tar")
    names.append(info.name)
    if len(names) > MOST_ENTRIES:
        raise SourceProblem(
            f"The tar archive holds more than {MOST_ENTRIES:,} files.", advice="Pack the file to import by itself."
        )
    return True


def _refuse_second(names: Collection[str], name: str, what: str) -> None:
    """Raise SourceProblem for a file that is in the archive already: one of the two is an older version."""
    if name in names:
        raise SourceProblem(
            f"The {what} archive has the file {name[:LONGEST_SHOWN]} twice: a newer version was added to it.",
            advice="Unpack it, and import the version that is wanted.",
        )


def contents(fd: Readable, packing: str, limits: DecompressionLimits) -> Iterator[tuple[str, Iterator[Piece]]]:
    """The files of an archive one after another: the name, and the bytes, which are read before the next file.

    Nothing for a file that is no archive. Raises SourceProblem as unpacked() does; the limits are for all files
    together.
    """
    total = 0

    def within(pieces: Iterator[Piece]) -> Iterator[Piece]:
        nonlocal total
        for piece in pieces:
            total += len(piece.data)
            require_within(limits, total, piece.used)
            yield piece

    if packing == ZIP:
        with _opened_zip(fd) as archive:
            for name, chosen in _files_of_zip(archive).items():
                yield name, within(_of_zip(archive, chosen))
    elif packing in _TARS:
        reader, names = _TarReader(fd, packing, limits), list[str]()
        with reader.opened() as tar:
            for info in _entries(tar):
                if _add_name(names, info):
                    yield info.name, _of_tar(tar, info, reader)


def choose_member(names: tuple[str, ...], member: str, what: str) -> str:
    """The member to read: the named one, or the only one. Raises SourceProblem if there is none like that."""
    if member and member not in names:
        raise SourceProblem(f"The {what} archive has no file {member}.", advice=f"It has {_listed(names)}.")
    if not member and len(names) != 1:
        contents = f"{count_of(len(names), 'file')}: {_listed(names)}" if names else "no file"
        raise SourceProblem(f"The {what} archive holds {contents}.", advice="Choose one of them (--member).")
    return member or names[0]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(each[:LONGEST_SHOWN] for each in names[:MOST_SHOWN]) + (", ..." if len(names) > MOST_SHOWN else "")


def _is_added(name: str) -> bool:
    """Whether macOS has added this entry: a folder of its own, or a file of attributes."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("._")


class BoundedZip(zipfile.ZipFile):
    """A ZIP archive of at most `most` files. Raises SourceProblem for one with more, or with a very long list of them.

    zipfile lists all files in memory, however many the archive says it has.
    """

    most = MOST_ENTRIES
    bytes_of_each = 1024  # of a file in the list, on average: a name, a comment, and fields of a few bytes
    too_many = "The ZIP archive holds more than {:,} files, or their names are very long."
    fewer = "Pack the file to import by itself."

    def __init__(self, file: BinaryIO) -> None:
        refusal = SourceProblem(self.too_many.format(self.most), advice=self.fewer)
        super().__init__(_BoundedReads(file, self.most * self.bytes_of_each, refusal))
        self.fp = file
        if len(self.filelist) > self.most:
            raise refusal


class _BoundedReads:
    """A file that raises this problem when more than `most` bytes are asked for at once: zipfile reads its list so."""

    def __init__(self, file: BinaryIO, most: int, problem: SourceProblem) -> None:
        self._file, self._most, self._problem = file, most, problem
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if size > self._most:
            raise self._problem
        return self._file.read(size)


@contextmanager
def _opened_zip(fd: Readable) -> Iterator[zipfile.ZipFile]:
    with as_file(fd) as file:
        try:
            if not zipfile.is_zipfile(file):
                raise SourceProblem(
                    f"The ZIP archive is cut: its list of files is missing at its end, byte {size_of(fd):,}.",
                    advice=AGAIN,
                )
            with BoundedZip(file) as archive:
                yield archive
        except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
            raise damaged(f"at about byte {file.tell():,}", error) from error


def _files_of_zip(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The files by name. Raises SourceProblem for a name that occurs twice."""
    files: dict[str, zipfile.ZipInfo] = {}
    for each in archive.infolist():
        if not each.is_dir() and not _is_added(each.filename):
            _refuse_second(files, each.filename, "ZIP")
            files[each.filename] = each
    return files


def _zip(fd: Readable, member: str) -> Iterator[Piece]:
    """Unpack a file of a ZIP archive."""
    with _opened_zip(fd) as archive:
        files = _files_of_zip(archive)
        yield from _of_zip(archive, files[choose_member(tuple(files), member, "ZIP")])


def _of_zip(archive: zipfile.ZipFile, chosen: zipfile.ZipInfo) -> Iterator[Piece]:
    _refuse_unreadable(chosen)
    with archive.open(chosen) as opened:
        begin = chosen.header_offset
        while data := opened.read(PIECE_BYTES):
            share = opened.tell() / max(1, chosen.file_size)
            yield Piece(data, begin + int(chosen.compress_size * share))


def _refuse_unreadable(member: zipfile.ZipInfo) -> None:
    name = member.filename[:LONGEST_SHOWN]
    if member.flag_bits & 0x1:
        raise SourceProblem(f"{name} in the ZIP archive is encrypted.", advice="Unpack it first.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise SourceProblem(
            f"{name} in the ZIP archive is packed by a rare method, number {member.compress_type}.",
            advice="Unpack it, or pack it again with the usual one (deflate).",
        )


class _Enough(Exception):
    """As much of an archive is unpacked as is looked at."""


class _TarReader:
    """Reads a tar archive from its start, as tarfile asks for it. `used`: the bytes of the file read so far.

    Raises _Enough after `most` unpacked bytes.
    """

    def __init__(self, fd: Readable, packing: str, limits: DecompressionLimits, most: float = float("inf")) -> None:
        self._limits, self._most = limits, most
        compressed = _TARS[packing]
        self._pieces = decompressed(fd, compressed) if compressed else as_it_is(fd)
        self._rest = b""
        self.used = self._total = 0

    def read(self, size: int) -> bytes:
        """The next bytes, as many as asked for unless the archive ends."""
        if self._total > self._most:
            raise _Enough
        parts, missing = [self._rest], size - len(self._rest)
        while missing > 0 and (piece := next(self._pieces, None)):
            self.used, self._total = piece.used, self._total + len(piece.data)
            require_within(self._limits, self._total, piece.used)
            parts.append(piece.data)
            missing -= len(piece.data)
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]

    @contextmanager
    def opened(self) -> Iterator[tarfile.TarFile]:
        try:
            with tarfile.open(fileobj=self, mode="r|", tarinfo=_Entry) as archive:  # type: ignore[call-overload]
                yield archive
        except (tarfile.TarError, EOFError) as error:
            raise damaged(f"at about byte {self.used:,}", error) from error


def _tar(fd: Readable, packing: str, limits: DecompressionLimits, member: str) -> Iterator[Piece]:
    """Unpack a file of a tar archive: this member, or the only one, and then look for others."""
    reader, names = _TarReader(fd, packing, limits), list[str]()
    with reader.opened() as archive:
        for each in _entries(archive):
            if not _add_name(names, each) or (each.name != member if member else len(names) > 1):
                continue
            yield from _of_tar(archive, each, reader)
            if member:
                return
    choose_member(tuple(names), member, "tar")


def _of_tar(archive: tarfile.TarFile, chosen: tarfile.TarInfo, reader: _TarReader) -> Iterator[Piece]:
    opened = archive.extractfile(chosen)
    assert opened
    while data := opened.read(PIECE_BYTES):
        yield Piece(data, reader.used)
