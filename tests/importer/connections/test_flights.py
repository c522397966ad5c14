"""The flights, from a real server of each kind: every row arrives, through ranges or a stream."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from importer.connections import operations
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.models import ImportJob, SourceConnection
from importer.sources.store import object_ranges
from scripts.flights import TABLE, flights_file
from tests.file_servers.ftp import ftp_files
from tests.importer.steps import import_of, run, until
from tests.stack import ROOT
from tests.targets import on_one_server, saved_target

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir")
ROWS = 6_000


@pytest.fixture(scope="session")
def flights() -> bytes:
    """The first ROWS flights of the year, with the header."""
    with flights_file(ROOT / "var" / "demo").open("rb") as file:
        return b"".join(islice(file, ROWS + 1))


@pytest.fixture
def web_source(web, flights) -> SourceConnection:
    web.files["/flights-20130101.csv"] = flights
    return SourceConnection(name="flights", kind="http", base=web.url)


@pytest.fixture
def sftp_source(sftp_server, flights) -> SourceConnection:
    (sftp_server.root / "flights").mkdir(exist_ok=True)
    (sftp_server.root / "flights/flights-20130101.csv").write_bytes(flights)
    connection = SourceConnection(name="flights", kind="sftp", base=f"{sftp_server.url}/flights")
    connection.settings = {"user": "me", "host_key": sftp_server.host_key}
    connection.set_secrets({"password": "secret"})
    return connection


@pytest.fixture
def s3_source(s3_server, flights, monkeypatch) -> SourceConnection:
    monkeypatch.setattr(object_ranges, "WINDOW", 2**18)
    s3_server.client.put_object(Bucket="files", Key="flights/flights-20130101.csv", Body=flights)
    connection = SourceConnection(name="flights", kind="s3", base="s3://files/flights")
    connection.settings = {"endpoint": s3_server.url, "region": "us-east-1", "access_key": s3_server.key}
    connection.set_secrets({"secret_key": s3_server.secret})
    return connection


@pytest.fixture
def ftp_source(tmp_path, flights) -> Iterator[SourceConnection]:
    (tmp_path / "ftp").mkdir()
    (tmp_path / "ftp/flights-20130101.csv").write_bytes(flights)
    with ftp_files(tmp_path / "ftp") as server:
        connection = SourceConnection(name="flights", kind="ftp", base=server.url)
        connection.settings = {"user": "me"}
        connection.set_secrets({"password": "secret"})
        yield connection


@pytest.fixture
def folder_source(tmp_path, flights, settings) -> SourceConnection:
    settings.IMPORT_FOLDERS = [tmp_path / "folder"]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/flights-20130101.csv").write_bytes(flights)
    return SourceConnection(name="flights", kind="folder", base=str(tmp_path / "folder"))


def planned(connection: SourceConnection, database) -> ImportJob:
    """An import of the connection's file into a new table of flights."""
    connection.private_allowed = True
    connection.save()
    with connect(database) as server:
        execute(server, TABLE)
    (found,) = operations.find(connection, "flights-{date:%Y%m%d}.csv", datetime(2013, 1, 1, tzinfo=UTC), UTC)
    source = operations.fetch(connection, found)
    options = Options(chunk_bytes=2**17)
    return import_of(source, saved_target(database), "flights", options=options)


@pytest.mark.parametrize("kind", ["web", "sftp", "ftp", "s3"])
@on_one_server
def test_every_row_arrives(kind, database, transactional_db, settings, tmp_path: Path, flights, request):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    job = run(planned(request.getfixturevalue(f"{kind}_source"), database))
    assert (job.status, job.balanced, job.outside_changes_json) == ("succeeded", True, []), job.problem
    with connect(database) as server:
        assert fetch_all(server, "SELECT COUNT(*), MIN(day) FROM flights") == [(ROWS, 1)]
    # Where ranges can be read, nothing was copied.
    assert settings.UPLOAD_DIR.exists() == (kind != "s3")
    assert job.chunks.count() > 2


@pytest.mark.parametrize(("more", "change"), [(b"2013,1\n", ("grown", 7)), (b"", ("changed", 0))])
@pytest.mark.parametrize("kind", ["web", "sftp", "ftp", "s3", "folder"])
@on_one_server
def test_a_file_that_is_written_meanwhile(
    kind, database, transactional_db, settings, tmp_path, flights, request, more, change
):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    connection = request.getfixturevalue(f"{kind}_source")
    job = planned(connection, database)
    until(job, "verify")
    written = (flights + more) if more else flights[:-100]
    if kind == "web":
        request.getfixturevalue("web").files["/flights-20130101.csv"] = written
    elif kind == "s3":
        client = request.getfixturevalue("s3_server").client
        client.put_object(Bucket="files", Key="flights/flights-20130101.csv", Body=written)
    else:
        root = request.getfixturevalue("sftp_server").root / "flights" if kind == "sftp" else tmp_path / kind
        (root / "flights-20130101.csv").write_bytes(written)
    job = run(job)
    assert (job.status, job.loaded_rows) == ("succeeded", ROWS)
    assert [(each["kind"], each["bytes"]) for each in job.outside_changes_json] == [change]


@on_one_server
def test_a_place_that_does_not_answer_at_the_end_is_named(
    web_source, web, database, transactional_db, settings, tmp_path
):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    job = planned(web_source, database)
    until(job, "verify")
    SourceConnection.objects.update(base="http://127.0.0.1:9")
    job = run(job)
    (change,) = job.outside_changes_json
    assert (job.status, change["kind"]) == ("succeeded", "unknown")
    assert change["what"].startswith("Whether flights-20130101.csv has changed since it was read is not known: ")
