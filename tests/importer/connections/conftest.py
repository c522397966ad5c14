import pytest

from tests.file_servers.web import web_files


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
