"""The dump of the old version, migrated once, and a copy of it for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from tests.importer.migrations.old_database import (
    KEY,
    OldDatabase,
    migrate,
    read_dump,
    used_by_the_application,
    warehouse,
)
from tests.targets import TestServer


@pytest.fixture(scope="session")
def sales(servers: dict[str, TestServer]) -> Iterator[Address]:
    """A server with the tables that the old imports went into."""
    with warehouse(servers["mariadb"].address) as address:
        yield address


@pytest.fixture(scope="session")
def dumped(sales: Address, tmp_path_factory: pytest.TempPathFactory) -> OldDatabase:
    """As the old version left it."""
    return read_dump(tmp_path_factory.mktemp("dumped"), sales.port)


@pytest.fixture(scope="session")
def migrated(sales: Address, tmp_path_factory: pytest.TempPathFactory) -> OldDatabase:
    """The same after `manage.py migrate`."""
    base = read_dump(tmp_path_factory.mktemp("migrated"), sales.port)
    migrate(base)
    return base


@pytest.fixture
def old(migrated: OldDatabase, tmp_path: Path, settings, django_db_blocker) -> Iterator[OldDatabase]:
    """The application works on a copy of the migrated database."""
    base = migrated.copied_to(tmp_path)
    settings.ENCRYPTION_KEYS = [KEY]
    settings.UPLOAD_DIR, settings.REJECTS_DIR = base.var_dir / "uploads", base.var_dir / "rejects"
    settings.PLAIN_DIR, settings.IMPORT_FOLDERS = base.var_dir / "plain", [str(base.var_dir / "incoming")]
    with django_db_blocker.unblock(), used_by_the_application(base.file):
        yield base
