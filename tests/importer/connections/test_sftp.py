"""Files over SFTP: a confirmed host key; listed, fetched, moved and deleted."""

import pytest

from importer.connections import operations
from importer.engine.errors import Problem, SourceChanged
from importer.models import SourceConnection, SourceFile
from tests.importer.connections.protocol_checks import (
    expect_missing_base_reported,
    expect_names_in_utf8,
    expect_refusal,
    find,
)
from tests.people import operator

DATA = b"id,name\n" + b"1,one\n" * 50_000

pytestmark = pytest.mark.django_db


@pytest.fixture
def base(sftp_server, request):
    path = sftp_server.root / request.node.name.replace("/", "-")
    path.mkdir()
    return path


@pytest.fixture
def connection(sftp_server, base, tmp_path, settings):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    connection = SourceConnection(name="sftp", kind="sftp", base=f"{sftp_server.url}/{base.name}", private_allowed=True)
    connection.settings = {"user": "me", "host_key": sftp_server.host_key}
    connection.set_secrets({"password": "secret"})
    connection.save()
    return connection


def put(path, data=DATA):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_an_sftp_file_is_copied_once(sftp_server, base, connection):
    for name in ("b.csv", "a.csv", ".h.csv", "c.csv.part", "2026/d.csv"):
        put(base / name)
    (base / "link.csv").symlink_to("a.csv")
    assert [each.name for each in find(connection)] == ["a.csv", "b.csv"]
    assert [each.name for each in find(connection, subfolders=True)] == ["2026/d.csv", "a.csv", "b.csv"]
    assert find(connection, "{date+1m:%Y}/x/*.csv") == []
    (found,) = find(connection, "{date:%Y}/*")
    source = operations.fetch(connection, found)
    assert (source.name, source.size, source.owned, source.status) == ("d.csv", len(DATA), True, "ready")
    assert source.file.read_bytes() == DATA
    assert operations.fetch(connection, found) == source
    bob = operator("bob")
    assert operations.fetch(connection, found, bob).uploaded_by == bob


def test_sftp_accepts_a_private_key(sftp_server, base, connection):
    put(base / "a.csv")
    connection.set_secrets({"private_key": sftp_server.private_key})
    assert find(connection)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"host_key": ""}, "not confirmed yet"),
        ({"host_key": "SHA256:another"}, "not the one that was confirmed"),
        ({"user": "you"}, "refuses the account"),
        ({"private_allowed": False}, "of this machine"),
        ({"base": "sftp://127.0.0.1:1/x"}, "does not answer"),
    ],
)
def test_sftp_problems_are_reported_and_no_password_sent_to_an_unknown_server(connection, change, said):
    expect_refusal(connection, change, said)


def test_the_check_shows_the_key_to_confirm(sftp_server, connection):
    assert [each["status"] for each in operations.check(connection)] == ["ok", "ok"]
    connection.settings["host_key"] = ""
    (only,) = operations.check(connection)
    assert sftp_server.host_key in only["fix"]


def test_one_that_grows_is_not_kept(base, connection):
    put(base / "a.csv")
    (found,) = find(connection)
    put(base / "a.csv", DATA * 2)
    with pytest.raises(SourceChanged):
        operations.fetch(connection, found)
    assert not SourceFile.objects.exists()
    for what in ("move", "delete"):
        with pytest.raises(SourceChanged):
            operations.afterwards(connection, found, what, "loaded")


def test_moves_and_deletes_once_however_often(base, connection):
    put(base / "in/a.csv")
    (found,) = find(connection, "in/*")
    for _ in range(2):
        operations.afterwards(connection, found, "move", "loaded/2026")
        assert [str(each.relative_to(base)) for each in base.rglob("*.csv")] == ["loaded/2026/a.csv"]
    put(base / "in/a.csv", b"another")
    with pytest.raises(Problem, match="already"):
        operations.afterwards(connection, find(connection, "in/*")[0], "move", "loaded/2026")
    (moved,) = find(connection, "loaded/*/*")
    for _ in range(2):
        operations.afterwards(connection, moved, "delete")
        assert not (base / "loaded/2026/a.csv").exists()


def test_a_missing_sftp_folder_is_reported(connection):
    expect_missing_base_reported(connection)


def test_only_names_in_utf8_are_listed(base, connection):
    expect_names_in_utf8(connection, base)
