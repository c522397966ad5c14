"""Connections: for staff alone; made by their kind, checked at once, their secrets kept to where they belong."""

from html import unescape

import pytest
from django.core.management import call_command
from django.urls import reverse

from importer.connections.protocols import folder as folders
from importer.models import Level, Schedule, SourceConnection
from tests.dashboard.job_data import make_job
from tests.file_servers.sftp import sftp_files
from tests.file_servers.web import web_files
from tests.people import admin, operator, stranger

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client):
    client.force_login(admin("root"))
    return client


@pytest.fixture
def incoming(tmp_path, settings, monkeypatch):
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    monkeypatch.setattr(folders, "SETTLED", 0.0)
    return tmp_path


@pytest.fixture
def web():
    with web_files() as server:
        yield server


@pytest.fixture
def sftp(tmp_path):
    with sftp_files(tmp_path) as server:
        yield server


def new(kind: str) -> str:
    return f"{reverse('connection_new')}?kind={kind}"


def page_of(answer) -> str:
    return answer.content.decode()


def http_values(web, **changes):
    values = {"name": "web", "place": web.url, "private_allowed": "on", "auth": "bearer", "password": "sesame"}
    return values | changes


def test_who_has_no_grant_gets_none_of_it(client, incoming):
    SourceConnection.objects.create(name="incoming", kind="folder", base=str(incoming))
    client.force_login(stranger("eve"))
    assert client.get(reverse("connection_new")).status_code == 403
    assert client.get(reverse("connection", args=[SourceConnection.objects.get().pk])).status_code == 404
    assert str(incoming) not in page_of(client.get(reverse("connections")))


@pytest.mark.parametrize(("level", "sees"), [(Level.LOAD, False), (Level.ADMINISTER, True)])
def test_where_it_leads_to_is_for_who_administers_it(client, capsys, level, sees):
    base, settings = "s3://bucket-of-ours/in", {"endpoint": "http://10.0.0.7", "region": "bucket-of-ours"}
    SourceConnection.objects.create(name="incoming", kind="s3", base=base, settings=settings)
    client.force_login(operator("ann", level))
    call_command("connection", "list", "--as", "ann")
    call_command("connection", "list", "--json", "--as", "ann")
    pages = [page_of(client.get(reverse(name))) for name in ("connections", "new_places")]
    for shown in (*pages, *capsys.readouterr().out.split("\n", 1)):
        assert "incoming" in shown
        assert ("bucket-of-ours" in shown) == sees


class TestAFolder:
    def test_is_offered_made_checked_and_shows_what_lies_there(self, staff, incoming):
        for number in range(12):
            (incoming / f"sales-{number:02}.csv").write_text("id\n1\n")
        assert f'value="{incoming}"' in page_of(staff.get(new("folder")))
        page = page_of(staff.post(new("folder"), {"name": "incoming", "place": str(incoming)}, follow=True))
        made = SourceConnection.objects.get()
        assert (made.kind, made.base, made.private_allowed) == ("folder", str(incoming), False)
        assert "Files may be moved and deleted." in page
        files = page_of(staff.get(reverse("connection_files", args=[made.pk]), headers={"HX-Request": "true"}))
        assert ("sales-09.csv" in files, "sales-10.csv" in files, "and 2 more" in files) == (True, False, True)
        # Without JavaScript, it is the whole page.
        assert "<h1" in page_of(staff.get(reverse("connection_files", args=[made.pk])))
        assert "Ready" in page_of(staff.get(reverse("connections")))

    def test_elsewhere_is_refused_and_where_none_is_allowed_the_line_is_shown(self, staff, incoming, settings):
        answer = staff.post(new("folder"), {"name": "x", "place": "/etc"})
        assert (answer.status_code, "Files may not be picked up there" in page_of(answer)) == (422, True)
        settings.IMPORT_FOLDERS = []
        assert "IMPORT_FOLDERS=/srv/incoming" in page_of(staff.get(new("folder")))

    def test_stays_while_schedules_use_it(self, staff, incoming):
        made = SourceConnection.objects.create(name="incoming", kind="folder", base=str(incoming))
        job = make_job()
        recipe = {name: getattr(job, name) for name in ("target", "schema_name", "table_name", "dialect_json")}
        recipe |= {"header": ["n"], "columns_json": [], "mapping_json": []}
        schedule = Schedule.objects.create(name="nightly", connection=made, pattern="*.csv", **recipe)
        page = page_of(staff.post(reverse("connection_delete", args=[made.pk]), follow=True))
        assert "incoming stays: the schedules nightly pick files up there" in page
        schedule.delete()
        staff.post(reverse("connection_delete", args=[made.pk]))
        assert not SourceConnection.objects.exists()


class TestSecrets:
    def test_go_in_only_and_stay_with_their_place_and_account(self, staff, web):
        assert staff.post(new("http"), http_values(web)).status_code == 302
        made = SourceConnection.objects.get()
        address = reverse("connection", args=[made.pk])
        assert "sesame" not in page_of(staff.get(address))
        assert staff.post(address, http_values(web, password="", name="www")).status_code == 302
        made.refresh_from_db()
        assert (made.name, made.secrets) == ("www", {"password": "sesame"})
        assert web.sent[-1][2]["Authorization"] == "Bearer sesame"
        moved = http_values(web, password="", place=f"{web.url}other/")
        answer = staff.post(address, moved)
        assert (answer.status_code, "has changed. Enter it" in page_of(answer)) == (422, True)
        assert "sesame" not in page_of(staff.post(address, moved | {"password": "sesame", "name": ""}))
        staff.post(address, http_values(web, password="", auth="none", forgotten=["password"]))
        made.refresh_from_db()
        assert made.secrets == {}

    def test_of_a_form_that_is_refused_are_not_sent_back(self, staff):
        answer = staff.post(new("sftp"), {"name": "", "place": "sftp://me@h/x", "private_key": "-----BEGIN"})
        assert (answer.status_code, "-----BEGIN" in page_of(answer)) == (422, False)


def test_the_key_of_an_sftp_server_is_shown_and_confirmed_by_a_button(staff, sftp):
    (sftp.root / "a.csv").write_text("id\n1\n")
    values = {"name": "shop", "place": f"sftp://me@{sftp.url.removeprefix('sftp://')}/", "password": "secret"}
    page = page_of(staff.post(new("sftp"), values | {"private_allowed": "on"}, follow=True))
    made = SourceConnection.objects.get()
    assert (made.settings["user"], f"Is <code>{sftp.host_key}</code> the server's key" in page) == ("me", True)
    confirm = reverse("connection_confirm", args=[made.pk])
    page = page_of(staff.post(confirm, {"key": f"SHA256:{'x' * 43}"}, follow=True))
    assert "not the key that the last check was shown" in page
    page = page_of(staff.post(confirm, {"key": sftp.host_key}, follow=True))
    assert ("can be listed: 1 entries" in page, "confirm this key" in page) == (True, False)
    # What the page shows as its place is what was entered, and leaves it as it is.
    page = page_of(staff.get(reverse("connection", args=[made.pk])))
    assert values["place"].rstrip("/") in page


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("http", {"place": "https://ann:pw@h/x"}, "names no host, or more than a place"),
        ("http", {"place": "s3://bucket"}, "a place of another kind: S3"),
        ("http", {"auth": "basic", "password": ""}, "that way of signing in needs it"),
        ("http", {"password": "a\nb"}, "no header can carry"),
        ("http", {"header": "X Key"}, "is no header&#x27;s name"),
        ("http", {"tls_ca": "/no/such.pem"}, "can be read from /no/such.pem"),
        ("folder", {"place": "incoming"}, "whole path"),
        ("sftp", {"place": "sftp://h/x"}, "no place of a kind that is known"),
        ("s3", {"name": "a b"}, "Letters, digits"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(staff, kind, changes, said):
    values = {"name": "x", "place": "https://h/x/", "auth": "bearer", "password": "pw"} | changes
    answer = staff.post(new(kind), values)
    assert (answer.status_code, said in page_of(answer)) == (422, True), page_of(answer)
    assert not SourceConnection.objects.exists()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("http", ('<option value="bearer">Token (bearer)</option>', "The name of the header, such as X-Api-Key.")),
        ("s3", (">Secret access key</label>", "Empty: what the environment or the role of this server gives.")),
    ],
)
def test_a_label_is_a_name_and_a_hint_says_the_rest(staff, kind, said):
    page = unescape(staff.get(new(kind)).content.decode())
    assert [text for text in said if text not in page] == []


def test_the_folder_that_is_allowed_unless_others_are_is_made(settings, tmp_path):
    settings.INCOMING_DIR, settings.IMPORT_FOLDERS = tmp_path / "incoming", []
    call_command("prepare")
    assert not settings.INCOMING_DIR.exists()
    settings.IMPORT_FOLDERS = [str(settings.INCOMING_DIR)]
    call_command("prepare")
    assert settings.INCOMING_DIR.stat().st_mode & 0o777 == 0o700
