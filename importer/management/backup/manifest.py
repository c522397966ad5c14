"""The manifest of a backup: what made it, and the size and SHA-256 of each file in it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from importer.engine.errors import Problem

FORMAT = 1
NAME = "manifest.json"


@dataclass(frozen=True)
class Stored:
    """A file in the archive: its size in bytes, and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a backup holds. `database`: sqlite or mysql. `uploads`: the folder that the paths in the database are in.

    `migrations`: the applied ones by application, which are the state of the tables.
    """

    format: int
    version: str
    made_at: str
    database: str
    migrations: Mapping[str, list[str]]
    uploads: str
    files: Mapping[str, Stored]

    def as_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()


def manifest_from_json(text: bytes) -> Manifest:
    """The manifest. Raises ValueError if it is none, and Problem if a newer version has written it."""
    values = json.loads(text)
    if not isinstance(values, dict) or not isinstance(values.get("format"), int):
        raise ValueError("no manifest")
    if values["format"] > FORMAT:
        raise _too_new(str(values.get("version")))
    try:
        files = {name: Stored(**each) for name, each in values.pop("files").items()}
        return Manifest(**values, files=files)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("no manifest") from error


def applied_migrations() -> dict[str, list[str]]:
    """The migrations of this installation's database that this program has, by application."""
    loader = MigrationLoader(connection)
    found: dict[str, list[str]] = {}
    for app, name in sorted(loader.applied_migrations.keys() & loader.disk_migrations.keys()):
        found.setdefault(app, []).append(name)
    return found


def refuse_newer(manifest: Manifest) -> None:
    """Raise Problem if the backup's tables are of a newer version than this program."""
    known = MigrationLoader(None).disk_migrations
    if any((app, name) not in known for app, names in manifest.migrations.items() for name in names):
        raise _too_new(manifest.version)


def _too_new(version: str) -> Problem:
    return Problem(
        f"The backup is of Millrace {version}, whose form or tables this one, {settings.VERSION}, does not know.",
        advice="Restore it with the program that made it or a later one (docs/backup.md).",
    )
