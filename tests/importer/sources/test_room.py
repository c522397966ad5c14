"""Room on the disk: what is announced takes none, what arrives does, and uploads stop before the disk is full."""

import errno
import io
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from importer.engine.errors import DiskFull
from importer.models import Lab, SourceFile
from importer.sources import parts, room, uploads
from importer.worker.errors import problem_of
from tests.people import operator

pytestmark = pytest.mark.django_db

MB = 2**20


@pytest.fixture
def ben() -> User:
    return operator("ben")


def leave_room(settings, size: int) -> None:
    """Let about this many bytes be free for uploads; other programs write to the disk at the same time."""
    settings.KEEP_FREE_BYTES = 0
    settings.KEEP_FREE_BYTES = room.room(settings.UPLOAD_DIR) - size


def begun(size: int, received: int, user: User, name: str = "a.csv") -> SourceFile:
    """An upload of which this many bytes are counted as received; they are not on the disk."""
    source = uploads.begin_upload(name, size, user)
    SourceFile.objects.filter(pk=source.pk).update(received=received)
    source.refresh_from_db()
    return source


class TestReservations:
    def test_an_announced_60_gb_keeps_nobody_out(self, settings, ann, ben):
        leave_room(settings, 61 * 10**9)
        uploads.begin_upload("large.csv", 60 * 10**9, ann)
        uploads.begin_upload("other.csv", 59 * 10**9, ben)

    def test_150_announcements_keep_nobody_out(self, settings, ann, ben):
        leave_room(settings, 2000 * MB)
        for number in range(150):
            uploads.begin_upload(f"{number}.csv", 1000 * MB, ann)
        source = uploads.begin_upload("other.csv", 1000 * MB, ben)
        assert parts.append(source, 0, io.BytesIO(b"a,b\n"), 4) == 4

    def test_the_rest_of_an_upload_is_reserved_as_far_as_it_has_arrived(self, settings, ann, ben):
        leave_room(settings, 1000 * MB)
        begun(900 * MB, 200 * MB, ann)
        uploads.begin_upload("fits.csv", 700 * MB, ben)
        with pytest.raises(DiskFull, match="reserved for uploads under way"):
            uploads.begin_upload("too-large.csv", 900 * MB, ben)

    def test_what_does_not_go_on_is_reserved_for_minutes(self, settings, ann, ben):
        leave_room(settings, 1000 * MB)
        stalled = begun(900 * MB, 400 * MB, ann)
        with pytest.raises(DiskFull):
            uploads.begin_upload("other.csv", 700 * MB, ben)
        SourceFile.objects.filter(pk=stalled.pk).update(touched_at=timezone.now() - timedelta(minutes=6))
        uploads.begin_upload("other.csv", 700 * MB, ben)

    def test_later_bytes_of_another_do_not_take_what_is_reserved(self, settings, ann, ben):
        leave_room(settings, 2000 * MB)
        early = uploads.begin_upload("early.csv", 900 * MB, ben)
        begun(1000 * MB, 500 * MB, ann, "far.csv")
        settings.KEEP_FREE_BYTES += 1600 * MB
        with pytest.raises(DiskFull):
            parts.append(early, 0, io.BytesIO(b"a"), 1)

    def test_an_upload_may_use_its_own_reservation(self, settings, ann):
        leave_room(settings, 1000 * MB)
        source = begun(900 * MB, 300 * MB, ann)
        source.file.write_bytes(b"a")
        settings.KEEP_FREE_BYTES += 700 * MB
        assert parts.append(source, 300 * MB, io.BytesIO(b"b"), 1) == 300 * MB + 1


class TestRoom:
    def test_an_upload_stops_while_the_disk_has_room_for_the_database(self, settings, ann):
        source = uploads.begin_upload("a.csv", 10, ann)
        settings.KEEP_FREE_BYTES = 2**62
        with pytest.raises(DiskFull):
            parts.append(source, 0, io.BytesIO(b"abc"), 3)
        assert not SourceFile.objects.exists()

    def test_the_disk_is_looked_at_while_bytes_arrive(self, settings, ann):
        """It fills up after the request has begun."""
        source = uploads.begin_upload("a.csv", 10 * MB, ann)

        class Filling(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                settings.KEEP_FREE_BYTES = 2**62
                return super().read(size)

        with pytest.raises(DiskFull):
            parts.append(source, 0, Filling(bytes(10 * MB)), 10 * MB)

    def test_a_folder_that_cannot_be_looked_at_has_no_room(self):
        assert room.room(Path("/proc/not-yet")) == 0

    def test_the_fullest_disk_is_that_with_the_fewest_free_bytes(self, settings):
        settings.REJECTS_DIR = Path("/proc/not-yet")
        assert room.fullest_disk() == room.Disk(Path("/proc/not-yet"), 0)


class TestWritersWithoutWordsOfTheirOwn:
    @pytest.mark.parametrize("named", [True, False])
    def test_the_file_system_without_room_is_named_with_its_figures(self, tmp_path: Path, named: bool):
        error = OSError(errno.ENOSPC, "No space left on device", *([str(tmp_path / "sample")] if named else []))
        problem = problem_of(error, Lab(pk=7))
        assert isinstance(problem, DiskFull)
        figures = r"/\S* has [\d,]+ bytes free, [\d,]+ to be kept free \(KEEP_FREE_BYTES\)\."
        assert re.fullmatch(
            f"A file cannot be written: No space left on device. The file system {figures}", problem.what
        )
