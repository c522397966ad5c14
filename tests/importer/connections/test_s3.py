"""Objects in a bucket: listed by prefix and pattern, read in ranges of one version, moved and deleted."""

import socket

import pytest

from importer.connections import operations
from importer.connections.protocols import s3
from importer.connections.source_location import location_of
from importer.engine.errors import Problem, SourceChanged
from importer.engine.source.byte_source import open_source, read_at, size_of
from importer.models import SourceConnection
from importer.sources.store import object_ranges, s3_client
from tests.importer.connections.protocol_checks import expect_refusal, find
from tests.stack import wait_until

DATA = bytes(range(256)) * 40

pytestmark = pytest.mark.django_db


@pytest.fixture
def put(s3_server, request):
    """Puts objects below a prefix of this test's own."""

    def put(name, data=DATA):
        s3_server.client.put_object(Bucket="files", Key=f"{request.node.name}/{name}", Body=data)

    return put


@pytest.fixture
def connection(s3_server, request):
    connection = SourceConnection(
        name="bucket", kind="s3", base=f"s3://files/{request.node.name}", private_allowed=True
    )
    connection.settings = {"endpoint": s3_server.url, "region": "us-east-1", "access_key": s3_server.key}
    connection.set_secrets({"secret_key": s3_server.secret})
    connection.save()
    return connection


def test_finds_by_pattern_page_by_page(connection, put, monkeypatch):
    for name in ("2026/b.csv", "2026/a.csv", "2026/.h.csv", "2026/c.csv.tmp", "2026/deep/d.csv", "2025/e.csv", "f.csv"):
        put(name)
    assert [each.name for each in find(connection, "{date:%Y}/*.csv")] == ["2026/a.csv", "2026/b.csv"]
    assert [each.name for each in find(connection, "20*/?.csv")] == ["2025/e.csv", "2026/a.csv", "2026/b.csv"]
    every = find(connection, subfolders=True)
    assert [each.name for each in every] == ["2025/e.csv", "2026/a.csv", "2026/b.csv", "2026/deep/d.csv", "f.csv"]
    assert every[0].size == len(DATA)
    monkeypatch.setattr("importer.connections.listed_files.MOST_FOUND", 4)
    with pytest.raises(Problem, match="More than 4 files"):
        find(connection, subfolders=True)


@pytest.mark.parametrize("later", ["127.0.0.1", "169.254.169.254"])
def test_an_endpoint_s_name_may_mean_no_other_address_after_the_check(connection, put, monkeypatch, later):
    put("a.csv")
    checked, real = [], socket.getaddrinfo

    def look_up(host, *args, **kwargs):
        if host != "moving.example":
            return real(host, *args, **kwargs)
        checked.append(host)
        return real(later if len(checked) > 1 else "127.0.0.1", *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(s3_client, "ATTEMPTS", 1)
    connection.settings["endpoint"] = connection.settings["endpoint"].replace("127.0.0.1", "moving.example")
    s3_client.cached_client.cache_clear()
    if later == "127.0.0.1":
        assert [each.name for each in find(connection)] == ["a.csv"]
    else:
        with pytest.raises(Problem, match="metadata"):
            find(connection)
    assert len(checked) > 1


def test_an_object_is_read_in_ranges_of_the_listed_version(connection, put, monkeypatch):
    monkeypatch.setattr(object_ranges, "WINDOW", 1000)
    put("a.csv")
    (found,) = find(connection)
    source = operations.fetch(connection, found)
    assert (source.name, source.size, source.owned, source.status) == ("a.csv", len(DATA), False, "ready")
    assert operations.fetch(connection, found) == source
    with open_source(location_of(source)) as ranges:
        assert size_of(ranges) == len(DATA)
        for offset, size in ((0, 10), (5, 990), (999, 2), (3, 5000), (len(DATA) - 1, 9), (len(DATA), 9)):
            assert read_at(ranges, size, offset) == DATA[offset : offset + size]
        put("a.csv", DATA[::-1])
        with pytest.raises(SourceChanged):
            read_at(ranges, 10, 5000)
    with pytest.raises(SourceChanged), open_source(location_of(source)):
        pass
    for what in ("move", "delete"):
        with pytest.raises(SourceChanged):
            operations.afterwards(connection, found, what, "loaded")


def test_the_next_window_is_requested_ahead_for_consecutive_reads(connection, put, monkeypatch):
    requested_ranges = []
    read = s3.Bucket.read
    monkeypatch.setattr(object_ranges, "WINDOW", 1000)
    monkeypatch.setattr(s3.Bucket, "read", lambda *args: (requested_ranges.append(args[3:]), read(*args))[1])
    put("a.csv")
    (found,) = find(connection)
    with open_source(location_of(operations.fetch(connection, found))) as ranges:
        assert read_at(ranges, 900, 0) == DATA[:900]
        assert requested_ranges == [(0, 1000)]
        assert read_at(ranges, 300, 900) == DATA[900:1200]
        wait_until(lambda: requested_ranges == [(0, 1000), (1000, 1000), (2000, 1000)], what="a third request")
        assert b"".join(read_at(ranges, 700, offset) for offset in range(0, len(DATA), 700)) == DATA
    assert sum(length for _, length in requested_ranges[3:]) == len(DATA)


def test_moves_and_deletes_once_however_often(connection, put):
    put("in/a.csv")
    (found,) = find(connection, "in/*")
    source = operations.fetch(connection, found)
    for _ in range(2):
        operations.afterwards(connection, found, "move", "loaded")
        assert [each.name for each in find(connection, subfolders=True)] == ["loaded/a.csv"]
    source.refresh_from_db()
    with open_source(location_of(source)) as ranges:
        assert read_at(ranges, 3, 0) == DATA[:3]
    put("in/a.csv", b"another")
    with pytest.raises(Problem, match=r"There is a loaded/a\.csv already"):
        operations.afterwards(connection, find(connection, "in/*")[0], "move", "loaded")
    (moved,) = find(connection, "loaded/*")
    for _ in range(2):
        operations.afterwards(connection, moved, "delete")
        assert find(connection, "loaded/*") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"base": "s3://nowhere/x"}, "not there|NoSuchBucket"),
        ({"access_key": "wrong"}, "refuses it"),
        ({"endpoint": "http://169.254.169.254"}, "metadata"),
        ({"private_allowed": False}, "of this machine"),
    ],
)
def test_s3_problems_are_reported(connection, change, said):
    expect_refusal(connection, change, said)


def test_the_check_counts_what_is_there(connection, put):
    put("a.csv")
    assert [each["status"] for each in operations.check(connection)] == ["ok", "warn"]
    assert "1 objects" in connection.findings[0]["message"]
