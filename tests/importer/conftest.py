"""For tests that take a job's steps themselves: its copies lie in a folder of its own. And servers that have files."""

from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from importer.models import Target
from tests.file_servers.sftp import sftp_files
from tests.importer.word_file import word_file
from tests.targets import tables_target


@pytest.fixture
def target(request: pytest.FixtureRequest, database: Address, transactional_db) -> Target:
    """A target with a ledger, and with what the statements TABLES of the test's module make."""
    return tables_target(request, database)


@pytest.fixture
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file with as many rows as ROWS of the test's module says."""
    return word_file(tmp_path / "words.csv", range(request.module.ROWS))


@pytest.fixture
def plain_dir(settings, tmp_path: Path) -> Path:
    """The folder for plain and sorted copies; rejects have another of the test's own."""
    settings.PLAIN_DIR, settings.REJECTS_DIR = tmp_path / "plain", tmp_path / "rejects"
    return settings.PLAIN_DIR


@pytest.fixture(scope="session")
def sftp_server(tmp_path_factory):
    with sftp_files(tmp_path_factory.mktemp("sftp")) as server:
        yield server
