"""Compressed files, unpacked as a stream: constant memory, limits on what comes out, damage named by its byte."""

import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from isal import igzip_lib

from importer.engine.errors import SourceProblem
from importer.engine.source.byte_source import Readable, as_file, read_at, size_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

READ_BYTES = 64 * 1024
PIECE_BYTES = 256 * 1024
MIB = 2**20
# A frame may ask for so much memory: what zstd itself allows without --long=31 (2 to this power, 128 MiB).
ZSTD_WINDOW_LOG = 27
# A usual archive of one file, perhaps with folders and what macOS adds.
ZIP_MOST_ENTRIES = 1000

_GZIP_MAGIC = (b"\x1f\x8b\x08",)
_ZSTD_MAGIC = (b"\x28\xb5\x2f\xfd", *(bytes([byte]) + b"\x2a\x4d\x18" for byte in range(0x50, 0x60)))
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
PACKING_NAMES = {"gzip": "gzip", "zstd": "Zstandard", "zip": "ZIP"}
_AGAIN = "Copy or download the file again, or pack it again."


@dataclass(frozen=True)
class DecompressionLimits:
    """What may come out of a file: at most `largest` bytes, and `ratio` times the packed ones once over `small`."""

    largest: int = 200 * 1024 * MIB
    ratio: int = 200
    small: int = 64 * MIB


class Piece(NamedTuple):
    """Unpacked bytes, and how many of the packed file have been used for all of them so far."""

    data: bytes
    used: int


def detect_packing(head: bytes) -> str:
    """How a file with these first bytes is packed: gzip, zstd, zip, or "" for not at all. Its name does not count."""
    for name, magic in (("gzip", _GZIP_MAGIC), ("zstd", _ZSTD_MAGIC), ("zip", _ZIP_MAGIC)):
        if head.startswith(magic):
            return name
    return ""


def unpacked(fd: Readable, packing: str, limits: DecompressionLimits) -> Iterator[Piece]:
    """The unpacked bytes of an open file, from its start.

    Raises SourceProblem for a file that is cut, damaged, encrypted, goes on with something else or holds more than one
    file, and for more than the limits allow.
    """
    total = 0
    for piece in _UNPACK[packing](fd):
        total += len(piece.data)
        _within(limits, total, piece.used)
        yield piece


def _within(limits: DecompressionLimits, total: int, used: int) -> None:
    if total > limits.largest:
        raise SourceProblem(
            f"The file unpacks to more than {limits.largest:,} bytes.",
            advice="Raise UNPACKED_MAX_BYTES, or divide the file.",
        )
    if total > max(limits.small, limits.ratio * used):
        raise SourceProblem(
            f"The file unpacks to more than {limits.ratio} times its size: its first {used:,} bytes to {total:,}.",
            advice="Files made to fill disks are like that. If this is none, raise UNPACKED_MAX_RATIO, or unpack it.",
        )


class _Decoder(Protocol):
    """What the decoders of gzip and Zstandard have in common; `needs_input` and `eof` as in Python's bz2."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def _gzip(fd: Readable) -> Iterator[Piece]:
    def begin() -> _Decoder:
        return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)

    return _members(fd, begin, _GZIP_MAGIC)


def _zstd(fd: Readable) -> Iterator[Piece]:
    # Not the zstandard package: it takes the end of a file that is cut within a frame for the end of the data.
    def begin() -> _Decoder:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    return _members(fd, begin, _ZSTD_MAGIC)


def _members(fd: Readable, begin: Callable[[], _Decoder], magic: tuple[bytes, ...]) -> Iterator[Piece]:
    """A file of one or more compressed streams on end."""
    decoder, at = begin(), 0
    while True:
        data = b""
        if decoder.eof:
            data, at = _after_member(fd, decoder.unused_data, at)
            if not data:
                return
            if not data.startswith(magic):
                raise SourceProblem(
                    f"After its compressed data, from byte {at - len(data):,} on, the file holds something else.",
                    advice=_AGAIN,
                )
            decoder = begin()
        elif decoder.needs_input:
            data = read_at(fd, READ_BYTES, at)
            at += len(data)
            if not data:
                raise SourceProblem(
                    f"The file ends at byte {at:,}, in the middle of its compressed data.", advice=_AGAIN
                )
        try:
            piece = decoder.decompress(data, PIECE_BYTES)
        except (igzip_lib.IsalError, zstd.ZstdError) as error:  # type: ignore[misc]  # isal's stubs: an instance
            if "memory" in str(error):  # of Zstandard alone
                raise SourceProblem(
                    f"Unpacking the file needs more than {2**ZSTD_WINDOW_LOG // MIB} MiB of memory.",
                    advice="Pack it again without --long, or unpack it.",
                ) from error
            raise _damaged(f"at about byte {at:,}", error) from error
        if piece:
            yield Piece(piece, at)


def _after_member(fd: Readable, left: bytes, at: int) -> tuple[bytes, int]:
    """What follows a stream, without the zeros that tapes pad with, and how far the file is read; b"" at its end."""
    while len(left := left.lstrip(b"\0")) < 4:
        more = read_at(fd, READ_BYTES, at)
        if not more:
            break
        left += more
        at += len(more)
    return left, at


def _zip(fd: Readable) -> Iterator[Piece]:
    """The only file of a ZIP archive."""
    with as_file(fd) as file:
        try:
            _refuse_many_entries(fd)
            with zipfile.ZipFile(file) as archive, archive.open(_only_file(archive)) as member:
                while data := member.read(PIECE_BYTES):
                    yield Piece(data, file.tell())
        except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
            raise _damaged(f"at about byte {file.tell():,}", error) from error


def _refuse_many_entries(fd: Readable) -> None:
    """Look at the number of entries before zipfile reads them all into memory (APPNOTE.TXT 4.3.14 to 4.3.16)."""
    size = size_of(fd)
    tail_at = max(0, size - 65536 - 22)
    tail = read_at(fd, size - tail_at, tail_at)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise SourceProblem(
            f"The ZIP archive is cut: its list of files is missing at its end, byte {size:,}.", advice=_AGAIN
        )
    entries = int.from_bytes(tail[end + 10 : end + 12], "little")
    locator = tail.rfind(b"PK\x06\x07", 0, end)
    if locator >= 0:
        zip64_at = int.from_bytes(tail[locator + 8 : locator + 16], "little")
        entries = int.from_bytes(read_at(fd, 8, min(zip64_at, size) + 32), "little")
    if entries > ZIP_MOST_ENTRIES:
        raise SourceProblem(f"The ZIP archive holds {entries:,} files.", advice="Pack the one CSV file by itself.")


def _only_file(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    # macOS puts a folder of its own beside what was packed.
    files = [each for each in archive.infolist() if not each.is_dir() and not each.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        names = ", ".join(each.filename[:60] for each in files[:5]) + (", ..." if len(files) > 5 else "")
        held = f"{len(files):,} files: {names}" if files else "no file"
        raise SourceProblem(f"The ZIP archive holds {held}.", advice="Unpack it, and import each CSV file by itself.")
    (only,) = files
    if only.flag_bits & 0x1:
        raise SourceProblem(f"{only.filename[:60]} in the ZIP archive is encrypted.", advice="Unpack it first.")
    if only.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise SourceProblem(
            f"{only.filename[:60]} in the ZIP archive is packed by a rare method, number {only.compress_type}.",
            advice="Unpack it, or pack it again with the usual one (deflate).",
        )
    return only


def _damaged(where: str, error: Exception) -> SourceProblem:
    return SourceProblem(f"The compressed data is damaged {where}: {error}.", advice=_AGAIN)


_UNPACK: dict[str, Callable[[Readable], Iterator[Piece]]] = {"gzip": _gzip, "zstd": _zstd, "zip": _zip}
