"""Databases of the application with all tables and nothing in them, as `manage.py migrate` leaves a new one.

Migrating takes seconds, so it is done once for each kind of server, and tests begin with a copy. The copies are kept in
var/prepared, and are made again when a migration, a setting or a package changes. Tests of migrating do not use them.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_name
from importer.targets import parse_url
from tests.stack import ROOT

KEPT = ROOT / "var" / "prepared"
DATABASE = "millrace.sqlite3"
# Separates statements: no migration writes it.
END = ";\n-- next --\n"


def copy_of_tables(file: Path) -> None:
    """Make this SQLite database of the application's, readable by its owner alone, with all tables."""
    with _kept("sqlite3") as kept:
        if not kept.exists():
            with tempfile.TemporaryDirectory() as folder:
                _migrate(Path(folder), "")
                _keep(kept, (Path(folder) / DATABASE).read_bytes())
        for each in ("-wal", "-shm"):
            file.with_name(file.name + each).unlink(missing_ok=True)
        shutil.copyfile(kept, file)
    file.chmod(0o600)


def make_tables(var_dir: Path, url: str) -> None:
    """Make all tables in the empty database of an installation; `url` is its DATABASE_URL, "" for SQLite."""
    if url:
        _make_tables_on_server(url)
    else:
        var_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy_of_tables(var_dir / DATABASE)


def address_of(url: str) -> Address:
    """Where the database of a DATABASE_URL is."""
    place = parse_url(url)
    return Address(place.host, place.port, place.user, place.password, place.database)


def _make_tables_on_server(url: str) -> None:
    with connect(address_of(url)) as connection:
        version = str(fetch_row(connection, "SELECT VERSION()")[0])
        with _kept(f"{sha256(version.encode()).hexdigest()[:8]}.sql") as kept:
            if kept.exists():
                execute(connection, "SET foreign_key_checks = 0")
                for statement in kept.read_text().split(END):
                    execute(connection, statement)
                connection.commit()
                return
            with tempfile.TemporaryDirectory() as folder:
                _migrate(Path(folder), url)
            _keep(kept, END.join(_statements(connection)).encode())


@contextmanager
def _kept(ending: str) -> Iterator[Path]:
    """Where the present tables are kept for one kind of server; nobody else makes or reads them at that time."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield KEPT / f"{_digest()}.{ending}"


def _keep(kept: Path, content: bytes) -> None:
    """Keep this, and nothing that was made of other migrations."""
    for each in KEPT.glob("*.*"):
        if not each.name.startswith(_digest()):
            each.unlink()
    made = kept.with_suffix(".new")
    made.write_bytes(content)
    made.rename(kept)


def _digest() -> str:
    """Of all that tables depend on: migrations, models, and the packages that bring some of their own."""
    files = [*(ROOT / "importer/migrations").glob("*.py"), *(ROOT / "importer/models").rglob("*.py")]
    files += [ROOT / "config/settings.py", ROOT / "requirements.txt"]
    digest = sha256()
    for each in sorted(files):
        digest.update(str(each.relative_to(ROOT)).encode() + b"\0" + each.read_bytes())
    return digest.hexdigest()[:16]


def _migrate(var_dir: Path, url: str) -> None:
    own = {"VAR_DIR": str(var_dir), "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "manage.py", "migrate", "-v0"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _statements(connection: Connection) -> Iterator[str]:
    """What makes the tables of the database that is in use, and their rows."""
    for (table,) in fetch_all(connection, "SHOW TABLES"):
        yield str(fetch_row(connection, f"SHOW CREATE TABLE {quote_name(table)}")[1])
        if rows := fetch_all(connection, f"SELECT * FROM {quote_name(table)}"):
            values = ", ".join(connection.literal(row).decode() for row in rows)
            yield f"INSERT INTO {quote_name(table)} VALUES {values}"
