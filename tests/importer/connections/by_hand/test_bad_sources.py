"""Sources that are mistyped, missing, too many, different or closed: refused by command, API and browser alike."""

import html
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from importer.models import ImportJob, Level, SourceConnection, SourceFile
from importer.sources import limits
from tests.dashboard.api.program import Program
from tests.people import operator
from tests.targets import target_with

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db")
TABLE = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(12))"


@pytest.fixture
def folder(tmp_path: Path, settings, monkeypatch) -> Path:
    """Two files of different columns, in a folder that is a connection."""
    monkeypatch.setattr("importer.connections.protocols.folder.SETTLED", 0)
    settings.IMPORT_FOLDERS, settings.UPLOAD_DIR = [str(tmp_path)], tmp_path / "uploads"
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("id,name\n1,one\n")
    (folder / "b.csv").write_text("id,title\n2,two\n")
    SourceConnection.objects.create(name="in", kind="folder", base=str(folder))
    return folder


class Doors:
    """What an import of files of a connection is answered by each door, to a person with grants on everything."""

    def __init__(self, address, client) -> None:
        self.target, self.client, self.ann = target_with(address, TABLE), client, operator("ann", Level.LOAD)
        client.force_login(self.ann)

    def command(self, *files: str, code: int = 4) -> str:
        words = (*files, "--to", self.target.name, "--table", "t", "--in-process")
        with pytest.raises(CommandError) as refused:
            call_command("import_csv", *words)
        assert refused.value.returncode == code
        return str(refused.value)

    def api(self, connection: str, *paths: str) -> str:
        wanted = {"connection": connection, "paths": paths, "target": self.target.name, "table": "t"}
        answer = Program(self.ann).send("POST", "imports", wanted)
        assert answer.status_code == 422, answer.content
        return str(answer.json()["detail"])

    def browser(self, connection: str, *names: str, pattern: str = "") -> str:
        """The page after these files were chosen, or with the pattern."""
        pk = SourceConnection.objects.get(name=connection).pk
        address = reverse("new_from", args=[pk])
        send = self.client.get if pattern else self.client.post
        answer = send(address, {"pattern": pattern} if pattern else {"name": names}, follow=True)
        return " ".join(html.unescape(answer.content.decode()).split())


@pytest.fixture
def doors(mariadb, client, folder) -> Iterator[Doors]:
    yield Doors(mariadb, client)
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("htps://example.org/a.csv", "Did you mean https://?"),
        ("https:/example.org/a.csv", "Did you mean https://?"),
        ("mysq://localhost/db.t", "Did you mean mysql://?"),
        ("gopher://example.org/a.csv", "Write https://HOST/PATH/FILE"),
    ],
)
def test_a_mistyped_address_is_named_with_the_one_that_is_meant(name, said, doors, settings):
    refused = doors.command(name)
    assert name in refused
    assert said in refused
    settings.WEB_ADDRESSES = True
    answer = doors.client.post(reverse("new_places"), {"address": name}, follow=True)
    assert "Only https:// addresses can be given here" in html.unescape(answer.content.decode())
    assert not SourceFile.objects.exists()


def test_a_pattern_that_finds_nothing(doors, folder):
    assert f"{folder}/c-*.csv: No file matches." in doors.command(f"{folder}/c-*.csv")
    assert "c-*.csv: No file matches." in doors.api("in", "c-*.csv")
    assert "No file matches" in doors.browser("in", pattern="c-*.csv") or "No files" in doors.browser(
        "in", pattern="c-*"
    )


def test_a_pattern_that_finds_too_many(doors, folder, monkeypatch):
    monkeypatch.setattr(limits, "MOST_FILES", 1)
    said = "2 files match; one import takes at most 1."
    assert said in doors.command(f"{folder}/*.csv")
    assert said in doors.api("in", "*.csv")
    assert said in doors.browser("in", "a.csv", "b.csv")


def test_files_of_two_headers(doors, folder):
    said = "only a.csv has name, only b.csv has title"
    assert said in doors.command(f"{folder}/*.csv")
    assert said in doors.api("in", "*.csv")
    assert said in self_opened(doors)


def self_opened(doors: Doors) -> str:
    """The page of the new import of both files, with its target and table."""
    doors.browser("in", "a.csv", "b.csv")
    source = SourceFile.objects.filter(file_count=2).latest("pk")
    chosen = {"target": doors.target.pk, "table": "t"}
    answer = doors.client.get(reverse("new_source", args=[source.key]), chosen)
    return " ".join(html.unescape(answer.content.decode()).split())


@contextmanager
def closed_store() -> Iterator[str]:
    """A store that refuses every request, as S3 does without rights."""

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Nothing is written."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_bucket_without_rights(doors, monkeypatch):
    with closed_store() as url:
        for name, value in {"ENDPOINT_URL": url, "ACCESS_KEY_ID": "me", "SECRET_ACCESS_KEY": "x"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        assert "The store refuses it: Access Denied. Look at the keys." in doors.command("s3://bucket/a.csv")
        made = SourceConnection(name="s3", kind="s3", base="s3://bucket", private_allowed=True)
        made.settings = {"endpoint": url, "access_key": "me", "region": "eu-west-1"}
        made.set_secrets({"secret_key": "x"})
        made.save()
        # Only admins see why there is no connection.
        for told in (doors.api("s3", "*.csv"), doors.browser("s3", "a.csv"), doors.browser("s3", pattern="*")):
            assert "There is no connection to the place" in told
            assert "Access Denied" not in told
    assert not SourceFile.objects.exists()
