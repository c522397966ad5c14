"""A folder on this server: the files that are listed and ignored, fetched, moved and deleted."""

import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from importer.connections import operations
from importer.connections.listed_files import ListedFile
from importer.connections.protocols import folder
from importer.engine.errors import SourceChanged, SourceProblem
from importer.models import SourceConnection
from tests.importer.connections.protocol_checks import NOW, expect_missing_base_reported, expect_names_in_utf8, find

TEXT = "id,name\n1,one\n"

pytestmark = pytest.mark.django_db


@pytest.fixture
def base(tmp_path, settings, monkeypatch):
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    monkeypatch.setattr(folder, "SETTLED", 0.0)
    path = tmp_path / "incoming"
    path.mkdir()
    return path


@pytest.fixture
def connection(base):
    return SourceConnection.objects.create(name="incoming", kind="folder", base=str(base))


def put(path, text=TEXT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class TestFind:
    @pytest.mark.parametrize("folders", [5, 4])
    def test_a_name_or_path_that_is_longer_than_is_stored_is_refused_alone(self, base, connection, folders):
        put(base / "/".join(["f" * 250] * folders) / "a.csv")
        put(base / "b.csv")
        other, long = sorted(find(connection, subfolders=True), key=lambda each: len(each.name))
        with pytest.raises(SourceProblem, match=r"has 1,\d{3} characters, and at most 1,024"):
            operations.fetch(connection, long)
        assert operations.fetch(connection, other).name == "b.csv"

    def test_regular_files_by_name_and_nothing_else(self, base, connection):
        for name in ("b.csv", "a.csv", ".hidden.csv", "c.csv.part", "d.tmp", "2026/11/e.csv", ".git/f.csv"):
            put(base / name)
        secret = put(base.parent / "secret.csv")
        (base / "link.csv").symlink_to(secret)
        (base / "linked").symlink_to(base.parent)
        os.mkfifo(base / "pipe.csv")
        (base / "folder.csv").mkdir()
        first, *others = find(connection, "*", subfolders=True)
        assert (first.name, first.size) == ("2026/11/e.csv", len(TEXT))
        assert first.modified_at
        assert abs(datetime.now(UTC) - first.modified_at) < timedelta(minutes=1)
        assert [each.name for each in others] == ["a.csv", "b.csv"]
        assert [each.name for each in find(connection, "{date:%Y}/{date:%m}/*")] == ["2026/11/e.csv"]
        assert find(connection, "{date+1m:%Y/%m}/*") == []

    @pytest.mark.parametrize("hours", [-1, 0, 1])
    def test_one_that_was_written_to_just_now_is_not_settled(self, base, connection, monkeypatch, hours):
        changed = time.time() + hours * 3600  # as a copy that keeps the time of what it copies
        os.utime(put(base / "a.csv"), (changed, changed))
        assert find(connection)[0].settled
        monkeypatch.setattr(folder, "SETTLED", 60)
        assert not find(connection)[0].settled
        assert operations.find_settled(connection, "*.csv", NOW, UTC) == []

    def test_ten_thousand_and_then_too_many(self, base, connection, monkeypatch):
        for number in range(10_000):
            (base / f"{number:05}.csv").touch()
        files = find(connection)
        assert [each.name for each in files] == [f"{number:05}.csv" for number in range(10_000)]
        monkeypatch.setattr("importer.connections.listed_files.MOST_FOUND", 9_999)
        with pytest.raises(SourceProblem, match="More than 9,999 files match"):
            find(connection)

    @pytest.mark.parametrize("where", ["/etc", "{root}/../etc", "{root}x", "relative"])
    def test_only_below_what_an_admin_has_named(self, base, connection, where):
        connection.base = where.format(root=base.parent)
        with pytest.raises(SourceProblem, match="IMPORT_FOLDERS"):
            find(connection)

    def test_a_link_on_the_way_to_the_base_is_not_followed(self, base, connection):
        (base.parent / "linked").symlink_to("/etc")
        connection.base = str(base.parent / "linked")
        with pytest.raises(SourceProblem, match="link"):
            find(connection, "passwd")

    def test_a_missing_base_is_reported(self, connection):
        expect_missing_base_reported(connection)

    def test_only_names_in_utf8(self, base, connection):
        expect_names_in_utf8(connection, base)


class TestFetch:
    def test_a_fetched_file_is_not_copied_and_gives_one_source(self, base, connection):
        put(base / "in/a.csv")
        (found,) = find(connection, "in/*")
        source = operations.fetch(connection, found)
        assert (source.name, source.path, source.size, source.owned) == (
            "a.csv",
            str(base / "in/a.csv"),
            len(TEXT),
            False,
        )
        assert (source.connection, source.found_name, source.status) == (connection, "in/a.csv", "ready")
        assert operations.fetch(connection, found) == source

    @pytest.mark.parametrize("swap", ["grown", "replaced", "link", "pipe", "gone", "hard link"])
    def test_one_that_is_no_longer_what_was_found(self, base, connection, swap):
        path = put(base / "a.csv")
        (found,) = find(connection)
        if swap == "grown":
            path.write_text(TEXT + "2,two\n")
        elif swap == "hard link":
            (base / "other").hardlink_to(path)
        else:
            path.unlink()
        if swap == "replaced":
            put(path)
        if swap == "link":
            path.symlink_to(put(base.parent / "secret.csv"))
        if swap == "pipe":
            os.mkfifo(path)
        with pytest.raises(SourceProblem) as caught:
            operations.fetch(connection, found)
        assert caught.value.where == str(path)
        assert isinstance(caught.value, SourceChanged) == (swap in ("grown", "replaced"))

    def test_an_empty_file_is_refused(self, base, connection):
        put(base / "a.csv", "")
        with pytest.raises(SourceProblem, match="empty"):
            operations.fetch(connection, find(connection)[0])


class TestAfterwards:
    @pytest.fixture
    def found(self, base, connection) -> ListedFile:
        put(base / "in/a.csv")
        return find(connection, "in/a.csv")[0]

    def test_moving_a_file_twice_is_harmless(self, base, connection, found):
        for _ in range(2):
            operations.afterwards(connection, found, "move", "loaded/2026")
            assert (base / "loaded/2026/a.csv").read_text() == TEXT
            assert not (base / "in/a.csv").exists()

    def test_never_over_another_file(self, base, connection, found):
        put(base / "loaded/a.csv", "precious")
        with pytest.raises(SourceProblem, match=r"There is a a\.csv in loaded already"):
            operations.afterwards(connection, found, "move", "loaded")
        assert (base / "loaded/a.csv").read_text() == "precious"
        assert (base / "in/a.csv").read_text() == TEXT

    def test_over_what_a_move_that_was_killed_has_left(self, base, connection, found):
        put(base / "loaded/a.csv", "")
        operations.afterwards(connection, found, "move", "loaded")
        assert (base / "loaded/a.csv").read_text() == TEXT

    @pytest.mark.parametrize("folder", ["../out", "a/../../b", "", "/", "a//b"])
    def test_only_below_the_base(self, connection, found, folder):
        with pytest.raises(SourceProblem, match="no folder below"):
            operations.afterwards(connection, found, "move", folder)

    def test_a_move_through_a_link_is_refused(self, base, connection, found):
        (base / "out").symlink_to(base.parent)
        with pytest.raises(SourceProblem, match="link"):
            operations.afterwards(connection, found, "move", "out")
        assert (base / "in/a.csv").exists()

    def test_deleting_a_file_twice_is_harmless(self, base, connection, found):
        for _ in range(2):
            operations.afterwards(connection, found, "delete")
            assert not (base / "in/a.csv").exists()

    @pytest.mark.parametrize("what", ["move", "delete"])
    def test_a_newer_file_of_the_same_name_stays(self, base, connection, found, what):
        put(base / "in/a.csv", "new")
        with pytest.raises(SourceChanged):
            operations.afterwards(connection, found, what, "loaded")
        assert (base / "in/a.csv").read_text() == "new"


def test_the_check_says_what_is_there_and_what_is_left_out(base, connection):
    put(base / "a.csv")
    (base / "b.csv").symlink_to("a.csv")
    findings = operations.check(connection)
    assert [(each["name"], each["status"]) for each in findings] == [
        ("folder", "ok"),
        ("files", "ok"),
        ("links", "warn"),
        ("afterwards", "ok"),
    ]
    connection.refresh_from_db()
    assert connection.findings == findings
    assert connection.checked_at
    connection.base = "/etc"
    (only,) = operations.check(connection)
    assert (only["status"], "IMPORT_FOLDERS" in only["fix"]) == ("fail", True)
