"""The files that a command names: paths, patterns, standard input, files of a connection."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.connections.by_hand import standard_input
from importer.connections.by_hand.members import copy_members
from importer.connections.by_hand.resolve import forget_unused, resolve_sources
from importer.engine.errors import Problem, SourceProblem
from importer.models import Level, SourceConnection, SourceFile
from importer.sources import limits
from importer.sources.uploads import TooLarge, register
from tests.people import operator, stranger

pytestmark = pytest.mark.django_db
DATA = b"id,name\n1,one\n"


@pytest.fixture
def folder(tmp_path: Path, settings) -> Path:
    """A folder with files, below IMPORT_FOLDERS."""
    settings.UPLOAD_DIR = tmp_path / "uploads"
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.csv", "b[1].csv", ".hidden.csv"):
        (folder / name).write_bytes(DATA)
    return folder


def test_a_pattern_names_the_files_of_a_folder(folder):
    assert resolve_sources([f"{folder}/a*.csv"]).file == folder / "a.csv"


def test_a_file_with_brackets_in_its_name_is_no_pattern(folder):
    assert resolve_sources([f"{folder}/b[1].csv"]).file == folder / "b[1].csv"


@pytest.mark.parametrize("pattern", ["none-*.csv", "*hidden.csv"])
def test_a_pattern_that_finds_nothing_is_refused_by_its_name(folder, pattern):
    with pytest.raises(SourceProblem, match="No file matches") as refused:
        resolve_sources([f"{folder}/{pattern}"])
    assert pattern in refused.value.where


def test_too_many_files_are_refused(folder, monkeypatch):
    monkeypatch.setattr(limits, "MOST_FILES", 1)
    (folder / "a2.csv").write_bytes(DATA)
    with pytest.raises(SourceProblem, match="2 files match; one import takes at most 1"):
        resolve_sources([f"{folder}/a*.csv"])


def test_several_files_that_are_open_on_a_page_stay_after_a_plan(folder):
    (folder / "a2.csv").write_bytes(DATA)
    on_a_page = resolve_sources([f"{folder}/a*.csv"])
    planned = resolve_sources([f"{folder}/a*.csv"])
    assert planned.pk == on_a_page.pk
    forget_unused([planned])
    assert SourceFile.objects.get(pk=on_a_page.pk).files == on_a_page.files


class TestArchive:
    FILES = {"x/a.csv": DATA, "b.csv": b"id,name\n2,two\n", "__MACOSX/._b.csv": b"no"}

    @pytest.fixture(params=["zip", "tar.gz"])
    def archive(self, request, folder) -> Path:
        path = folder / f"all.{request.param}"
        if request.param == "zip":
            with zipfile.ZipFile(path, "w") as zipped:
                for name, data in self.FILES.items():
                    zipped.writestr(name, data)
            return path
        with tarfile.open(path, "w:gz") as tar:
            for name, data in self.FILES.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return path

    def test_all_files_of_it_are_read_as_one(self, archive, settings):
        source = resolve_sources([str(archive)], all_members=True)
        assert [(each.name, each.file.read_bytes()) for each in source.files] == [
            ("a.csv", DATA),
            ("b.csv", self.FILES["b.csv"]),
        ]
        forget_unused([source])
        assert list(settings.UPLOAD_DIR.iterdir()) == []

    def test_more_than_a_person_waits_for_is_refused(self, archive, settings, monkeypatch):
        monkeypatch.setattr(limits, "MOST_COPIED_AT_ONCE", len(DATA))
        with pytest.raises(SourceProblem, match="a page copies at most 14 bytes"):
            copy_members(register(archive), somebody_waits=True)
        assert list(settings.UPLOAD_DIR.iterdir()) == []

    def test_unpacking_is_limited(self, archive, settings):
        settings.UNPACKED_MAX_BYTES = len(DATA) + 1
        with pytest.raises(SourceProblem, match="unpacks to more than 15 bytes"):
            resolve_sources([str(archive)], all_members=True)
        assert list(settings.UPLOAD_DIR.glob("*")) == []

    def test_a_file_that_is_none_is_refused(self, folder):
        with pytest.raises(SourceProblem, match="no archive with files in it"):
            resolve_sources([f"{folder}/a.csv"], all_members=True)


class TestStandardInput:
    def feed(self, monkeypatch, data: bytes) -> None:
        stream = io.BytesIO(data)
        stream.isatty = lambda: False  # type: ignore[method-assign]
        monkeypatch.setattr(standard_input.sys, "stdin", type("Stdin", (), {"buffer": stream}))

    def test_becomes_an_upload_that_goes_with_its_use(self, folder, settings, monkeypatch):
        self.feed(monkeypatch, DATA)
        source = resolve_sources(["-"])
        assert (source.name, source.file.read_bytes(), source.owned) == ("standard input", DATA, True)
        forget_unused([source])
        assert (SourceFile.objects.count(), list(settings.UPLOAD_DIR.iterdir())) == (0, [])

    def test_that_is_larger_than_an_upload_leaves_nothing(self, folder, settings, monkeypatch):
        settings.UPLOAD_MAX_BYTES = 2**25
        self.feed(monkeypatch, b"x" * (2**25 + 1))
        with pytest.raises(TooLarge):
            resolve_sources(["-"])
        assert (SourceFile.objects.count(), list(settings.UPLOAD_DIR.iterdir())) == (0, [])

    def test_without_a_byte_is_refused(self, folder, settings, monkeypatch):
        self.feed(monkeypatch, b"")
        with pytest.raises(SourceProblem, match="empty"):
            resolve_sources(["-"])
        assert SourceFile.objects.count() == 0


class TestConnection:
    @pytest.fixture
    def connection(self, folder, monkeypatch) -> SourceConnection:
        monkeypatch.setattr("importer.connections.protocols.folder.SETTLED", 0)
        return SourceConnection.objects.create(name="in", kind="folder", base=str(folder))

    def test_its_file_is_read_in_place(self, folder, connection):
        source = resolve_sources(["a.csv"], "in")
        assert (source.path, source.connection, source.owned) == (f"{folder}/a.csv", connection, False)

    def test_a_file_outside_of_it_is_refused(self, connection):
        with pytest.raises(SourceProblem, match="not a path below"):
            resolve_sources(["../a.csv"], "in")

    def test_nothing_found_is_refused_with_the_place(self, folder, connection):
        with pytest.raises(SourceProblem, match="No file matches") as refused:
            resolve_sources(["c-*.csv"], "in")
        assert refused.value.where == f"{folder}/c-*.csv"

    def test_is_unknown_to_a_person_without_a_grant(self, connection):
        with acting_as(stranger("ann")), pytest.raises(Problem, match="no connection named in"):
            resolve_sources(["a.csv"], "in")

    def test_that_a_person_may_only_look_at_gives_no_file(self, connection):
        with acting_as(operator("ann", Level.LOOK)), pytest.raises(Forbidden):
            resolve_sources(["a.csv"], "in")
