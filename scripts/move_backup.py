"""Rewrites a backup of an unreleased Millrace, so that version 0.1.0 restores it (docs/backup.md).

    python -m scripts.move_backup OLD.tar NEW.tar

Before 0.1.0 the tables came from 62 migrations, since then from one, which makes the same tables. So the new
backup names the one in place of the 62; its rows stay as they are. Needs Python alone.
"""

import io
import json
import os
import sqlite3
import sys
import tarfile
import tempfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

OLD_LAST, NEW = "0062_event_succeeded", "0001_initial"
MANIFEST, SQLITE = "manifest.json", "database.sqlite3"


def main() -> None:
    """Write NEW.tar, readable by its owner alone. Ends with a message if OLD.tar is no backup of the last state."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    old, new = map(Path, sys.argv[1:])
    with tarfile.open(old) as archive:
        manifest = _manifest(archive)
        descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with (
            os.fdopen(descriptor, "wb") as file,
            tarfile.open(fileobj=file, mode="w|", format=tarfile.PAX_FORMAT) as to,
        ):
            for member in archive:
                if member.name == SQLITE:
                    content = _with_one_migration(_read(archive, member, manifest))
                    manifest["files"][SQLITE] = {"size": len(content), "sha256": sha256(content).hexdigest()}
                    _add(to, SQLITE, content)
                elif member.name != MANIFEST:
                    to.addfile(member, archive.extractfile(member))
            _add(to, MANIFEST, json.dumps(manifest, indent=1).encode())
    print(f"{new} is written. To restore it: millrace backup restore {new}")


def _manifest(archive: tarfile.TarFile) -> dict[str, Any]:
    """The manifest with the one migration. Ends the process if the tables are not in the last state before it."""
    try:
        manifest: dict[str, Any] = json.loads(archive.extractfile(MANIFEST).read())  # type: ignore[union-attr]
    except KeyError:
        sys.exit(f"{archive.name!s} is no whole backup: it has no {MANIFEST}.")
    names = manifest["migrations"].get("importer", [])
    if OLD_LAST not in names:
        sys.exit(
            f"The backup's tables are as {max(names, default='nothing')} left them, not as {OLD_LAST}: update the old"
            " checkout to the last commit with that migration, run `millrace prepare` there, and make another backup."
        )
    manifest["migrations"]["importer"] = [NEW]
    return manifest


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo, manifest: dict[str, Any]) -> bytes:
    content: bytes = archive.extractfile(member).read()  # type: ignore[union-attr]
    if sha256(content).hexdigest() != manifest["files"][member.name]["sha256"]:
        sys.exit(f"{archive.name!s} is damaged in {member.name}.")
    return content


def _with_one_migration(database: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, SQLITE)
        path.write_bytes(database)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DELETE FROM django_migrations WHERE app = 'importer' AND name <> ?", (NEW,))
            connection.commit()
        return path.read_bytes()


def _add(to: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o600
    to.addfile(info, io.BytesIO(content))


if __name__ == "__main__":
    main()
