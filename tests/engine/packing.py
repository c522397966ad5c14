"""Ways to pack bytes, by the name that the engine has for each."""

import gzip
import io
import zipfile

from backports import zstd


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive of the named files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as writer:
        for name, content in files:
            writer.writestr(name, content)
    return archive.getvalue()


PACKED = {"gzip": gzip.compress, "zstd": zstd.compress, "zip": lambda content: zipped(("data.csv", content))}
