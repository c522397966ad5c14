"""Schedules on a folder of their own, whose runs a test advances itself."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from importer import schedules
from importer.connections.protocols import folder as folders
from importer.engine.mysql.connection import Address
from importer.models import Schedule, SourceConnection
from importer.preparation.prepare import prepare
from importer.preparation.presets import save
from importer.schedules import ScheduleRequest
from importer.sources import uploads
from tests.engine.loads import run_sql
from tests.file_servers.ftp import ftp_files
from tests.targets import on_mariadb, saved_target

TABLE = "CREATE TABLE t (n INT, word VARCHAR(20)) CHARACTER SET utf8mb4"
HEADER = "n,word\n"
database = on_mariadb


def drop(folder: Path, name: str, rows: str = "1,one\n", header: str = HEADER) -> Path:
    """A file that was last written to a minute ago, by its modification time."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(header + rows)
    shift_time(path, -1 / 60)
    return path


def shift_time(path: Path, hours: float) -> None:
    """Set the file's modification time so many hours off, as another clock or a copy does."""
    time = path.stat().st_mtime + hours * 3600
    os.utime(path, (time, time))


@pytest.fixture
def folder(tmp_path: Path, settings) -> Path:
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    path = tmp_path / "in"
    path.mkdir()
    return path


@pytest.fixture
def settled(monkeypatch) -> None:
    """Files count as written long ago. Their last change cannot be set back, and a run on arrival waits for it."""
    monkeypatch.setattr(folders, "SETTLED", 0.0)


@pytest.fixture
def ftp_connection(folder: Path, tmp_path: Path, settings, transactional_db) -> Iterator[SourceConnection]:
    """The folder on an FTP server."""
    settings.UPLOAD_DIR = tmp_path / "uploads"
    with ftp_files(folder) as server:
        connection = SourceConnection(name="ftp", kind="ftp", base=server.url, private_allowed=True)
        connection.settings = {"user": "me"}
        connection.set_secrets({"password": "secret"})
        connection.save()
        yield connection


@pytest.fixture
def make(folder: Path, tmp_path: Path, database: Address, transactional_db) -> Callable[..., Schedule]:
    """Schedules that load `*.csv` from the folder into the table t of a database on each server."""
    run_sql(database, TABLE)
    target = saved_target(database, "here")
    connection = SourceConnection.objects.create(name="incoming", kind="folder", base=str(folder))
    preset = save("words", prepare(uploads.register(drop(tmp_path, "first.csv")), target, "t"))

    def made(name: str = "nightly", user: User | None = None, **values) -> Schedule:
        request = ScheduleRequest(name=name, **{"connection": connection, "pattern": "*.csv", **values})
        return schedules.create(request, preset, user)

    return made
