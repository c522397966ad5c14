"""Uploads on disk: the stored bytes are the received ones, and no other file is changed or left over."""

import io
import os
import tracemalloc
from datetime import timedelta
from pathlib import Path

import pytest
import xxhash
from django.contrib.auth.models import User
from django.utils import timezone

from importer.engine.errors import DiskFull, SourceProblem
from importer.models import ImportJob, SourceFile, Target
from importer.sources import abandoned, parts, upload_storage, uploads
from tests.people import admin, operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return operator("ann")


def uploaded(content: bytes, name: str = "a.csv", user: User | None = None) -> SourceFile:
    source = uploads.begin_upload(name, len(content), user)
    parts.append(source, 0, io.BytesIO(content), len(content))
    return uploads.finish(source)


def job_of(source: SourceFile) -> ImportJob:
    target = Target.objects.create(name="t", host="h", user="u", database="d")
    return ImportJob.objects.create(
        source=source, target=target, schema_name="d", table_name="t", dialect_json={}, mapping_json=[], plan_json={}
    )


class BrokenStream(io.BytesIO):
    """A stream that returns its bytes, then fails like a dropped connection."""

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        if not piece:
            raise ConnectionResetError
        return piece


class TestUpload:
    def test_the_file_is_what_was_sent(self, upload_dir):
        source = uploads.begin_upload("a.csv", 6, None)
        assert parts.append(source, 0, io.BytesIO(b"abc"), 3) == 3
        assert parts.append(source, 3, io.BytesIO(b"def"), 3) == 6
        uploads.finish(source)
        source.refresh_from_db()
        assert source.file.read_bytes() == b"abcdef"
        assert source.file.parent == upload_dir
        assert source.status == SourceFile.Status.READY
        assert source.fingerprint == xxhash.xxh3_128_hexdigest(b"abcdef")

    def test_nobody_else_may_read_the_file(self):
        assert uploaded(b"x").file.stat().st_mode & 0o777 == 0o600

    def test_a_part_longer_than_a_piece(self):
        content = os.urandom(3 * upload_storage.PIECE_BYTES + 17)
        assert uploaded(content).file.read_bytes() == content

    def test_bytes_after_the_length_stay_in_the_stream(self):
        source = uploads.begin_upload("a.csv", 10, None)
        stream = io.BytesIO(b"abcdefgh")
        assert parts.append(source, 0, stream, 3) == 3
        assert stream.read() == b"defgh"

    @pytest.mark.parametrize("offset", [0, 2, 4])
    def test_a_part_anywhere_but_at_the_end_is_refused(self, offset):
        source = uploads.begin_upload("a.csv", 10, None)
        parts.append(source, 0, io.BytesIO(b"abc"), 3)
        with pytest.raises(uploads.WrongOffset):
            parts.append(source, offset, io.BytesIO(b"xxx"), 3)
        assert source.file.read_bytes() == b"abc"

    def test_more_than_announced_is_refused(self):
        source = uploads.begin_upload("a.csv", 3, None)
        with pytest.raises(uploads.TooLarge):
            parts.append(source, 0, io.BytesIO(b"abcd"), 4)

    def test_a_dropped_connection_keeps_what_was_written(self):
        source = uploads.begin_upload("a.csv", 10, None)
        assert parts.append(source, 0, BrokenStream(b"abc"), 10) == 3
        source.refresh_from_db()
        assert source.received == 3
        assert parts.append(source, 3, io.BytesIO(b"defghij"), 7) == 10
        assert uploads.finish(source).file.read_bytes() == b"abcdefghij"

    def test_two_requests_cannot_both_append(self):
        source = uploads.begin_upload("a.csv", 6, None)
        twin = SourceFile.objects.get(pk=source.pk)

        class Intruding(io.BytesIO):
            def read(self, size=-1, /):
                with pytest.raises(uploads.UploadBusy):
                    parts.append(twin, 0, io.BytesIO(b"XXX"), 3)
                return super().read(size)

        assert parts.append(source, 0, Intruding(b"abc"), 3) == 3
        assert source.file.read_bytes() == b"abc"

    def test_an_upload_removed_while_it_arrives_is_gone(self, upload_dir):
        source = uploads.begin_upload("a.csv", 6, None)

        class Removing(io.BytesIO):
            def read(self, size=-1, /):
                uploads.remove(SourceFile.objects.get(key=source.key))
                return super().read(size)

        with pytest.raises(uploads.UploadGone):
            parts.append(source, 0, Removing(b"abc"), 3)
        assert list(upload_dir.iterdir()) == []

    def test_a_removed_upload_does_not_come_back(self, upload_dir):
        source = uploads.begin_upload("a.csv", 6, None)
        uploads.remove(SourceFile.objects.get(pk=source.pk))
        with pytest.raises(uploads.UploadGone):
            parts.append(source, 0, io.BytesIO(b"abc"), 3)
        assert list(upload_dir.iterdir()) == []

    def test_memory_does_not_grow_with_the_file(self):
        size = 64 * 2**20
        source = uploads.begin_upload("a.csv", size, None)
        with Path("/dev/zero").open("rb") as zeros:
            tracemalloc.start()
            parts.append(source, 0, zeros, size)
            uploads.finish(source)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert source.file.stat().st_size == size
        assert peak < 8 * 2**20

    def test_finishing_too_early_says_how_much_is_missing(self):
        source = uploads.begin_upload("a.csv", 6, None)
        parts.append(source, 0, io.BytesIO(b"abc"), 3)
        with pytest.raises(SourceProblem, match=r"6 bytes were announced, 3 are there") as caught:
            uploads.finish(source)
        assert caught.value.where == "a.csv"

    def test_a_file_cut_on_disk_is_not_ready(self):
        source = uploads.begin_upload("a.csv", 6, None)
        parts.append(source, 0, io.BytesIO(b"abcdef"), 6)
        os.truncate(source.path, 4)
        with pytest.raises(SourceProblem, match=r"6 bytes were announced, 4 are there"):
            uploads.finish(source)

    def test_finishing_twice_is_fine(self):
        source = uploaded(b"abc")
        assert uploads.finish(source).status == SourceFile.Status.READY

    def test_an_empty_file_is_refused_before_anything_is_made(self, upload_dir):
        with pytest.raises(SourceProblem, match="empty"):
            uploads.begin_upload("a.csv", 0, None)
        assert not SourceFile.objects.exists()

    def test_over_the_limit(self, settings):
        settings.UPLOAD_MAX_BYTES = 1000
        with pytest.raises(uploads.TooLarge, match=r"1,001 bytes; at most 1,000"):
            uploads.begin_upload("a.csv", 1001, None)


class TestDiskFull:
    def test_a_file_larger_than_the_disk_is_refused_with_the_figures(self, settings, upload_dir):
        settings.UPLOAD_MAX_BYTES = 2**60
        with pytest.raises(DiskFull, match=r"system /\S* has [\d,]+ bytes free, .*, 1,125,899,906,842,624 needed"):
            uploads.begin_upload("a.csv", 2**50, None)
        assert not SourceFile.objects.exists()
        assert list(upload_dir.iterdir()) == []

    def test_a_full_disk_removes_the_partial_upload_and_its_row(self, upload_dir):
        source = uploads.begin_upload("a.csv", 10, None)
        parts.append(source, 0, io.BytesIO(b"abc"), 3)
        source.file.unlink()
        source.file.symlink_to("/dev/full")  # The kernel answers ENOSPC to every write.
        with pytest.raises(DiskFull, match="disk for uploads is full") as caught:
            parts.append(source, 3, io.BytesIO(b"def"), 3)
        assert caught.value.advice
        assert list(upload_dir.iterdir()) == []
        assert not SourceFile.objects.exists()
        assert Path("/dev/full").exists()


class TestNames:
    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("flights.csv", "flights.csv"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\x.csv", "x.csv"),
            ("/", "unnamed"),
            ("..", "unnamed"),
            ("", "unnamed"),
            ("a\0b.csv", "ab.csv"),
            ("a\r\nb.csv", "ab.csv"),
            ("evil\u202evsc.exe", "evilvsc.exe"),
            ("-rf.csv", "-rf.csv"),
            ("x" * 300, "x" * 255),
            ("\ud800.csv", ".csv"),
            ("naïve 名前.csv", "naïve 名前.csv"),
            *[(joined, joined) for joined in ("👩\u200d💻.csv", "\u0645\u06cc\u200c\u062e\u0648.csv")],
            ("\u200d", "unnamed"),
        ],
    )
    def test_a_name_is_only_ever_text(self, name, shown, upload_dir):
        source = uploads.begin_upload(name, 1, None)
        assert source.name == shown
        assert source.file == upload_dir / str(source.key)
        assert [path.name for path in upload_dir.iterdir()] == [str(source.key)]


class TestSameFile:
    def test_found_by_content_newest_first(self):
        first, second = uploaded(b"a,b\n", "one.csv"), uploaded(b"a,b\n", "two.csv")
        uploaded(b"a,c\n", "other.csv")
        third = uploaded(b"a,b\n", "three.csv")
        assert uploads.same_content(third) == [second, first]

    def test_an_unfinished_upload_equals_nothing(self):
        uploads.begin_upload("a.csv", 3, None)
        assert uploads.same_content(uploads.begin_upload("a.csv", 3, None)) == []


class TestRemove:
    def test_row_and_file_go(self, upload_dir):
        uploads.remove(uploaded(b"abc"))
        assert not SourceFile.objects.exists()
        assert list(upload_dir.iterdir()) == []

    def test_removing_a_source_with_jobs_is_refused(self):
        source = uploaded(b"abc")
        job_of(source)
        with pytest.raises(uploads.SourceInUse, match="1 import of this file"):
            uploads.remove(source)
        assert source.file.read_bytes() == b"abc"

    def test_a_file_that_is_not_ours_stays(self, tmp_path):
        path = tmp_path / "theirs.csv"
        path.write_bytes(b"abc")
        uploads.remove(uploads.register(path))
        assert path.exists()
        assert not SourceFile.objects.exists()


class TestWhoseUploads:
    def test_own_ones_and_all_for_staff(self, user):
        mine, other = uploaded(b"a", user=user), uploaded(b"b")
        staff = admin("eve")
        assert list(uploads.uploads_of(user)) == [mine]
        assert list(uploads.not_imported(staff)) == [other, mine]

    def test_an_imported_one_is_no_longer_listed(self, user):
        source = uploaded(b"a", user=user)
        job_of(source)
        assert list(uploads.not_imported(user)) == []


class TestRegister:
    def test_a_path_that_is_longer_than_is_stored_is_refused(self, tmp_path):
        path = tmp_path.joinpath(*["f" * 250] * 5, "a.csv")
        path.parent.mkdir(parents=True)
        path.write_bytes(b"id\n1\n")
        with pytest.raises(SourceProblem, match="more than 1,024 characters"):
            uploads.register(path)

    def test_a_registered_file_stays_in_place(self, tmp_path, monkeypatch):
        (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n")
        monkeypatch.chdir(tmp_path)
        source = uploads.register(Path("a.csv"))
        assert (source.path, source.size, source.owned) == (str(tmp_path / "a.csv"), 8, False)
        assert source.status == SourceFile.Status.READY

    def test_unchanged_gives_the_same_row_and_changed_a_new_one(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(b"abc")
        first = uploads.register(path)
        assert uploads.register(path) == first
        path.write_bytes(b"abd")
        assert uploads.register(path) != first

    def test_a_directory(self, tmp_path):
        with pytest.raises(SourceProblem, match="a directory") as caught:
            uploads.register(tmp_path)
        assert caught.value.where == str(tmp_path)

    def test_a_path_that_leads_nowhere(self, tmp_path):
        with pytest.raises(SourceProblem, match="No such file"):
            uploads.register(tmp_path / "none.csv")

    def test_a_named_pipe_is_refused_and_does_not_hang(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(SourceProblem, match="not a regular file") as caught:
            uploads.register(tmp_path / "pipe")
        assert "millrace load - ... < PIPE" in caught.value.advice

    def test_an_empty_file_is_for_the_reading_to_ask_about(self, tmp_path):
        (tmp_path / "a.csv").touch()
        assert uploads.register(tmp_path / "a.csv").size == 0


class TestSweep:
    def backdate(self, source: SourceFile, **age: int) -> None:
        SourceFile.objects.filter(pk=source.pk).update(touched_at=timezone.now() - timedelta(**age))

    def test_only_what_was_abandoned_a_day_ago_goes(self):
        old, fresh, ready = (
            uploads.begin_upload("old.csv", 9, None),
            uploads.begin_upload("fresh.csv", 9, None),
            uploaded(b"a"),
        )
        for begun in (old, fresh):
            parts.append(begun, 0, io.BytesIO(b"abc"), 3)
        self.backdate(old, hours=25)
        self.backdate(fresh, hours=23)
        self.backdate(ready, days=9)
        assert abandoned.remove_abandoned() == 1
        assert set(SourceFile.objects.all()) == {fresh, ready}
        assert not old.file.exists()
        assert fresh.file.exists()

    def test_an_announcement_without_a_byte_goes_after_minutes(self):
        old, fresh = uploads.begin_upload("old.csv", 9, None), uploads.begin_upload("fresh.csv", 9, None)
        self.backdate(old, minutes=11)
        self.backdate(fresh, minutes=9)
        assert abandoned.remove_abandoned() == 1
        assert list(SourceFile.objects.all()) == [fresh]
        assert not old.file.exists()

    def test_a_slow_first_part_is_no_announcement_any_more(self):
        source = uploads.begin_upload("a.csv", 9, None)
        source.file.write_bytes(b"a")
        self.backdate(source, minutes=11)
        assert abandoned.remove_abandoned() == 0

    def test_a_part_that_arrived_counts_as_life(self):
        source = uploads.begin_upload("a.csv", 9, None)
        self.backdate(source, hours=30)
        parts.append(source, 0, io.BytesIO(b"abc"), 3)
        assert abandoned.remove_abandoned() == 0

    def test_a_file_without_a_row_goes_after_a_day(self):
        source = uploaded(b"abc")
        SourceFile.objects.all().delete()
        assert abandoned.remove_abandoned() == 0
        long_ago = (timezone.now() - timedelta(hours=25)).timestamp()
        os.utime(source.path, (long_ago, long_ago))
        assert abandoned.remove_abandoned() == 1
        assert not source.file.exists()
