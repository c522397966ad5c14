"""HTTPS with a private certificate authority: the connection's CA file makes its server trusted."""

from datetime import UTC, datetime

import pytest

from importer.connections import operations
from importer.models import SourceConnection
from tests.file_servers.certificates import certificate_of_localhost
from tests.file_servers.web import web_files

NOW = datetime(2026, 11, 21, tzinfo=UTC)
DATA = b"id,name\n" + b"1,one\n" * 5000

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return certificate_of_localhost(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def server(certificate):
    with web_files(certificate) as server:
        yield server


@pytest.fixture
def made(server):
    """Makes a connection to the server, with or without a CA file that trusts it."""

    def made(kind, tls_ca=""):
        address = f"https://localhost:{server.server_port}/"
        base = address if kind == "http" else "s3://files/in"
        connection = SourceConnection(name=kind, kind=kind, base=base, private_allowed=True)
        connection.settings = {"tls_ca": str(tls_ca)}
        if kind == "s3":
            connection.settings |= {"endpoint": address, "region": "us-east-1", "access_key": "key"}
            connection.set_secrets({"secret_key": "secret"})
        connection.save()
        return connection

    return made


def test_a_file_is_fetched_from_a_server_that_the_ca_file_trusts(made, server, certificate, tmp_path, settings):
    settings.UPLOAD_DIR = tmp_path
    server.files |= {"/": b"hello", "/a.csv": DATA}
    connection = made("http", certificate)
    assert [each["status"] for each in operations.check(connection)] == ["ok"]
    (found,) = operations.find(connection, "a.csv", NOW, UTC)
    assert operations.fetch(connection, found).file.read_bytes() == DATA


@pytest.mark.parametrize(
    ("kind", "said"), [("http", "certificate is not trusted"), ("s3", "CERTIFICATE_VERIFY_FAILED")]
)
def test_a_server_with_an_untrusted_certificate_gets_no_request(made, server, kind, said):
    (finding,) = operations.check(made(kind))
    assert (finding["status"], said in finding["message"]) == ("fail", True), finding
    assert server.sent == []


def test_a_store_with_a_trusted_certificate_gets_the_request(made, server, certificate):
    """The message says that the server is not an S3 store, which shows that it was contacted."""
    operations.check(made("s3", certificate))
    assert server.sent[0][1].startswith("/files?list-type=2")
