"""Uploads that somebody else puts into the store, in parts by signed URLs."""

import base64
import hashlib
import os
from datetime import timedelta

import pytest
import requests
import xxhash
from django.utils import timezone

from importer.models import SourceFile
from importer.retention import files
from importer.sources import abandoned, direct, uploads
from importer.sources.store import multipart
from importer.sources.store.file_store import FileStore, StoreAway, file_store
from importer.sources.store.presigned_upload import PartsDiffer
from tests.importer.sources.test_upload_storage import age, away, read

PART = 5 * 2**20  # the least that the parts but the last may have (S3 API)
DATA = b"id,name\n" + os.urandom(PART).hex().encode() + b"\n"  # two whole parts and a short one
PARTS = [DATA[begin : begin + PART] for begin in range(0, len(DATA), PART)]

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def reached(store, settings, tmp_path, monkeypatch) -> FileStore:
    """Browsers reach the store."""
    settings.VAR_DIR, settings.UPLOAD_DIR = tmp_path / "var", tmp_path / "uploads"
    settings.FILE_STORE_BROWSER_URL = settings.FILE_STORE_ENDPOINT.replace("127.0.0.1", "localhost")
    monkeypatch.setattr(multipart, "PART_BYTES", PART)
    made = file_store()
    assert made
    return made


def send(source: SourceFile, number: int, sent: bytes | None = None) -> requests.Response:
    """Send a part, or instead of it other bytes, as a browser does."""
    part = PARTS[number - 1]
    signed = direct.sign(source, number, checksums()[number - 1])
    assert signed.url.startswith("http://localhost:")
    return requests.put(signed.url, data=part if sent is None else sent, headers=signed.headers, timeout=60)


def begun(*numbers: int) -> SourceFile:
    """An upload of which these parts are in the store."""
    source = direct.begin("a.csv", len(DATA), None)
    for number in numbers:
        assert send(source, number).status_code == 200
    return source


def checksums() -> list[str]:
    return [base64.b64encode(hashlib.sha256(part).digest()).decode() for part in PARTS]


def under_way(store: FileStore) -> int:
    """How many uploads in parts the store knows."""
    return len(store._client.list_multipart_uploads(Bucket="files", Prefix=store._prefix).get("Uploads", ()))


def test_a_file_arrives_in_parts_in_any_order_and_is_an_upload_like_others(reached):
    source = begun(3, 1)
    assert direct.stored_parts(source) == [1, 3]
    with pytest.raises(direct.PartsMissing, match="1 of 3 parts are not in the store; the first is part 2"):
        direct.complete(source, checksums())
    send(source, 2)
    send(source, 2)  # again, because the answer was lost
    source = direct.complete(source, checksums())
    assert (source.status, source.received, source.store_upload) == ("ready", len(DATA), "")
    assert source.fingerprint == xxhash.xxh3_128_hexdigest(DATA)
    assert read(SourceFile.objects.get()) == DATA
    assert direct.complete(source, checksums()) == source
    assert direct.stored_parts(source) == [1, 2, 3]
    assert under_way(reached) == 0


def test_the_store_refuses_other_bytes_and_another_size():
    source = begun()
    assert send(source, 1, PARTS[0][:-1] + b"?").status_code == 400
    assert send(source, 1, PARTS[0] + b"?").status_code in (400, 403)
    assert send(source, 1, PARTS[0][:-1]).status_code in (400, 403)
    assert direct.stored_parts(source) == []


def test_parts_that_nobody_continues_expire(reached):
    """A day after the last part, the row goes and the parts with it; parts without a row go by retention."""
    source, later = begun(1), timezone.now() + files.PARTS_KEPT + timedelta(hours=1)
    files.remove_parts(later, 100)
    assert direct.stored_parts(source) == [1], "an upload that is under way stays, however old it is"
    age(source, hours=23)
    abandoned.remove_abandoned()
    assert SourceFile.objects.exists()
    age(source, hours=25)
    abandoned.remove_abandoned()
    assert not SourceFile.objects.exists()
    assert under_way(reached) == 0
    reached.presigned_upload(reached.address_of("uploads", "lost")).create()
    assert files.remove_parts(timezone.now(), 100) == 0
    assert files.remove_parts(later, 100) == 1
    assert under_way(reached) == 0


def test_an_upload_that_is_removed_leaves_nothing(reached):
    source = begun(1, 2, 3)
    uploads.remove(source)
    assert under_way(reached) == 0
    assert list(reached.listed("uploads")) == []
    with pytest.raises(uploads.UploadGone):
        direct.complete(source, checksums())


@pytest.mark.parametrize("recorded", [False, True])
def test_it_is_finished_when_its_process_dies_after_the_parts_were_joined(reached, recorded):
    """By the request that the browser sends again; or, if the row says that all is there, by a sweep of any host."""
    source = begun(1, 2, 3)
    reached.presigned_upload(source.path, source.store_upload).join(checksums())
    if recorded:
        SourceFile.objects.update(received=source.size)
        age(source, minutes=11)
        abandoned.finish_received()
    else:
        assert direct.stored_parts(source) == [1, 2, 3]
        direct.complete(source, checksums())
    assert read(SourceFile.objects.get(status="ready")) == DATA


def test_parts_of_another_file_are_not_joined():
    """As after a reload, when the person drops a file that has changed since."""
    source = begun(1, 2, 3)
    others = [*checksums()[:2], checksums()[0]]
    with pytest.raises(PartsDiffer, match="not those of this file"):
        direct.complete(source, others)


def test_parts_that_somebody_else_has_removed_are_said_to_be_gone(reached):
    source = begun(1)
    reached.abort_older(timezone.now() + timedelta(hours=1))
    with pytest.raises(uploads.UploadGone, match="no longer in the store"):
        direct.stored_parts(source)
    assert not SourceFile.objects.exists()


def test_a_wrong_kind_of_file_is_refused_and_removed(reached, monkeypatch):
    monkeypatch.setattr(f"{__name__}.PARTS", [b"%PDF-1.7 and more"])
    source = direct.begin("a.csv", len(PARTS[0]), None)
    send(source, 1)
    with pytest.raises(uploads.NoCSV, match="PDF"):
        direct.complete(source, checksums())
    assert not SourceFile.objects.exists()
    assert list(reached.listed("uploads")) == []


def test_a_store_that_is_away_loses_nothing(settings, closed_port):
    source = begun(1, 2, 3)
    with away(settings, closed_port), pytest.raises(StoreAway):
        direct.complete(source, checksums())
    assert read(direct.complete(source, checksums())) == DATA
