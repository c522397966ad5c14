"""Uploads in the store: after any crash the whole file is in one place, and in no other."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
import xxhash
from django.utils import timezone

from importer.connections.source_location import location_of
from importer.engine.source.byte_source import open_source, read_at, size_of
from importer.models import ImportJob, SourceFile
from importer.retention import files, storage_use
from importer.sources import abandoned, parts, upload_storage, uploads
from importer.sources.store import s3_client
from importer.sources.store.file_store import StoreAway
from tests.dashboard.job_data import make_job

DATA = b"id,name\n1,one\n" * 100

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folders(settings, tmp_path, monkeypatch) -> None:
    settings.VAR_DIR, settings.UPLOAD_DIR = tmp_path / "var", tmp_path / "uploads"
    monkeypatch.setattr(s3_client, "ATTEMPTS", 1)


def received() -> SourceFile:
    """An upload of which every byte has arrived."""
    source = uploads.begin_upload("a.csv", len(DATA), None)
    parts.append(source, 0, io.BytesIO(DATA), len(DATA))
    return source


def local(settings) -> list[str]:
    return [each.name for each in settings.UPLOAD_DIR.glob("*-*")]


def read(source: SourceFile) -> bytes:
    with open_source(location_of(source)) as opened:
        return read_at(opened, size_of(opened), 0)


def age(source: SourceFile, **past: int) -> None:
    SourceFile.objects.filter(pk=source.pk).update(touched_at=timezone.now() - timedelta(**past))


@contextmanager
def away(settings, closed_port: int) -> Iterator[None]:
    """The store does not answer for the time of a block."""
    answering = settings.FILE_STORE_ENDPOINT
    settings.FILE_STORE_ENDPOINT = f"http://127.0.0.1:{closed_port}"
    yield
    settings.FILE_STORE_ENDPOINT = answering


def test_a_finished_upload_is_in_the_store_and_nowhere_else(store, settings):
    source = uploads.finish(received())
    assert (source.status, source.path) == ("ready", f"{store.base}/uploads/{source.key}")
    assert source.fingerprint == xxhash.xxh3_128_hexdigest(DATA)
    assert local(settings) == []
    assert read(SourceFile.objects.get()) == DATA
    assert upload_storage.is_there(source)
    assert uploads.finish(source) == source
    assert [(each.name, each.bytes, each.count) for each in storage_use.store()] == [("Store", len(DATA), 1)]


def test_a_part_that_is_sent_again_after_the_end_changes_nothing(store):
    source = received()
    late = SourceFile.objects.get()
    uploads.finish(source)
    with pytest.raises(uploads.WrongOffset, match="All of the file has arrived"):
        parts.open_part(late, 0, 9)
    assert uploads.finish(late).status == "ready"
    assert read(source) == DATA


@pytest.mark.parametrize("put", [False, True], ids=["before the store has it", "before the row says so"])
def test_after_a_death_the_sweep_finishes_the_upload(store, settings, put):
    source = received()
    if put:
        upload_storage.keep(source)
    abandoned.finish_received()
    source.refresh_from_db()
    assert source.arriving  # Its own process may still be at work.
    age(source, minutes=11)
    abandoned.finish_received()
    source.refresh_from_db()
    assert (source.status, local(settings)) == ("ready", [])
    assert read(source) == DATA


def test_a_file_that_stayed_behind_goes_after_a_day(store, settings, tmp_path):
    source = uploads.finish(received())
    left = settings.UPLOAD_DIR / str(source.key)
    left.write_bytes(DATA)
    abandoned.remove_strays_if_due()
    assert left.exists()
    os.utime(left, (0, 0))
    abandoned.remove_strays_if_due()
    assert left.exists()  # Not more often than once in an hour.
    os.utime(settings.VAR_DIR / "run" / "uploads-tidied", (0, 0))
    abandoned.remove_strays_if_due()
    assert not left.exists()
    assert read(source) == DATA


def test_without_the_store_the_file_stays_and_is_finished_later(store, settings, closed_port):
    source = received()
    with away(settings, closed_port), pytest.raises(StoreAway) as caught:
        uploads.finish(source)
    assert caught.value.retryable
    assert str(caught.value) == "a.csv: The store for files does not answer. Try again later."
    source.refresh_from_db()
    assert (source.arriving, local(settings)) == (True, [str(source.key)])
    assert read(uploads.finish(source)) == DATA


class TestDeletion:
    def test_a_removed_upload_goes_from_the_store(self, store):
        uploads.remove(uploads.finish(received()))
        assert (list(store.listed()), SourceFile.objects.count()) == ([], 0)

    def test_an_upload_that_is_given_up_leaves_nothing_in_the_store(self, store, settings):
        source = received()
        upload_storage.keep(source)
        uploads.remove(source)
        assert (list(store.listed()), local(settings), SourceFile.objects.count()) == ([], [], 0)

    def test_while_the_store_is_away_the_row_stays(self, store, settings, closed_port):
        source = uploads.finish(received())
        with away(settings, closed_port), pytest.raises(StoreAway):
            uploads.remove(source)
        assert read(SourceFile.objects.get()) == DATA

    def test_a_file_marked_while_the_store_was_away_goes_later(self, store, settings, closed_port):
        source = uploads.finish(received())
        with away(settings, closed_port):
            files.remove_by_hand(source)
        assert [each.status for each in SourceFile.objects.all()] == ["removed"]
        assert len(list(store.listed())) == 1
        files.remove_orphans(timezone.now(), 10)
        assert list(store.listed()) == []
        files.forget_old_rows(timezone.now(), 10)
        assert not SourceFile.objects.exists()

    @pytest.mark.parametrize("remove", [files.remove_by_hand, uploads.give_up])
    def test_one_that_was_put_there_and_is_given_up_while_the_store_is_away_goes_later(
        self, store, settings, remove, closed_port
    ):
        source = received()
        upload_storage.keep(source)
        job = make_job("failed")
        ImportJob.objects.filter(pk=job.pk).update(source=source)
        with away(settings, closed_port):
            remove(source)
        assert (len(list(store.listed())), local(settings)) == (1, [])
        files.remove_orphans(timezone.now(), 10)
        assert list(store.listed()) == []
        assert not SourceFile.objects.get(pk=source.pk).store_etag

    def test_one_that_cannot_be_deleted_does_not_hold_up_the_others(self, store):
        first, _ = uploads.finish(received()), uploads.finish(received())
        SourceFile.objects.filter(pk=first.pk).update(path="s3://elsewhere/uploads/1")
        SourceFile.objects.update(status="removed")
        for _ in range(2):
            files.remove_orphans(timezone.now(), 1)
        assert [bool(each.store_etag) for each in SourceFile.objects.order_by("pk")] == [True, False]
        assert [each.name for each in store.listed()] == [str(first.key)]

    def test_an_announcement_that_another_host_may_be_filling_stays_for_a_day(self, store):
        source = uploads.begin_upload("a.csv", 9, None)
        source.file.unlink()
        age(source, minutes=11)
        assert abandoned.remove_abandoned() == 0
        age(source, hours=25)
        assert abandoned.remove_abandoned() == 1


def test_files_that_were_here_before_the_store_stay_here(store, settings):
    settings.FILE_STORE = ""
    source = uploads.finish(received())
    settings.FILE_STORE = store.base
    assert read(source) == DATA
    uploads.remove(source)
    assert local(settings) == []
