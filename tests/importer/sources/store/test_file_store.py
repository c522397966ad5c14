"""The store: what is put there is what is read, nothing unfinished stays, and what fails is said."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from importer.engine.errors import NoConnection, SourceChanged, SourceProblem
from importer.engine.source.byte_source import read_at, size_of
from importer.sources.store import multipart
from importer.sources.store.file_store import FileStore, StoreAway, file_store, require_store

DATA = bytes(range(256)) * 2**12  # 1 MiB


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def large(tmp_path: Path, monkeypatch) -> Path:
    """A file that goes in three parts, the last one short."""
    monkeypatch.setattr(multipart, "PART_BYTES", 5 * 2**20)
    path = tmp_path / "large"
    path.write_bytes(DATA * 12)
    return path


def uploads_under_way(store: FileStore) -> list[dict[str, object]]:
    found = store.account.client.list_multipart_uploads(Bucket="files", Prefix=store.base.partition("files/")[2])
    return found.get("Uploads", [])


@pytest.mark.parametrize("name", ["file", "large"])
def test_what_was_put_is_read_in_ranges(store, name, request):
    path, seen = request.getfixturevalue(name), bytearray()
    stored = store.put(store.address_of("a", "b"), path, seen.extend)
    assert (stored.address, stored.size) == (f"{store.base}/a/b", path.stat().st_size)
    assert bytes(seen) == path.read_bytes()
    with store.opened(stored.address, stored.etag) as opened:
        assert size_of(opened) == stored.size
        whole = b"".join(read_at(opened, 999_999, at) for at in range(0, stored.size, 999_999))
    assert whole == path.read_bytes()
    assert [each.size for each in store.listed("a")] == [stored.size]
    assert list(store.listed("b")) == []
    assert uploads_under_way(store) == []


def test_a_file_that_breaks_off_leaves_nothing(store, large):
    seen = []

    def fail_in_the_second(piece: bytes) -> None:
        seen.append(piece)
        if len(seen) == 2:
            raise OSError("gone")

    with pytest.raises(StoreAway, match="does not answer"):
        store.put(store.address_of("a"), large, fail_in_the_second)
    assert uploads_under_way(store) == []
    assert list(store.listed()) == []


def test_parts_of_a_host_that_died_are_removed_after_a_time(store):
    store.account.client.create_multipart_upload(Bucket="files", Key=store.base.partition("files/")[2] + "/a")
    now = datetime.now(UTC)
    assert store.abort_older(now - timedelta(hours=24)) == 0
    assert store.abort_older(now + timedelta(hours=1)) == 1
    assert uploads_under_way(store) == []


def test_another_version_is_not_read(store, file):
    stored = store.put(store.address_of("a"), file)
    with store.opened(stored.address, stored.etag) as opened:
        store.put_bytes(stored.address, b"another")
        with pytest.raises(SourceChanged, match="no longer the one that was put there"):
            read_at(opened, 10, 0)
    for _ in range(2):
        store.delete(stored.address)
        with pytest.raises(SourceProblem, match="no longer in the store"), store.opened(stored.address, stored.etag):
            pass


def test_many_are_deleted_at_once(store):
    for name in ("a", "b"):
        store.put_bytes(store.address_of("x", name), b"data")
    store.delete(*(each.address for each in store.listed("x")))
    assert list(store.listed("x")) == []


def test_the_check_writes_and_leaves_nothing(store):
    store.check()
    assert store.answers()
    assert list(store.listed()) == []


def test_a_store_that_does_not_answer_is_asked_again_later(store, settings, closed_port):
    settings.FILE_STORE_ENDPOINT = f"http://127.0.0.1:{closed_port}"
    away = file_store()
    assert not away.answers()
    with pytest.raises(StoreAway) as caught:
        away.check()
    assert caught.value.retryable
    assert (caught.value.where, caught.value.what) == (store.base, "The store for files does not answer.")


def test_refused_keys_are_not_asked_again(store, settings):
    settings.FILE_STORE_SECRET_KEY = "wrong"
    with pytest.raises(NoConnection, match=r"refuses it.*Correct FILE_STORE_ACCESS_KEY") as caught:
        file_store().check()
    assert not caught.value.retryable
    assert not file_store().answers()


def test_a_host_with_another_store_or_none_says_what_to_set(store, settings):
    with pytest.raises(SourceProblem, match="Set FILE_STORE to where the files are"):
        store.delete("s3://elsewhere/a")
    settings.FILE_STORE = ""
    with pytest.raises(SourceProblem, match="this host has no FILE_STORE"):
        require_store(f"{store.base}/a")
