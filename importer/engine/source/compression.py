"""Decompresses gzip, Zstandard, bzip2 and xz as a stream: in constant memory, and reporting damage by byte."""

import bz2
import lzma
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from isal import igzip_lib

from importer.engine.errors import RecordUnreadable, SourceProblem
from importer.engine.source.arrays import Offsets
from importer.engine.source.byte_source import Readable, read_at
from importer.engine.units import human_bytes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

READ_BYTES = 64 * 1024
PIECE_BYTES = 256 * 1024
MIB = 2**20
# The most memory that compressed data may ask for: 2 to this power, 128 MiB, which zstd allows without --long=31.
WINDOW_LOG = 27

_GZIP_MAGIC = (b"\x1f\x8b\x08",)
_ZSTD_MAGIC = (b"\x28\xb5\x2f\xfd", *(bytes([byte]) + b"\x2a\x4d\x18" for byte in range(0x50, 0x60)))
_BZIP2_MAGIC = (b"BZh",)
_XZ_MAGIC = (b"\xfd7zXZ\x00",)
AGAIN = "Copy or download the file again, or pack it again."


@dataclass(frozen=True)
class DecompressionLimits:
    """Limits on unpacked data: at most `largest` bytes; beyond `small` bytes, at most `ratio` times the packed size.

    `kept_free`: the bytes that temporary files leave free on their disk.
    """

    largest: int = 200 * 1024 * MIB
    ratio: int = 200
    small: int = 64 * MIB
    kept_free: int = 0

    def require_size(self, total: int) -> None:
        """Raise SourceProblem if a file may not have `total` bytes once it is unpacked or converted."""
        if total > self.largest:
            raise SourceProblem(
                f"The file unpacks to more than {self.largest:,} bytes.",
                advice="Raise UNPACKED_MAX_BYTES, or divide the file.",
            )


_limits: list[Callable[[], DecompressionLimits]] = [DecompressionLimits]


def limit_unpacking(limits: Callable[[], DecompressionLimits]) -> None:
    """Take the limits for unpacking from this function from now on."""
    _limits[:] = [limits]


def unpacking_limits() -> DecompressionLimits:
    """The limits for unpacking: those of the application's settings (importer/apps.py)."""
    return _limits[0]()


class Piece(NamedTuple):
    """Plain bytes, and the number of the file's own bytes used so far, for this piece and all before it.

    `places`: of whole records that were converted from another format, their positions in the file (places.py).
    `refused`: the problem of the first of them that cannot be read.
    """

    data: bytes
    used: int
    places: "Offsets | None" = None
    refused: RecordUnreadable | None = None


def require_within(limits: DecompressionLimits, total: int, used: int) -> None:
    """Raise SourceProblem if `used` bytes may not be unpacked to `total` ones."""
    limits.require_size(total)
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
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})

    return _members(fd, begin, _ZSTD_MAGIC)


def _bzip2(fd: Readable) -> Iterator[Piece]:
    return _members(fd, bz2.BZ2Decompressor, _BZIP2_MAGIC)


def _xz(fd: Readable) -> Iterator[Piece]:
    def begin() -> _Decoder:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2**WINDOW_LOG)

    return _members(fd, begin, _XZ_MAGIC)


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
                    advice=AGAIN,
                )
            decoder = begin()
        elif decoder.needs_input:
            data = read_at(fd, READ_BYTES, at)
            at += len(data)
            if not data:
                raise SourceProblem(
                    f"The file ends at byte {at:,}, in the middle of its compressed data.", advice=AGAIN
                )
        try:
            piece = decoder.decompress(data, PIECE_BYTES)
        except (igzip_lib.IsalError, zstd.ZstdError, lzma.LZMAError, OSError) as error:  # type: ignore[misc]  # isal's stubs
            if "memory" in str(error).lower():  # Zstandard and xz report this
                raise SourceProblem(
                    f"Unpacking the file needs more than {human_bytes(2**WINDOW_LOG)} of memory.",
                    advice="Pack it again without --long or in a lower level, or unpack it.",
                ) from error
            raise damaged(f"at about byte {at:,}", error) from error
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


def damaged(where: str, error: Exception) -> SourceProblem:
    """The problem that the compressed data cannot be unpacked at this place."""
    return SourceProblem(f"The compressed data is damaged {where}: {error}.", advice=AGAIN)


_UNPACK: dict[str, Callable[[Readable], Iterator[Piece]]] = {"gzip": _gzip, "zstd": _zstd, "bz2": _bzip2, "xz": _xz}
MAGIC = {"gzip": _GZIP_MAGIC, "zstd": _ZSTD_MAGIC, "bz2": _BZIP2_MAGIC, "xz": _XZ_MAGIC}


def as_it_is(fd: Readable) -> Iterator[Piece]:
    """The bytes of an open file that is not compressed, from its start."""
    at = 0
    while data := read_at(fd, PIECE_BYTES, at):
        at += len(data)
        yield Piece(data, at)


def decompressed(fd: Readable, packing: str) -> Iterator[Piece]:
    """Decompress an open file from its start, by one of MAGIC.

    Raises SourceProblem for a file that is cut or damaged, or that has other data after the compressed data.
    """
    return _UNPACK[packing](fd)
