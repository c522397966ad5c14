"""What is made once, because that takes long, and of which tests begin with a copy.

Databases of the application with all tables and nothing in them, as `manage.py migrate` leaves a new one, for each kind
of server; the static files, as `manage.py collectstatic` leaves them; and the data folders of new MariaDB servers. They
are kept in var/prepared, and made again when something changes that they are made of. Tests of migrating do without.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_name
from importer.management.processes.private_databases import PrivateMariaDB
from importer.targets import parse_url
from tests.stack import ROOT

KEPT = ROOT / "var" / "prepared"
DATABASE = "millrace.sqlite3"
# Separates statements: no migration writes it.
END = ";\n-- next --\n"


def copy_of_tables(file: Path) -> None:
    """Make this SQLite database of the application's, readable by its owner alone, with all tables."""
    with _kept("sqlite3", _tables()) as kept:
        if not kept.exists():
            with tempfile.TemporaryDirectory() as folder:
                _manage("migrate", "--skip-checks", VAR_DIR=folder, DATABASE_URL="")
                shutil.copyfile(Path(folder) / DATABASE, _new(kept))
                _new(kept).rename(kept)
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


def copy_static_files(folder: Path) -> None:
    """Fill this folder with the static files of all pages."""
    files = (each for each in (ROOT / "static").rglob("*") if each.is_file())
    with _kept("static", _digest(files)) as kept:
        if not kept.exists():
            with tempfile.TemporaryDirectory() as var_dir:
                _manage("collectstatic", "--no-input", VAR_DIR=var_dir, STATIC_DIR=str(_new(kept)))
            _new(kept).rename(kept)
        shutil.copytree(kept, folder, dirs_exist_ok=True)


def copy_data_folder(server: PrivateMariaDB) -> None:
    """Give the server, which has never run, the data folder of a new one."""
    program = Path(server.command()[0])
    options = sha256(repr(server.install_options).encode()).hexdigest()[:8]
    with _kept(f"{options}.mariadb", f"{program.stat().st_size}-{program.stat().st_mtime_ns}") as kept:
        if not kept.exists():
            made = PrivateMariaDB(_new(kept), install_options=server.install_options)
            made.prepare()
            made.data.rename(kept)
        # Its redo log is 96 MB of zeros.
        subprocess.run(["cp", "-r", "--sparse=always", str(kept), str(server.data)], check=True)


def address_of(url: str) -> Address:
    """Where the database of a DATABASE_URL is."""
    place = parse_url(url)
    return Address(place.host, place.port, place.user, place.password, place.database)


def _make_tables_on_server(url: str) -> None:
    with connect(address_of(url)) as connection:
        version = str(fetch_row(connection, "SELECT VERSION()")[0])
        with _kept(f"{sha256(version.encode()).hexdigest()[:8]}.sql", _tables()) as kept:
            if kept.exists():
                execute(connection, "SET foreign_key_checks = 0")
                for statement in kept.read_text().split(END):
                    execute(connection, statement)
                connection.commit()
                return
            with tempfile.TemporaryDirectory() as folder:
                _manage("migrate", "--skip-checks", VAR_DIR=folder, DATABASE_URL=url)
            _new(kept).write_text(END.join(_statements(connection)))
            _new(kept).rename(kept)


@contextmanager
def _kept(kind: str, digest: str) -> Iterator[Path]:
    """Where things of this kind are kept that are made of what has this digest; earlier ones are removed.

    Nobody else makes or reads one at that time.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = KEPT / f"{digest}.{kind}"
        for each in {*KEPT.glob(f"*.{kind}"), *KEPT.glob("*.new")} - {kept}:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        yield kept


def _new(kept: Path) -> Path:
    """Where it is made, before it is moved to its place."""
    return kept.with_name(f"{kept.name}.new")


def _tables() -> str:
    """The digest of all that tables depend on: migrations, models, and the packages that bring some of their own."""
    return _digest([*(ROOT / "importer/migrations").glob("*.py"), *(ROOT / "importer/models").rglob("*.py")])


def _digest(files: Iterable[Path]) -> str:
    """Of these files, the settings and the packages."""
    digest = sha256()
    for each in sorted((*files, ROOT / "config/settings.py", ROOT / "requirements.txt")):
        digest.update(str(each.relative_to(ROOT)).encode() + b"\0" + each.read_bytes())
    return digest.hexdigest()[:16]


def _manage(*command: str, **settings: str) -> None:
    own = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **settings}
    line = [sys.executable, "manage.py", *command, "-v0"]
    done = subprocess.run(line, cwd=ROOT, env=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _statements(connection: Connection) -> Iterator[str]:
    """What makes the tables of the database that is in use, and their rows."""
    for (table,) in fetch_all(connection, "SHOW TABLES"):
        yield str(fetch_row(connection, f"SHOW CREATE TABLE {quote_name(table)}")[1])
        if rows := fetch_all(connection, f"SELECT * FROM {quote_name(table)}"):
            values = ", ".join(connection.literal(row).decode() for row in rows)
            yield f"INSERT INTO {quote_name(table)} VALUES {values}"
