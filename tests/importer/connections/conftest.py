import pytest

from tests.file_servers.web import MODIFIED, web_files


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
    web_server.modified, web_server.etags = MODIFIED, True
    return web_server
