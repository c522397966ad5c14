"""The filled database, made once, and a copy of it for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.filled.filled_database import KEY, FilledDatabase, filled_database, used_by_the_application, warehouse
from tests.targets import TestServer


@pytest.fixture(scope="session")
def filled_once(servers: dict[str, TestServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilledDatabase]:
    """With the server that has the tables that the imports went into."""
    with warehouse(servers["mariadb"].address) as address:
        yield filled_database(tmp_path_factory.mktemp("filled"), address.port)


@pytest.fixture
def filled(filled_once: FilledDatabase, tmp_path: Path, settings, django_db_blocker) -> Iterator[FilledDatabase]:
    """The application works on a copy of it."""
    base = filled_once.copied_to(tmp_path)
    settings.ENCRYPTION_KEYS = [KEY]
    settings.UPLOAD_DIR, settings.REJECTS_DIR = base.var_dir / "uploads", base.var_dir / "rejects"
    settings.PLAIN_DIR, settings.IMPORT_FOLDERS = base.var_dir / "plain", [str(base.var_dir / "incoming")]
    with django_db_blocker.unblock(), used_by_the_application(base.file):
        yield base
