"""What lies at a connection, and the first lines of its files, on real servers of each kind."""

from pathlib import Path

import pytest

from importer.connections.by_hand import connection_files
from importer.connections.by_hand.connection_files import FirstLines
from importer.models import SourceConnection, SourceFile
from tests.file_servers.ftp import ftp_files

pytestmark = pytest.mark.django_db
# More than one window, and more than what is read of it.
DATA = b"id,name\n" + b"1,one\n" * 5000
# Braces are dates in patterns, and the other signs are wildcards.
ODD = "{odd} [1]*"
NAMES = ("a.csv", "b.txt", "daily/c.csv", f"{ODD}/what?.csv")


def filled(root: Path) -> None:
    for name in NAMES:
        path = root / "chooser" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(DATA)


@pytest.fixture
def s3(s3_server) -> SourceConnection:
    for name in NAMES:
        s3_server.client.put_object(Bucket="files", Key=f"chooser/{name}", Body=DATA)
    connection = SourceConnection(name="c", kind="s3", base="s3://files/chooser")
    connection.settings = {"endpoint": s3_server.url, "region": "us-east-1", "access_key": s3_server.key}
    connection.set_secrets({"secret_key": s3_server.secret})
    return connection


@pytest.fixture
def sftp(sftp_server) -> SourceConnection:
    filled(sftp_server.root)
    connection = SourceConnection(name="c", kind="sftp", base=f"{sftp_server.url}/chooser")
    connection.settings = {"user": "me", "host_key": sftp_server.host_key}
    connection.set_secrets({"password": "secret"})
    return connection


@pytest.fixture
def ftp(tmp_path):
    filled(tmp_path)
    with ftp_files(tmp_path) as server:
        connection = SourceConnection(name="c", kind="ftp", base=f"{server.url}/chooser", settings={"user": "me"})
        connection.set_secrets({"password": "secret"})
        yield connection


@pytest.mark.parametrize("kind", ["s3", "sftp", "ftp"])
def test_folders_files_and_first_lines(kind, request, settings, tmp_path):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    connection = request.getfixturevalue(kind)
    connection.private_allowed = True
    connection.save()
    listing = connection_files.browse(connection, "", "*.csv")
    assert (listing.folders, [each.name for each in listing.files]) == (("daily", ODD), ["a.csv"])
    below = connection_files.browse(connection, "daily")
    assert (below.folders, [each.name for each in below.files]) == ((), ["daily/c.csv"])
    lines = connection_files.first_lines(connection, "daily/c.csv")
    assert lines == FirstLines(("id,name", *["1,one"] * 9), more=True)
    assert not settings.UPLOAD_DIR.exists()
    assert SourceFile.objects.count() == 0
    assert [each.name for each in connection_files.browse(connection, ODD).files] == [f"{ODD}/what?.csv"]
    source = connection_files.choose(connection, ["a.csv", "daily/c.csv", f"{ODD}/what?.csv"])
    assert [each.name for each in source.files] == ["a.csv", "c.csv", "what?.csv"]
