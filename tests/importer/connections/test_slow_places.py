"""A place that sends a byte now and then ends with a message, whatever the file's size. Our own time does not count."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest

from importer.connections import operations
from importer.connections.listed_files import ListedFile
from importer.engine.errors import NoConnection, Problem, SourceProblem
from importer.engine.mysql.waits import LOOK_SECONDS, Pace
from importer.models import SourceConnection, SourceFile
from importer.security import outbound_waits
from tests.file_servers.certificates import certificate_of_localhost
from tests.file_servers.ftp import ftp_files
from tests.file_servers.slow import slow_after
from tests.file_servers.web import web_files
from tests.importer.connections.protocol_checks import find

pytestmark = pytest.mark.django_db

DATA = b"id,name\n" + b"1,one\n" * 50_000
QUICK = 100_000  # bytes that come at once: more than it takes to sign in, and to list
Make = Callable[[int], SourceConnection]


@pytest.fixture(autouse=True)
def short(monkeypatch, settings, tmp_path):
    """The times of the waits, which are for servers far away."""
    monkeypatch.setattr(outbound_waits, "WINDOW_SECONDS", 1.0)
    settings.UPLOAD_DIR = tmp_path / "uploads"


@pytest.fixture
def place(request, tmp_path) -> Iterator[Make]:
    """Makes a connection to the place of this kind with the file a.csv, which is slow after so many bytes."""
    with ExitStack() as opened:

        def made(quick: int) -> SourceConnection:
            kind, base, port, settings, secrets = PLACES[request.param](request, opened)
            way = opened.enter_context(slow_after(port, quick))
            there = re.compile(rf":{port}\b")
            found = SourceConnection(name="slow", kind=kind, base=there.sub(f":{way}", base), private_allowed=True)
            found.settings = {name: there.sub(f":{way}", value) for name, value in settings.items()}
            found.set_secrets(secrets)
            found.save()
            return found

        yield made


def web(_request, opened):
    server = opened.enter_context(web_files())
    server.files["/a.csv"] = DATA
    return "http", server.url, server.server_port, {}, {}


def secure_web(request, opened):
    certificate = certificate_of_localhost(request.getfixturevalue("tmp_path"))
    server = opened.enter_context(web_files(certificate))
    server.files["/a.csv"] = DATA
    return "http", f"https://localhost:{server.server_port}/", server.server_port, {"tls_ca": str(certificate)}, {}


def sftp(request, _opened):
    server = request.getfixturevalue("sftp_server")
    folder = server.root / "slow"
    folder.mkdir(exist_ok=True)
    (folder / "a.csv").write_bytes(DATA)
    port = int(server.url.rpartition(":")[2])
    return "sftp", f"{server.url}/slow", port, {"user": "me", "host_key": server.host_key}, {"password": "secret"}


def s3(request, _opened):
    server = request.getfixturevalue("s3_server")
    server.client.put_object(Bucket="files", Key="slow/a.csv", Body=DATA)
    settings = {"endpoint": server.url, "region": "us-east-1", "access_key": server.key}
    return "s3", "s3://files/slow", int(server.url.rpartition(":")[2]), settings, {"secret_key": server.secret}


def ftp(request, opened):
    """Its files come by connections of their own, so that the server itself must be slow for that."""
    root = request.getfixturevalue("tmp_path") / "ftp"
    root.mkdir()
    (root / "a.csv").write_bytes(DATA)
    server = opened.enter_context(ftp_files(root))
    server.send_slowly()
    return "ftp", server.url, int(server.url.rpartition(":")[2]), {"user": "me"}, {"password": "secret"}


PLACES = {"http": web, "https": secure_web, "sftp": sftp, "s3": s3, "ftp": ftp}
each_place = pytest.mark.parametrize("place", PLACES, indirect=True)


def read(connection: SourceConnection, file: ListedFile) -> None:
    """Copy the file, or read it where it is."""
    source = operations.fetch(connection, file)
    with operations.open_location(connection).opened(file.name, source.found_etag) as ranges:
        ranges.read(0, len(DATA))


@each_place
def test_a_file_that_comes_by_the_byte_ends_with_what_came_and_what_must(place: Make, monkeypatch):
    connection = place(QUICK)
    (found,) = find(connection, "a.csv")
    said = r"comes too slowly: [\d,]+ bytes so far, and fewer than 1,000 a second for 1 s"
    with pytest.raises(SourceProblem, match=said) as caught:
        read(connection, found)
    assert caught.value.retryable
    assert connection.base in caught.value.where
    assert "Try again later" in caught.value.advice
    assert not SourceFile.objects.filter(owned=True).exists()


@each_place
def test_answers_that_come_by_the_byte_end_with_what_came(place: Make, monkeypatch):
    monkeypatch.setattr(outbound_waits, "ANSWERS_SECONDS", 0.5)
    connection = place(0)
    with pytest.raises(NoConnection, match=r"take too long: [\d,]+ bytes came in \d+ s of waiting") as caught:
        find(connection, "a.csv")
    assert connection.base in caught.value.where


@pytest.mark.parametrize("place", ["http"], indirect=True)
def test_a_check_ends_with_all_that_a_check_may_take(place: Make, monkeypatch):
    monkeypatch.setattr(operations, "ASKING_SECONDS", 0.5)
    (only,) = operations.check(place(0))
    assert "take too long" in only["message"]


def test_only_the_time_in_which_a_place_is_waited_for_counts():
    pace, looks = Pace(least=1000, window=60), int(60 / LOOK_SECONDS)
    moved = count(0, 51)  # in each look: 1,020 a second
    assert not any(pace.is_slow(lambda: next(moved) * looks) for _ in range(3 * looks))
    assert any(pace.is_slow(lambda: 0) for _ in range(looks + 1))
    talk = outbound_waits._Talk("there", float("inf"), float("inf"), outbound_waits._Turn.OURS)
    for _ in range(20 * looks):
        talk.look(0.0)
    assert talk.problem is None


def test_a_part_of_a_talk_has_no_bounds_of_its_own():
    with outbound_waits.talking("there"), outbound_waits.own_work():
        with outbound_waits.talking("elsewhere"), outbound_waits.awaiting_file():
            talk = outbound_waits._TALK.get()
        assert talk is outbound_waits._TALK.get()
        assert (talk.where, talk.turn) == ("there", outbound_waits._Turn.OURS)
    assert outbound_waits._TALK.get() is None
    with pytest.raises(Problem, match="elsewhere"), outbound_waits.talking("there"):
        raise Problem("elsewhere")
