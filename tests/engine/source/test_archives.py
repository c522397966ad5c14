"""Archives of several files: one of them is chosen, and nothing else of them is read."""

import gzip
import tarfile
from functools import partial
from pathlib import Path

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.reading.questions import question_lines
from importer.engine.source import archives
from importer.engine.source.byte_source import open_source
from importer.engine.source.decoding import NO_LIMITS, packing_of
from importer.engine.source.profile.profile import profile_file
from importer.engine.source.profile.sample import SAMPLE_BYTES
from tests.engine.packing import PACKED, tarred, zipped, zstd_packed
from tests.engine.source.formats.copies import copied

FILES = (("notes/read me.txt", b"hello"), ("a.csv", b"id,n\n1,x\n"), ("__MACOSX/._a.csv", b"?"), ("b/._c.csv", b"?"))
ARCHIVES = {
    "zip": zipped(*FILES),
    "tar": tarred(*FILES),
    "tar.gz": tarred(*FILES, mode="w:gz"),
    "tar.bz2": tarred(*FILES, mode="w:bz2"),
    "tar.xz": tarred(*FILES, mode="w:xz"),
    "tar.zst": zstd_packed(tarred(*FILES)),
}


@pytest.fixture(params=ARCHIVES)
def archive(request, source) -> Path:
    return source(ARCHIVES[request.param], "archive")


def test_one_of_several_files_is_asked_for_and_read(archive: Path, tmp_path: Path):
    guess = next(each for each in profile_file(archive).decisions if each.guessed)
    assert [answer.flag for answer in guess.answers] == ["--member 'notes/read me.txt'", "--member 'a.csv'"]
    assert "--all-members reads all files of the archive as one." in question_lines([guess], "archive")
    profile = profile_file(archive, member="a.csv")
    assert (profile.header, profile.rows, profile.dialect.member) == (("id", "n"), (("1", "x"),), "a.csv")
    assert not any(each.guessed for each in profile.decisions)
    with pytest.raises(SourceProblem, match=r"has no file c\.csv"):
        profile_file(archive, member="c.csv")


def test_a_cut_archive_is_refused(archive: Path):
    whole = archive.read_bytes()
    # Of a plain tar archive, in the middle of the second file.
    archive.write_bytes(whole[: 1540 if len(whole) > 2048 else len(whole) // 3])
    with pytest.raises(SourceProblem, match=r"cut|damaged|ends"):
        profile_file(archive, member="a.csv")


def flipped(data: bytes) -> bytes:
    """With a wrong bit in the header of the second file, behind one with a block of data."""
    return data[:1030] + bytes([data[1030] ^ 1]) + data[1031:]


THREE = tarred(*((f"{n}.csv", b"id\n1\n") for n in range(3)))
# GNU tar, too, takes the end of the file behind a whole entry for that of the archive.
ENDS = {
    "a damaged header": (flipped(THREE), None),
    "a cut header": (THREE[:1200], None),
    "a header without its file": (THREE[:2560], None),
    "no end": (THREE[:2048], 2),
    "a lone block of zeros": (THREE[:2048] + bytes(512), 2),
    "something behind the end": (THREE + b"x" * 512, 3),
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["tar", "tar.gz"])
@pytest.mark.parametrize(("data", "files"), ENDS.values(), ids=ENDS)
def test_where_a_tar_archive_ends(source, pack, data: bytes, files: int | None):
    path = source(pack(data), "archive")
    with open_source(path) as fd:
        if files:
            assert len(archives.members(fd, packing_of(fd)).names) == files
            assert len([name for name, _ in archives.contents(fd, packing_of(fd), NO_LIMITS)]) == files
            return
        with pytest.raises(SourceProblem, match="damaged"):
            archives.members(fd, packing_of(fd))
        with pytest.raises(SourceProblem, match="damaged"):
            list(archives.contents(fd, packing_of(fd), NO_LIMITS))


@pytest.mark.parametrize("pack", [zipped, tarred, partial(tarred, mode="w:gz")], ids=["zip", "tar", "tar.gz"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_versions_of_a_file_are_refused(source, pack):
    path = source(pack(("a.csv", b"id\n1\n"), ("b.csv", b"id\n2\n"), ("a.csv", b"id\n3\n")), "archive")
    with pytest.raises(SourceProblem, match=r"has the file a\.csv twice"):
        profile_file(path, member="a.csv")
    with open_source(path) as fd, pytest.raises(SourceProblem, match=r"has the file a\.csv twice"):
        list(archives.contents(fd, packing_of(fd), NO_LIMITS))


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_a_file_of_another_format_may_be_packed(source, pack):
    assert copied(source(pack(b'{"a": 1}\n'), "packed")) == [("a",), ("1",)]


def test_entries_that_were_read_are_not_kept(source):
    path = source(tarred(*((f"{n}.csv", b"a\n") for n in range(100))), "many.tar")
    with tarfile.open(path) as archive:
        assert sum(1 for _ in archives._entries(archive)) == 100
        assert not archive.members


def test_an_archive_of_very_many_files_is_refused(source):
    path = source(tarred(*((f"{n}.csv", b"a\n") for n in range(1001))), "many.tar")
    with pytest.raises(SourceProblem, match="more than 1,000 files"):
        profile_file(path)


def test_of_a_large_compressed_archive_the_first_files_are_listed(source, monkeypatch):
    monkeypatch.setattr(archives, "LISTED_BYTES", 0)
    path = source(tarred(("a.csv", b"id\n" + b"1\n" * SAMPLE_BYTES), ("b.csv", b"n\n2\n"), mode="w:gz"), "large.tar.gz")
    assert profile_file(path).header == ("id",)
    assert copied(path, member="b.csv") == [("n",), ("2",)]
    with pytest.raises(SourceProblem, match="holds 2 files"):
        copied(path)
    (note,) = [each for each in profile_file(path, member="a.csv").notes if "newer version" in each]
    assert "Of files with the name a.csv, the first is read" in note
