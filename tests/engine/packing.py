"""Compresses bytes in each of the engine's compression formats, by its name."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from functools import partial

from importer.engine.source.compression import zstd


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive of the named files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as writer:
        for name, content in files:
            writer.writestr(name, content)
    return archive.getvalue()


def stating(archive: bytes, files: int) -> bytes:
    """The archive, whose end states this number of files (APPNOTE.TXT 4.3.14 and 4.3.16)."""
    end, end_of_zip64 = archive.rfind(b"PK\x05\x06"), archive.rfind(b"PK\x06\x06")
    changed = bytearray(archive)
    changed[end + 8 : end + 12] = files.to_bytes(2, "little") * 2
    if end_of_zip64 >= 0:
        changed[end_of_zip64 + 24 : end_of_zip64 + 40] = files.to_bytes(8, "little") * 2
    return bytes(changed)


def zstd_packed(content: bytes) -> bytes:
    """Compress with a checksum, as the command zstd does. Without the optional checksum, damage may not be detected."""
    return zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1})


def tarred(*files: tuple[str, bytes], mode: str = "w") -> bytes:
    """A tar archive of the named files; a mode such as `w:gz` compresses it."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode=mode) as writer:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            writer.addfile(info, io.BytesIO(content))
    return archive.getvalue()


PACKED = {
    "gzip": gzip.compress,
    "zstd": zstd_packed,
    "zip": lambda content: zipped(("data.csv", content)),
    "bz2": partial(bz2.compress, compresslevel=1),
    "xz": partial(lzma.compress, preset=0),
}
