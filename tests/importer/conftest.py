"""For tests that take a job's steps themselves: its copies lie in a folder of its own. And servers that have files."""

from pathlib import Path

import pytest

from tests.file_servers.sftp import sftp_files


@pytest.fixture
def plain_dir(settings, tmp_path: Path) -> Path:
    """The folder for plain and sorted copies; rejects have another of the test's own."""
    settings.PLAIN_DIR, settings.REJECTS_DIR = tmp_path / "plain", tmp_path / "rejects"
    return settings.PLAIN_DIR


@pytest.fixture(scope="session")
def sftp_server(tmp_path_factory):
    with sftp_files(tmp_path_factory.mktemp("sftp")) as server:
        yield server
