"""Ways to pack bytes, by the name that the engine has for each."""

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
    """With a checksum, as the command zstd writes it; the format does without, and then damage may not show."""
    return zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1})


PACKED = {"gzip": gzip.compress, "zstd": zstd_packed, "zip": lambda content: zipped(("data.csv", content))}
