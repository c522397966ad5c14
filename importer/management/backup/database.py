"""The application's database in a backup: SQLite by its backup API, MySQL and MariaDB by the rows of their tables."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

from importer.engine.errors import Problem
from importer.management.backup import rows
from importer.management.backup.manifest import Manifest, applied_migrations
from importer.models import ImportJob, SourceFile, Target

STAGED = "staged"
FILES = {"sqlite": "database.sqlite3", "mysql": "database.jsonl.gz"}
# Their rows show that an installation is in use.
IN_USE: dict[str, type[Model]] = {"people": User, "targets": Target, "files": SourceFile, "imports": ImportJob}


def file_of(vendor: str) -> str:
    """The name of the database's file in an archive."""
    return FILES[vendor]


def write_snapshot(path: Path) -> None:
    """Write the database to a new file, as it is at one moment. Others may write at the same time.

    Raises Problem if that is not possible.
    """
    try:
        if connection.vendor == "sqlite":
            path.touch(mode=0o600, exist_ok=False)
            _copy(Path(connection.settings_dict["NAME"]), path)
        else:
            rows.write_rows(path)
    except (DatabaseError, sqlite3.Error) as error:
        raise Problem(
            f"The database cannot be copied: {error}.", str(path.parent), "Make room there; then try again."
        ) from error


def what_is_there() -> dict[str, int]:
    """How many people, targets, files and imports this installation has; only what there is."""
    tables = connection.introspection.table_names()
    counts = {name: model._default_manager.count() for name, model in IN_USE.items() if model._meta.db_table in tables}
    return {name: count for name, count in counts.items() if count}


def refuse_unfit(manifest: Manifest) -> None:
    """Raise Problem if the backup's database cannot come into this installation's."""
    if manifest.database != connection.vendor:
        raise Problem(
            f"The backup's database is {manifest.database}, this installation's is {connection.vendor}.",
            advice="DATABASE_URL chooses it: restore into one of the same kind.",
        )
    # The transaction that replaces the rows cannot change tables.
    has_tables = connection.vendor == "mysql" and connection.introspection.table_names()
    if has_tables and applied_migrations() != manifest.migrations:
        raise Problem(
            f"The backup is of an earlier version, {manifest.version}, whose tables differ.",
            advice="Restore it into a database without tables: CREATE DATABASE, and its name in DATABASE_URL.",
        )


def put_into_place(staged: Path, manifest: Manifest, adjust: Callable[[str], None]) -> None:
    """Replace the database's content by that of the staged file, all or nothing.

    `manage.py migrate` brings it up to date. Raises Problem, and changes nothing, if that is not possible.

    `adjust` changes the content by a connection of the name that it is given, before anybody else can see it.
    """
    try:
        if connection.vendor == "sqlite":
            with _connected(staged):
                adjust(STAGED)
            connection.close()
            _copy(staged, Path(connection.settings_dict["NAME"]))
        else:
            _migrate_to(manifest)
            with transaction.atomic():
                rows.replace_rows(staged)
                adjust(DEFAULT_DB_ALIAS)
    except (DatabaseError, sqlite3.Error, ValueError) as error:
        raise Problem(
            f"The database cannot take the backup: {error}.", advice="Nothing has been changed. Use another backup."
        ) from error


def _migrate_to(manifest: Manifest) -> None:
    """Make the tables of a database without any, in the backup's state."""
    if connection.introspection.table_names():
        return
    executor = MigrationExecutor(connection)
    wanted = {(app, name) for app, names in manifest.migrations.items() for name in names}
    nodes = {key: node for key, node in executor.loader.graph.node_map.items() if key in wanted}
    # Django would undo the later ones for a target that it has reached on the way to another.
    executor.migrate(
        [key for key, node in sorted(nodes.items()) if not any(each.key in nodes for each in node.children)]
    )


def _copy(source: Path, place: Path) -> None:
    """Copy a SQLite database in use: `place` gets all of it in one transaction (sqlite.org/backup.html)."""
    with closing(sqlite3.connect(source, timeout=30)) as old, closing(sqlite3.connect(place, timeout=30)) as new:
        old.backup(new)


@contextmanager
def _connected(file: Path) -> Iterator[None]:
    """A connection named STAGED to a SQLite database other than the application's own."""
    connections.settings[STAGED] = {**connections.settings[DEFAULT_DB_ALIAS], "NAME": str(file)}
    try:
        yield
    finally:
        connections[STAGED].close()
        del connections[STAGED]
        del connections.settings[STAGED]
