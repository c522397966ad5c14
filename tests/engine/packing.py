"""Compresses bytes in each of the engine's compression formats, by its name."""

import gzip
import io
import zipfile

from importer.engine.source.compression import zstd


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive of the named files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as writer:
        for name, content in files:
            writer.writestr(name, content)
    return archive.getvalue()


def zstd_packed(content: bytes) -> bytes:
    """Compress with a checksum, as the command zstd does. Without the optional checksum, damage may not be detected."""
    return zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1})


PACKED = {"gzip": gzip.compress, "zstd": zstd_packed, "zip": lambda content: zipped(("data.csv", content))}
