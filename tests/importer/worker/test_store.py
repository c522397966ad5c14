"""Imports of files in the store: they wait for the whole file, read it from there, and outlast a store that is away."""

import io
from pathlib import Path

import pytest
from django.utils import timezone

from importer import jobs
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.options import Options
from importer.management.processes.private_servers import free_port
from importer.models import Chunk, ImportJob, SourceFile
from importer.preparation.prepare import ImportRequest, prepare
from importer.queue import Message
from importer.sources import parts, uploads
from importer.sources.store import s3_client
from tests.importer.steps import advance, queued, run, take
from tests.targets import target_with

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db")

ROWS = 80_000
TABLE = "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(90))"
DATA = b"n,word\n" + b"".join(b"%d,a word %d\n" % (n, n) for n in range(ROWS))


@pytest.fixture(autouse=True)
def upload_dir(settings, tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr(s3_client, "ATTEMPTS", 1)
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return settings.UPLOAD_DIR


def uploaded(first: int = len(DATA)) -> SourceFile:
    source = uploads.begin_upload("t.csv", len(DATA), None)
    parts.append(source, 0, io.BytesIO(DATA), first)
    return uploads.finish(source) if first == len(DATA) else source


def created(source: SourceFile, address: Address) -> ImportJob:
    request = ImportRequest(options=Options(chunk_bytes=2**18))
    return jobs.create(prepare(source, target_with(address, TABLE), "t", request))


def count(address: Address) -> int:
    with connect(address) as server:
        return int(fetch_all(server, "SELECT COUNT(*) FROM t")[0][0])


def test_every_row_arrives(database, store, upload_dir):
    job = run(created(uploaded(), database))
    assert (job.status, job.balanced, job.loaded_rows) == ("succeeded", True, ROWS), job.problem
    assert job.chunks.count() > 4
    assert count(database) == ROWS
    assert list(upload_dir.iterdir()) == []


def test_an_import_that_began_during_the_upload_waits_for_the_store_to_have_all(mariadb, store):
    first = 5 * 2**18  # enough for a profile
    source = uploaded(first)
    job = run(created(source, mariadb))
    assert (job.status, job.chunks.count()) == ("loading", 0)
    parts.append(source, first, io.BytesIO(DATA[first:]), len(DATA) - first)
    uploads.finish(source)
    job = run(job)
    assert (job.status, job.loaded_rows) == ("succeeded", ROWS), job.problem


def test_a_store_that_is_away_for_a_moment_delays_scan_and_chunks(mariadb, store, settings):
    job, answering = created(uploaded(), mariadb), settings.FILE_STORE_ENDPOINT
    silent = f"http://127.0.0.1:{free_port()}"
    advance(job)
    settings.FILE_STORE_ENDPOINT = silent
    take(Message("scan", job.pk))
    job.refresh_from_db()
    assert (job.status, job.step, job.step_failures) == ("loading", "scan queued", 1)
    settings.FILE_STORE_ENDPOINT = answering
    take(Message("scan", job.pk))
    advance(job)
    settings.FILE_STORE_ENDPOINT = silent
    take(next(each for each in queued(job) if each.task == "load_run"))
    waiting = Chunk.objects.get(job=job, attempt=1, lease__isnull=False, problem__kind="StoreAway")
    assert waiting.problem["where"] == "t.csv"
    settings.FILE_STORE_ENDPOINT = answering
    Chunk.objects.filter(pk=waiting.pk).update(lease=timezone.now())
    job = run(job)
    assert (job.status, job.step_failures, count(mariadb)) == ("succeeded", 0, ROWS), job.problem
