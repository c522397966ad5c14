"""Files on a web server: found by name, fetched once, and only below the base."""

import base64
from datetime import UTC, datetime

import pytest

from importer.connections import operations
from importer.connections.protocols import http
from importer.engine.errors import DiskFull, Problem, SourceChanged
from importer.models import SourceConnection, SourceFile
from importer.sources.uploads import TooLarge
from tests.file_servers.web import MODIFIED
from tests.importer.connections.protocol_checks import find
from tests.people import operator

DATA = b"id,name\n" + b"1,one\n" * 5000
OLDER = "Fri, 20 Nov 2026 10:00:00 GMT"

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(web, tmp_path, settings):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return SourceConnection.objects.create(name="web", kind="http", base=web.url, private_allowed=True)


def fetch(connection, name, user=None):
    (found,) = find(connection, name)
    return operations.fetch(connection, found, user)


class TestFind:
    def test_the_file_of_the_day_or_none(self, web, connection):
        web.files["/in/sales-20261120.csv?all=1"] = DATA
        (found,) = find(connection, "in/sales-{date-1d:%Y%m%d}.csv?all=1")
        assert (found.size, found.modified_at) == (len(DATA), datetime(2026, 11, 21, 10, tzinfo=UTC))
        assert found.etag
        assert find(connection, "in/sales-{date:%Y%m%d}.csv") == []
        assert [command for command, *_ in web.sent] == ["HEAD", "HEAD"]

    def test_from_a_server_that_knows_no_head(self, web, connection):
        web.files["/a.csv"], web.refused = DATA, "HEAD"
        assert find(connection, "a.csv")[0].size == len(DATA)

    def test_a_server_gives_no_list(self, connection):
        with pytest.raises(Problem, match="no list"):
            find(connection, "*.csv")

    @pytest.mark.parametrize("name", ["%2e%2e/a.csv", "in/%2E./a.csv"])
    def test_names_outside_the_base_are_refused(self, connection, name):
        with pytest.raises(Problem, match="leaves the connection's base"):
            find(connection, name)


class TestFetch:
    @pytest.mark.parametrize("folder", ["in", "chunked"])
    def test_keeps_a_copy_as_uploads_are_kept(self, web, connection, folder):
        web.files[f"/{folder}/a%20b.csv?x=1"] = DATA
        source = fetch(connection, f"{folder}/a b.csv?x=1")
        assert (source.name, source.size, source.status, source.owned) == ("a b.csv", len(DATA), "ready", True)
        assert source.file.read_bytes() == DATA
        assert source.connection == connection

    def test_an_unchanged_one_is_not_fetched_again(self, web, connection):
        web.files["/a.csv"] = DATA
        first = fetch(connection, "a.csv")
        assert fetch(connection, "a.csv") == first
        assert web.sent[-1][2]["If-None-Match"] == first.found_etag
        web.files["/a.csv"] = DATA + b"2,two\n"
        assert fetch(connection, "a.csv").size == len(DATA) + 6

    def test_a_copy_that_was_fetched_for_somebody_else_is_not_used(self, web, connection):
        ann, bob = operator("ann"), operator("bob")
        web.files["/a.csv"] = DATA
        hers, his = fetch(connection, "a.csv", ann), fetch(connection, "a.csv", bob)
        assert (hers.uploaded_by, his.uploaded_by) == (ann, bob)
        assert fetch(connection, "a.csv", ann) == hers
        assert fetch(connection, "a.csv").uploaded_by is None

    @pytest.mark.parametrize("data", [DATA, DATA + b"2,two\n"])
    def test_without_etags_one_that_is_replaced_by_an_older_one_is_fetched(self, web, connection, data):
        web.files["/a.csv"], web.etags = DATA, False
        first = fetch(connection, "a.csv")
        assert fetch(connection, "a.csv") == first
        assert web.sent[-1][2]["If-Modified-Since"] == web.modified
        web.files["/a.csv"], web.modified = data, OLDER
        again = fetch(connection, "a.csv")
        assert again != first
        assert again.file.read_bytes() == data

    @pytest.mark.parametrize(
        ("etags", "data", "modified"),
        [
            (True, b"other", MODIFIED),
            (True, b"other", ""),
            (False, b"other", MODIFIED),
            (False, DATA, OLDER),
            (False, DATA, ""),
        ],
    )
    def test_a_file_that_changed_since_it_was_listed_is_retryable(self, web, connection, etags, data, modified):
        web.files["/a.csv"], web.etags = DATA, etags
        (found,) = find(connection, "a.csv")
        web.files["/a.csv"], web.modified = data, modified
        with pytest.raises(SourceChanged) as caught:
            operations.fetch(connection, found)
        assert caught.value.retryable

    def test_a_file_that_is_generated_for_each_request_is_fetched(self, web, connection):
        web.files["/a.csv"], web.etags, web.modified = DATA, False, ""
        (found,) = find(connection, "a.csv")
        web.files["/a.csv"] = b"other"
        assert operations.fetch(connection, found).size == 5

    @pytest.mark.parametrize(
        ("name", "said"),
        [("broken/a.csv", "ended too early"), ("endless/a.csv", "does not say how long"), ("silent/a.csv", "nothing")],
    )
    def test_an_incomplete_download_is_not_kept(self, web, connection, monkeypatch, settings, name, said):
        monkeypatch.setattr(http, "SILENCE", 0.3)
        web.files[f"/{name}"] = DATA
        with pytest.raises(Problem, match=said):
            fetch(connection, name)
        self.require_nothing_kept(settings)

    @pytest.mark.parametrize("folder", ["in", "chunked"])
    def test_one_that_is_too_large(self, web, connection, monkeypatch, settings, folder):
        settings.UPLOAD_MAX_BYTES = 10_000
        monkeypatch.setattr("importer.connections.download.STEP", 4096)
        web.files[f"/{folder}/a.csv"] = DATA
        with pytest.raises(TooLarge, match="at most 10,000"):
            fetch(connection, f"{folder}/a.csv")
        self.require_nothing_kept(settings)

    def test_without_room_on_the_disk(self, web, connection, settings):
        settings.KEEP_FREE_BYTES = 2**62
        web.files["/a.csv"] = DATA
        with pytest.raises(DiskFull):
            fetch(connection, "a.csv")
        self.require_nothing_kept(settings)

    def require_nothing_kept(self, settings):
        assert not SourceFile.objects.exists()
        assert list(settings.UPLOAD_DIR.glob("*")) == []

    def test_files_of_a_web_server_can_only_be_kept(self, web, connection):
        web.files["/a.csv"] = DATA
        (found,) = find(connection, "a.csv")
        operations.afterwards(connection, found, "keep")
        with pytest.raises(Problem, match="only be kept"):
            operations.afterwards(connection, found, "move", "loaded")


class TestSigningIn:
    @pytest.mark.parametrize(
        ("how", "header", "value"),
        [
            ({"auth": "basic", "user": "me"}, "Authorization", f"Basic {base64.b64encode(b'me:secret').decode()}"),
            ({"auth": "bearer"}, "Authorization", "Bearer secret"),
            ({"auth": "header", "header": "X-Token"}, "X-Token", "secret"),
        ],
    )
    def test_at_the_connections_server_and_no_other(self, web, connection, how, header, value):
        connection.settings = how
        connection.set_secrets({"password": "secret"})
        web.files["/a.csv"] = web.files["/b.csv"] = DATA
        elsewhere = web.url.replace("127.0.0.1", "localhost")
        web.redirects = {"/here": "/a.csv", "/there": f"{elsewhere}b.csv"}
        find(connection, "here")
        find(connection, "there")
        sent = {path: headers.get(header) for _, path, headers in web.sent}
        assert sent == {"/here": value, "/a.csv": value, "/there": value, "/b.csv": None}
        assert "secret" not in connection.secrets_ciphertext


class TestAddresses:
    def test_a_private_address_is_refused_unless_allowed(self, web, connection):
        connection.private_allowed = False
        with pytest.raises(Problem, match="an address inside a network or of this machine"):
            find(connection, "a.csv")
        assert web.sent == []

    @pytest.mark.parametrize(
        ("to", "said"),
        [
            ("http://169.254.169.254/latest/meta-data/", "metadata"),
            ("http://[::ffff:169.254.169.254]/", "metadata"),
            ("file:///etc/passwd", "no URL"),
            ("/round", "redirects more than 5 times"),
            ("/caf\xe9.csv", "could not be fetched"),
        ],
    )
    def test_each_redirect_is_checked(self, web, connection, to, said):
        web.redirects = {"/round": to}
        with pytest.raises(Problem, match=said):
            find(connection, "round")

    def test_https_never_leads_down_to_http(self):
        with pytest.raises(Problem, match="not encrypted"):
            http._redirected("https://example.org/a", "http://example.org/a")

    def test_a_proxy_of_the_environment_is_not_used(self, web, connection, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        web.files["/a.csv"] = DATA
        assert find(connection, "a.csv")


def test_the_check_says_what_answers(web, connection):
    web.files["/"] = b"hello"
    assert [(each["name"], each["status"]) for each in operations.check(connection)] == [
        ("connection", "ok"),
        ("encryption", "warn"),
    ]
    connection.base = "http://127.0.0.1:1/"
    (only,) = operations.check(connection)
    assert (only["status"], "Connection refused" in only["message"]) == ("fail", True)
