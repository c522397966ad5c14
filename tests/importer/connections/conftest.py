import pytest

from tests.file_servers import s3_files, sftp_files, web_files


@pytest.fixture(scope="session")
def web_server():
    with web_files() as server:
        yield server


@pytest.fixture
def web(web_server):
    """The web server, without files."""
    web_server.files.clear()
    web_server.redirects.clear()
    web_server.sent.clear()
    web_server.refused = ""
    return web_server


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory):
    with s3_files(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def sftp_server(tmp_path_factory):
    with sftp_files(tmp_path_factory.mktemp("sftp")) as server:
        yield server
