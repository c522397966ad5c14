"""Files over FTP, with and without TLS: listed, fetched, moved and deleted."""

import pytest

from importer.connections import operations
from importer.connections.protocols import ftp
from importer.engine.errors import Problem, SourceChanged
from importer.models import SourceConnection, SourceFile
from tests.file_servers.certificates import certificate_of_localhost
from tests.file_servers.ftp import ftp_files
from tests.importer.connections.protocol_checks import (
    expect_missing_base_reported,
    expect_names_in_utf8,
    expect_refusal,
    find,
)

DATA = b"id,name\n" + b"1,one\n" * 50_000

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return certificate_of_localhost(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(params=["ftp", "ftps", "old"])
def server(request, tmp_path, certificate):
    """FTP servers without TLS, with TLS, and without MLSD and MLST."""
    (tmp_path / "files").mkdir()
    with ftp_files(tmp_path / "files", certificate if request.param == "ftps" else None) as started:
        if request.param == "old":
            del started.commands["MLSD"], started.commands["MLST"]
        yield started


@pytest.fixture
def connection(server, certificate, tmp_path, settings):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    connection = SourceConnection(name="ftp", kind="ftp", base=server.url, private_allowed=True)
    connection.settings = {"user": "me", "tls_ca": str(certificate)}
    connection.set_secrets({"password": "secret"})
    connection.save()
    return connection


def put(path, data=DATA):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_an_ftp_file_is_copied_once(server, connection):
    for name in ("b.csv", "a file.csv", ".h.csv", "c.csv.part", "2026/d.csv"):
        put(server.root / name)
    assert [each.name for each in find(connection)] == ["a file.csv", "b.csv"]
    assert find(connection, "{date+1m:%Y}/x/*.csv") == []
    (found,) = find(connection, "{date:%Y}/*")
    assert abs(found.modified_at.timestamp() - (server.root / "2026/d.csv").stat().st_mtime) <= 1
    source = operations.fetch(connection, found)
    assert (source.name, source.size, source.owned, source.status) == ("d.csv", len(DATA), True, "ready")
    assert source.file.read_bytes() == DATA
    assert operations.fetch(connection, found) == source
    if "MLSD" in server.commands:
        assert [each.name for each in find(connection, subfolders=True)] == ["2026/d.csv", "a file.csv", "b.csv"]


def test_a_link_to_a_folder_above_leads_nowhere(server, connection):
    put(server.root / "in/a.csv")
    (server.root / "in/round").symlink_to(server.root / "in")
    (server.root / "in/up").symlink_to(server.root)
    for pattern in ("*.csv", "in/*.csv"):
        found = [each.name for each in find(connection, pattern, subfolders=True)]
        assert found == (["in/a.csv"] if pattern != "*.csv" or "MLSD" in server.commands else [])


def test_moves_and_deletes_once_however_often(server, connection):
    put(server.root / "in/a.csv")
    (found,) = find(connection, "in/*")
    for _ in range(2):
        operations.afterwards(connection, found, "move", "loaded/2026")
        assert [str(each.relative_to(server.root)) for each in server.root.rglob("*.csv")] == ["loaded/2026/a.csv"]
    put(server.root / "in/a.csv", b"another")
    with pytest.raises(Problem, match="already"):
        operations.afterwards(connection, find(connection, "in/*")[0], "move", "loaded/2026")
    (moved,) = find(connection, "loaded/2026/*")
    for _ in range(2):
        operations.afterwards(connection, moved, "delete")
        assert not (server.root / "loaded/2026/a.csv").exists()


def test_one_that_grows_is_not_kept(server, connection):
    put(server.root / "a.csv")
    (found,) = find(connection)
    put(server.root / "a.csv", DATA * 2)
    with pytest.raises(SourceChanged):
        operations.fetch(connection, found)
    assert not SourceFile.objects.exists()
    for what in ("move", "delete"):
        with pytest.raises(SourceChanged):
            operations.afterwards(connection, found, what, "loaded")


@pytest.mark.parametrize(
    ("server", "change", "said"),
    [
        ("ftp", {"user": "you"}, "refuses the account"),
        ("ftp", {"private_allowed": False}, "of this machine"),
        ("ftp", {"base": "ftp://127.0.0.1:1/x"}, "does not answer"),
        ("ftps", {"tls_ca": ""}, "certificate is not trusted"),
    ],
    indirect=["server"],
)
def test_ftp_problems_are_reported(connection, change, said):
    expect_refusal(connection, change, said)


def test_the_check_says_whether_anything_is_encrypted(server, connection):
    statuses = {each["name"]: each["status"] for each in operations.check(connection)}
    assert statuses == {"connection": "ok"} | ({} if server.url.startswith("ftps:") else {"encryption": "warn"})


def test_a_missing_ftp_folder_is_reported(connection):
    expect_missing_base_reported(connection)


def test_only_names_in_utf8_are_listed(server, connection):
    expect_names_in_utf8(connection, server.root)


def test_a_time_that_is_no_date_counts_as_none():
    listed = ftp._listed_file("a.csv", {"type": "file", "size": "1", "modify": "20261399000000"})
    assert (listed.modified_at, listed.etag) == (None, "1-20261399000000")
