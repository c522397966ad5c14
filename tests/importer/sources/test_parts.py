"""Parts of uploads: what counts of them, who may send them, and what is left when they end in any way."""

import hashlib

import pytest

from importer.access.limits import TooManyAtOnce
from importer.models import SourceFile
from importer.sources import parts, uploads
from tests.people import operator

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def var_dir(settings, tmp_path) -> None:
    settings.VAR_DIR = tmp_path / "var"


def begun(size: int = 6) -> SourceFile:
    return uploads.begin_upload("a.csv", size, None)


def sha256(content: bytes) -> parts.Checksum:
    return parts.Checksum("sha256", hashlib.sha256(content).digest())


def received(source: SourceFile) -> int:
    return SourceFile.objects.get(pk=source.pk).received


class TestWhatCounts:
    def test_bytes_are_in_the_file_at_once_and_count_at_the_end(self):
        source = begun()
        part = parts.open_part(source, 0, 6)
        assert part.write(b"abc")
        assert source.file.read_bytes() == b"abc"
        assert received(source) == 0
        assert part.write(b"def")
        assert part.finish() == 6
        part.close()
        assert received(source) == 6

    def test_with_the_right_checksum_a_part_counts(self):
        part = parts.open_part(begun(), 0, 6, sha256(b"abcdef"))
        part.write(b"abcdef")
        assert part.finish() == 6
        part.close()

    @pytest.mark.parametrize("content", [b"abcdeX", b"abc"])
    def test_with_a_wrong_checksum_or_cut_off_nothing_counts(self, content):
        source = begun()
        part = parts.open_part(source, 0, 6, sha256(b"abcdef"))
        part.write(content)
        if len(content) == 6:
            with pytest.raises(parts.ChecksumMismatch, match=r"The 6 bytes from 0 on arrived with another sha256"):
                part.finish()
        else:
            assert part.finish() == 0
        part.close()
        assert received(source) == 0
        again = parts.open_part(source, 0, 6, sha256(b"abcdef"))
        again.write(b"abcdef")
        assert again.finish() == 6
        again.close()
        assert uploads.finish(source).file.read_bytes() == b"abcdef"

    def test_more_bytes_than_announced_are_not_wanted(self):
        source = begun()
        part = parts.open_part(source, 0, 3)
        assert part.write(b"abc")
        assert not part.write(b"d")
        part.close()
        assert source.file.read_bytes() == b"abc"

    def test_after_its_end_a_part_takes_nothing(self):
        source = begun()
        part = parts.open_part(source, 0, 6)
        part.write(b"abc")
        part.close()
        part.close()
        assert not part.write(b"def")
        with pytest.raises(uploads.UploadBusy, match="The server is stopping"):
            part.finish()
        assert received(source) == 0


class TestPlaces:
    def test_a_person_has_so_many_and_others_have_their_own(self, ann, settings):
        settings.UPLOAD_PARTS_AT_ONCE = 2
        first, second = (parts.open_part(begun(), 0, 6, None, ann) for _ in range(2))
        with pytest.raises(TooManyAtOnce, match="2 parts of uploads that arrive at once already"):
            parts.open_part(begun(), 0, 6, None, ann)
        parts.open_part(begun(), 0, 6, None, operator("bob")).close()
        first.close()
        parts.open_part(begun(), 0, 6, None, ann).close()
        second.close()

    def test_a_part_that_is_refused_takes_none(self, ann, settings):
        settings.UPLOAD_PARTS_AT_ONCE = 1
        source = begun()
        for _ in range(2):
            with pytest.raises(uploads.WrongOffset):
                parts.open_part(source, 3, 3, None, ann)
        parts.open_part(source, 0, 6, None, ann).close()
