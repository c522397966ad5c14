"""For tests that take a job's steps themselves: its copies lie in a folder of its own. And servers that have files."""

from pathlib import Path

import pytest
import xxhash

from importer.sources.store.file_store import FileStore, file_store
from tests.file_servers import S3Files, s3_files, sftp_files


@pytest.fixture
def plain_dir(settings, tmp_path: Path) -> Path:
    """The folder for plain and sorted copies; rejects have another of the test's own."""
    settings.PLAIN_DIR, settings.REJECTS_DIR = tmp_path / "plain", tmp_path / "rejects"
    return settings.PLAIN_DIR


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory):
    with s3_files(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def store(s3_server: S3Files, settings, request) -> FileStore:
    """The installation has a store, below a prefix of this test's own."""
    settings.FILE_STORE = f"s3://files/{xxhash.xxh32_hexdigest(request.node.nodeid.encode())}"
    settings.FILE_STORE_ENDPOINT, settings.FILE_STORE_REGION = s3_server.url, "us-east-1"
    settings.FILE_STORE_ACCESS_KEY, settings.FILE_STORE_SECRET_KEY = s3_server.key, s3_server.secret
    made = file_store()
    assert made
    return made


@pytest.fixture(scope="session")
def sftp_server(tmp_path_factory):
    with sftp_files(tmp_path_factory.mktemp("sftp")) as server:
        yield server
