"""Files of a connection in a new import: browsed, looked into, and chosen, by those who may load from it."""

import html
import re
import zipfile
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.urls import reverse

from importer.models import Level, SourceConnection, SourceFile, Target
from importer.sources import limits
from tests.file_servers.web import web_files
from tests.people import admin, operator, stranger

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(tmp_path: Path, settings, monkeypatch) -> SourceConnection:
    """A folder with files of 2026, and one in a folder below it."""
    monkeypatch.setattr("importer.connections.protocols.folder.SETTLED", 0)
    settings.IMPORT_FOLDERS, settings.UPLOAD_DIR = [str(tmp_path)], tmp_path / "uploads"
    base = tmp_path / "in"
    (base / "daily & old").mkdir(parents=True)
    for name in ("2026-01.csv", "2026-02.csv", "daily & old/x [1].csv"):
        (base / name).write_text(f"id,name\n1,{name}\n")
    return SourceConnection.objects.create(name="in", kind="folder", base=str(base))


@pytest.fixture
def ann(client):
    user = operator("ann", Level.LOAD)
    client.force_login(user)
    return user


def page(client, connection, **query) -> str:
    answer = client.get(reverse("new_from", args=[connection.pk]), query)
    return " ".join(html.unescape(answer.content.decode()).split())


def test_folders_and_files_are_listed_and_filtered(client, ann, connection):
    shown = page(client, connection)
    assert all(name in shown for name in ("2026-01.csv", "2026-02.csv", "daily & old"))
    assert "x [1].csv" not in shown
    assert shown.count("Files of") == 2  # The window's title and the page's; what leads back has a name of its own.
    assert ['aria-label="Folder"' in each for each in (shown, page(client, connection, folder="daily & old"))] == [
        False,
        True,
    ]
    assert "2026-01.csv" not in page(client, connection, pattern="*-02.csv")
    assert "daily & old/x [1].csv" in page(client, connection, folder="daily & old")
    assert reverse("new_from", args=[connection.pk]) in client.get(reverse("new_places")).content.decode()


@pytest.mark.parametrize("query", [{"folder": "../.."}, {"folder": "none"}, {"pattern": "../*.csv"}])
def test_nothing_outside_is_shown(client, ann, connection, query):
    assert "2026-01.csv" not in page(client, connection, **query)


def test_the_first_lines_are_shown_without_a_copy(client, ann, connection):
    address = reverse("new_from_lines", args=[connection.pk])
    shown = html.unescape(client.get(address, {"name": "daily & old/x [1].csv"}).content.decode())
    assert "1,daily & old/x [1].csv" in shown
    gone = html.unescape(client.get(address, {"name": "gone.csv"}, headers={"hx-request": "true"}).text)
    assert "gone.csv is not there any more." in gone
    assert f'href="{reverse("new_from", args=[connection.pk])}">Files of' in gone
    assert SourceFile.objects.count() == 0


def test_one_file_goes_on_to_its_import(client, ann, connection):
    address = reverse("new_from", args=[connection.pk])
    answer = client.post(address, {"name": "daily & old/x [1].csv"}, follow=True)
    source = SourceFile.objects.get()
    assert (source.name, source.owned) == ("x [1].csv", False)
    assert answer.redirect_chain == [(reverse("new_source", args=[source.key]), 302)]
    assert answer.status_code == 200
    assert source.name in html.unescape(answer.content.decode())


def test_several_files_are_read_as_one(client, ann, connection):
    address = reverse("new_from", args=[connection.pk])
    answer = client.post(address, {"name": ["2026-01.csv", "2026-02.csv"]}, follow=True)
    source = SourceFile.objects.get(file_count=2)
    assert [each.name for each in source.files] == ["2026-01.csv", "2026-02.csv"]
    assert "2026-01.csv and 1 more" in answer.content.decode()


def test_all_files_of_an_archive_are_read_as_one(client, ann, connection):
    with zipfile.ZipFile(Path(connection.base) / "all.zip", "w") as archive:
        archive.writestr("x/a.csv", "id,name\n1,one\n")
        archive.writestr("b.csv", "id,name\n2,two\n")
    client.post(reverse("new_from", args=[connection.pk]), {"name": "all.zip"})
    packed = SourceFile.objects.get(name="all.zip")
    shown = client.get(reverse("new_source", args=[packed.key])).content.decode()
    assert "all files, read as one" in shown
    client.post(reverse("new_together"), {"first_file": str(packed.key), "members": "all"})
    assert [each.name for each in SourceFile.objects.get(file_count=2).files] == ["a.csv", "b.csv"]


def test_a_file_that_is_gone_is_named(client, ann, connection):
    answer = client.post(reverse("new_from", args=[connection.pk]), {"name": ["2026-03.csv", "2026-02.csv"]})
    assert answer.status_code == 422
    shown = html.unescape(answer.text)
    said = r"<strong>2026-03\.csv is not there any more"
    assert re.search(rf'id="files-title">.*2026-03\.csv</div>\s*<div[^>]*>{said}', shown, re.DOTALL)
    assert re.findall(r'value="(2026-\d+.csv)"( checked)?', shown) == [("2026-01.csv", ""), ("2026-02.csv", " checked")]
    assert SourceFile.objects.count() == 0


def test_a_large_copy_is_not_made_while_somebody_waits(client, ann, settings, monkeypatch):
    monkeypatch.setattr(limits, "MOST_COPIED_AT_ONCE", 10)
    with web_files() as web:
        web.files["/a.csv"] = b"id\n1\n" * 9
        there = SourceConnection.objects.create(name="web", kind="http", base=web.url, private_allowed=True)
        assert "a.csv" in page(client, there, pattern="a.csv")
        lines = client.get(reverse("new_from_lines", args=[there.pk]), {"name": "a.csv"})
        assert "id\n1\nid" in lines.content.decode()
        before = len(web.sent)
        answer = client.post(reverse("new_from", args=[there.pk]), {"name": "a.csv"}, follow=True)
        assert "a page copies at most" in html.unescape(answer.content.decode())
        assert [command for command, *_ in web.sent[before:]] == ["HEAD"]


class TestAddress:
    def give(self, client, address: str) -> str:
        answer = client.post(reverse("new_places"), {"address": address})
        assert answer.status_code == 422
        return html.unescape(answer.text)

    def test_is_refused_unless_an_admin_allows_it(self, client, ann):
        assert "Addresses are not allowed here" in self.give(client, "https://example.org/a.csv")
        assert 'name="address"' not in client.get(reverse("new_places")).content.decode()

    @pytest.mark.parametrize(
        ("address", "why"),
        [
            ("http://example.org/a.csv", "Only https:// addresses"),
            ("s3://bucket/a.csv", "Only https:// addresses"),
            ("https://127.0.0.1/a.csv", "There is no connection to the place"),
            ("https://169.254.169.254/a.csv", "There is no connection to the place"),
        ],
    )
    def test_of_another_kind_or_a_private_one_is_refused(self, client, ann, settings, address, why):
        settings.WEB_ADDRESSES = True
        assert 'name="address"' in client.get(reverse("new_places")).content.decode()
        shown = self.give(client, address)
        assert re.search(rf'id="address-title".*{why}.*value="{re.escape(address)}"', shown, re.DOTALL)
        assert ("Write https://HOST/PATH/FILE, without" in shown) == (not address.startswith("https:"))
        assert SourceFile.objects.count() == 0


def test_an_admin_chooses_the_host_of_a_registered_target(client, db):
    client.force_login(admin("root"))
    for name, by_url in (("warehouse", False), ("from-a-command", True)):
        Target.objects.create(name=name, host="192.0.2.1", user="loader", database="sales", by_url=by_url)
    shown = client.get(reverse("new_places")).content.decode()
    assert re.findall("<option>(.*?)</option>", shown) == ["warehouse"]


@pytest.mark.parametrize("level", [None, Level.LOOK])
def test_people_without_the_right_to_load_see_and_choose_nothing(client, connection, level):
    client.force_login(operator("bob", level) if level else stranger("bob"))
    address = reverse("new_from", args=[connection.pk])
    for answer in (
        client.get(address),
        client.post(address, {"name": "2026-01.csv"}),
        client.get(reverse("new_from_lines", args=[connection.pk]), {"name": "2026-01.csv"}),
    ):
        assert answer.status_code in (403, 404)
        assert "2026-01" not in answer.content.decode()
    assert SourceFile.objects.count() == 0


def test_a_source_of_a_connection_is_not_for_those_who_may_not_load_from_it(client, ann, connection):
    client.post(reverse("new_from", args=[connection.pk]), {"name": "2026-01.csv"})
    client.force_login(operator("bob", Level.LOOK))
    assert client.get(reverse("new_source", args=[SourceFile.objects.get().key])).status_code == 404


@pytest.fixture
def keys(ann, tmp_path) -> list[str]:
    """Of two uploads."""
    keys = []
    for name in ("a.csv", "b.csv"):
        path = tmp_path / name
        path.write_text("id\n1\n")
        made = SourceFile.objects.create(
            name=name, path=str(path), size=5, received=5, status="ready", fingerprint=name, uploaded_by=ann
        )
        keys.append(str(made.key))
    return keys


def test_uploads_are_read_as_one_with_the_target_table_and_options_that_were_chosen(client, keys):
    # One option has the name of what a file is known by.
    chosen = {"target": "7", "table": "shop.orders", "max_rejects": "7", "parallelism": "", "key": "sku"}
    answer = client.post(reverse("new_together"), {"first_file": keys[0], "also": keys[1], "shown": "{}", **chosen})
    whole = SourceFile.objects.get(file_count=2)
    assert [each.name for each in whole.files] == ["a.csv", "b.csv"]
    address = urlsplit(answer["Location"])
    assert address.path == reverse("new_source", args=[whole.key])
    assert dict(parse_qsl(address.query)) == {name: text for name, text in chosen.items() if text}


def test_uploads_that_cannot_be_read_as_one_stay_on_their_page(client, keys):
    also = f"{keys[1]},{keys[0]}"
    answer = client.post(reverse("new_together"), {"first_file": keys[0], "also": also}, follow=True)
    assert "The file is named twice." in answer.content.decode()
    assert [str(each.source.key) for each in answer.context["batch"].others] == [keys[1]]
