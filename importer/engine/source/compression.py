"""Unpacks gzip, Zstandard and ZIP files as a stream: in constant memory, with limits, and reporting damage by byte."""

import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from isal import igzip_lib

from importer.engine.errors import SourceProblem
from importer.engine.source.arrays import Offsets
from importer.engine.source.byte_source import Readable, as_file, read_at, size_of
from importer.engine.units import human_bytes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

READ_BYTES = 64 * 1024
PIECE_BYTES = 256 * 1024
MIB = 2**20
# The most memory that a frame may ask for: 2 to this power, 128 MiB, which zstd allows without --long=31.
ZSTD_WINDOW_LOG = 27
# Enough for an archive of one file, with folders and the entries that macOS adds.
ZIP_MOST_ENTRIES = 1000

_GZIP_MAGIC = (b"\x1f\x8b\x08",)
_ZSTD_MAGIC = (b"\x28\xb5\x2f\xfd", *(bytes([byte]) + b"\x2a\x4d\x18" for byte in range(0x50, 0x60)))
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
PACKING_NAMES = {"gzip": "gzip", "zstd": "Zstandard", "zip": "ZIP"}
ENDINGS = (".gz", ".zst", ".zip")
_AGAIN = "Copy or download the file again, or pack it again."


@dataclass(frozen=True)
class DecompressionLimits:
    """Limits on unpacked data: at most `largest` bytes; beyond `small` bytes, at most `ratio` times the packed size."""

    largest: int = 200 * 1024 * MIB
    ratio: int = 200
    small: int = 64 * MIB


class Piece(NamedTuple):
    """Plain bytes, and the number of the file's own bytes used so far, for this piece and all before it.

    `places`: of whole records that were converted from another format, their positions in the file (places.py).
    """

    data: bytes
    used: int
    places: "Offsets | None" = None


def detect_packing(head: bytes) -> str:
    """How a file with these first bytes is packed: gzip, zstd, zip, or "" if it is not. The file's name is ignored."""
    for name, magic in (("gzip", _GZIP_MAGIC), ("zstd", _ZSTD_MAGIC), ("zip", _ZIP_MAGIC)):
        if head.startswith(magic):
            return name
    return ""


def unpacked(fd: Readable, packing: str, limits: DecompressionLimits) -> Iterator[Piece]:
    """Unpack an open file from its start.

    Raises SourceProblem for a file that is cut, damaged or encrypted, that has other data after the compressed data, or
    that contains several files, and if the unpacked data exceeds the limits.
    """
    total = 0
    for piece in _UNPACK[packing](fd):
        total += len(piece.data)
        require_within(limits, total, piece.used)
        yield piece


def require_within(limits: DecompressionLimits, total: int, used: int) -> None:
    """Raise SourceProblem if `used` bytes may not be unpacked to `total` ones."""
    if total > limits.largest:
        raise SourceProblem(
            f"The file unpacks to more than {limits.largest:,} bytes.",
            advice="Raise UNPACKED_MAX_BYTES, or divide the file.",
        )
    if total > max(limits.small, limits.ratio * used):
        raise SourceProblem(
            f"The file unpacks to more than {limits.ratio} times its size: its first {used:,} bytes to {total:,}.",
            advice="Files made to fill disks look like this. If you trust it, raise UNPACKED_MAX_RATIO, or unpack it.",
        )


class _Decoder(Protocol):
    """The common interface of the gzip and Zstandard decoders; `needs_input` and `eof` as in Python's bz2."""

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
    # Not the zstandard package: for a file that is cut within a frame, it reports a normal end of the data.
    def begin() -> _Decoder:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    return _members(fd, begin, _ZSTD_MAGIC)


def _members(fd: Readable, begin: Callable[[], _Decoder], magic: tuple[bytes, ...]) -> Iterator[Piece]:
    """Unpack one or more compressed streams that follow each other without a gap."""
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
            if "memory" in str(error):  # only Zstandard reports this
                raise SourceProblem(
                    f"Unpacking the file needs more than {human_bytes(2**ZSTD_WINDOW_LOG)} of memory.",
                    advice="Pack it again without --long, or unpack it.",
                ) from error
            raise _damaged(f"at about byte {at:,}", error) from error
        if piece:
            yield Piece(piece, at)


def _after_member(fd: Readable, left: bytes, at: int) -> tuple[bytes, int]:
    """The bytes after a stream, and the offset up to which the file is read. Skips zeros, which tapes pad with.

    The bytes are b"" at the end of the file.
    """
    while len(left := left.lstrip(b"\0")) < 4:
        more = read_at(fd, READ_BYTES, at)
        if not more:
            break
        left += more
        at += len(more)
    return left, at


def _zip(fd: Readable) -> Iterator[Piece]:
    """Unpack the only file of a ZIP archive."""
    with as_file(fd) as file:
        try:
            _refuse_many_entries(fd)
            with zipfile.ZipFile(file) as archive, archive.open(_only_file(archive)) as member:
                while data := member.read(PIECE_BYTES):
                    yield Piece(data, file.tell())
        except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
            raise _damaged(f"at about byte {file.tell():,}", error) from error


def _refuse_many_entries(fd: Readable) -> None:
    """Check the number of entries before zipfile reads all of them into memory (APPNOTE.TXT 4.3.14 to 4.3.16)."""
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
    # macOS adds a folder of its own to each archive.
    files = [each for each in archive.infolist() if not each.is_dir() and not each.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        names = ", ".join(each.filename[:60] for each in files[:5]) + (", ..." if len(files) > 5 else "")
        contents = f"{len(files):,} files: {names}" if files else "no file"
        raise SourceProblem(
            f"The ZIP archive holds {contents}.", advice="Unpack it, and import each CSV file by itself."
        )
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
