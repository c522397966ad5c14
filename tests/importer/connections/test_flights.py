"""The flights, from a real server of each kind: every row arrives, through ranges or a stream."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from importer import jobs
from importer.connections import operations
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.models import SourceConnection
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources.store import object_ranges
from scripts.flights import TABLE, flights_file
from tests.file_servers.ftp import ftp_files
from tests.importer.steps import run
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
    (sftp_server.root / "flights").mkdir()
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


@pytest.mark.parametrize("kind", ["web", "sftp", "ftp", "s3"])
@on_one_server
def test_every_row_arrives(kind, database, transactional_db, settings, tmp_path: Path, flights, request):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    connection = request.getfixturevalue(f"{kind}_source")
    connection.private_allowed = True
    connection.save()
    with connect(database) as server:
        execute(server, TABLE)
    (found,) = operations.find(connection, "flights-{date:%Y%m%d}.csv", datetime(2013, 1, 1, tzinfo=UTC), UTC)
    source = operations.fetch(connection, found)
    options = Options(chunk_bytes=2**17)
    job = run(jobs.create(prepare(source, saved_target(database), "flights", ImportRequest(options=options))))
    assert (job.status, job.balanced) == ("succeeded", True), job.problem
    with connect(database) as server:
        assert fetch_all(server, "SELECT COUNT(*), MIN(day) FROM flights") == [(ROWS, 1)]
    # Where ranges can be read, nothing was copied.
    assert settings.UPLOAD_DIR.exists() == (kind != "s3")
    assert job.chunks.count() > 2
