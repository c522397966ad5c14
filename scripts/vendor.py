"""Downloads the browser's libraries into static/vendor: run `python -m scripts.vendor` after a change of LIBRARIES.

Millrace downloads nothing when it runs. vendor.json records the origin of each file, and a test compares the two.
"""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"
# A reference to a source map that is not shipped makes collectstatic fail.
SOURCE_MAP = re.compile(rb"\s*(?://# sourceMappingURL=\S*|/\*# sourceMappingURL=.*?\*/)\s*\Z")


@dataclass(frozen=True)
class Library:
    """One npm package, and the files of it that pages load."""

    name: str
    version: str
    files: tuple[str, ...]

    @property
    def folder(self) -> str:
        """`NAME-VERSION`, without characters that are not allowed in a path."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}"


LIBRARIES = (
    Library("@tabler/core", "1.6.1", ("dist/css/tabler.min.css",)),
    Library("htmx.org", "2.0.11", ("dist/htmx.min.js",)),
    Library("idiomorph", "0.7.4", ("dist/idiomorph-ext.min.js",)),
    Library("chart.js", "4.6.1", ("dist/chart.umd.min.js",)),
    Library("tus-js-client", "4.3.1", ("dist/tus.min.js",)),
)


def main() -> None:
    """Replace static/vendor by the files of LIBRARIES."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "vendor"
        fresh.mkdir()
        record = [fetch(library, Path(scratch), fresh) for library in LIBRARIES]
        (fresh / "vendor.json").write_text(json.dumps(record, indent=2) + "\n")
        shutil.rmtree(VENDOR, ignore_errors=True)
        shutil.copytree(fresh, VENDOR)
    for each in record:
        print(f"{each['name']} {each['version']}: {', '.join(each['files'])}")


def fetch(library: Library, scratch: Path, into: Path) -> dict[str, Any]:
    """Pack one library, keep its files and its licence, and return its entry for vendor.json."""
    packed = subprocess.run(
        ["npm", "pack", "--json", f"{library.name}@{library.version}"],
        cwd=scratch,
        check=True,
        stdout=subprocess.PIPE,
    )
    (info,) = json.loads(packed.stdout)
    folder = into / library.folder
    folder.mkdir()
    with tarfile.open(scratch / info["filename"]) as tar:
        for path in library.files:
            (folder / Path(path).name).write_bytes(SOURCE_MAP.sub(b"\n", _member(tar, path)))
        for name in tar.getnames():
            if re.fullmatch(r"package/LICENSE(\.\w+)?", name):
                (folder / "LICENSE").write_bytes(_member(tar, name.removeprefix("package/")))
        licence = json.loads(_member(tar, "package.json"))["license"]
    return {
        "name": library.name,
        "version": library.version,
        "licence": licence,
        "tarball": info["integrity"],
        "files": {f"{library.folder}/{path.name}": sha384(path) for path in sorted(folder.iterdir())},
    }


def sha384(path: Path) -> str:
    """The digest of a file as browsers write it: `sha384-` and base64."""
    return "sha384-" + base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()


def _member(tar: tarfile.TarFile, path: str) -> bytes:
    member = tar.extractfile(f"package/{path}")
    if member is None:
        raise FileNotFoundError(path)
    return member.read()


if __name__ == "__main__":
    main()
