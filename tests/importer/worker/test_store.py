"""Imports of files in the store: they wait for the whole file, read it from there, and outlast a store that is away."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs.rejects import downloads, rows, storage
from importer.jobs.steps.chunk_leases import ChunkRun
from importer.models import Chunk, ImportJob, SourceFile
from importer.preparation.prepare import ImportRequest
from importer.queue import Message
from importer.sources import parts, uploads
from importer.sources.store import s3_client
from importer.sources.store.file_store import FileStore
from importer.worker import load_chunks, working_copies
from tests.engine.loads import rows_of
from tests.importer.steps import advance, import_of, queued, run, take
from tests.targets import target_with

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db")

ROWS = 18_000
TABLE = "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(90))"
DATA = b"n,word\n" + b"".join(b"%d,%070d\n" % (n, n) for n in range(ROWS))


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
    return import_of(source, target_with(address, TABLE), options=Options(chunk_bytes=2**18))


def count(address: Address) -> int:
    return int(rows_of(address, "SELECT COUNT(*) FROM t")[0][0])


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


def test_a_store_that_is_away_for_a_moment_delays_scan_and_chunks(mariadb, store, settings, closed_port):
    job, answering = created(uploaded(), mariadb), settings.FILE_STORE_ENDPOINT
    silent = f"http://127.0.0.1:{closed_port}"
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


class TestAnotherHost:
    """Each step with folders of its own, as on hosts that share nothing but the databases and the store."""

    # In reverse order of the key; each hundredth row has a value that is too long.
    LINES = tuple(f"{n},{'x' * 99 if n % 100 == 0 else f'word {n}'}" for n in range(8_000, 0, -1))

    def next_host(self, settings, tmp_path: Path) -> Path:
        """A host with empty folders."""
        host = tmp_path / f"host-{len(list(tmp_path.glob('host-*')))}"
        host.mkdir()
        settings.VAR_DIR = host
        settings.UPLOAD_DIR, settings.PLAIN_DIR, settings.REJECTS_DIR = host / "up", host / "plain", host / "rejects"
        return host

    def files(self, host: Path) -> list[str]:
        return [each.name for each in host.rglob("*") if each.is_file()]

    def created(self, address: Address, name: str, data: bytes, **options) -> ImportJob:
        source = uploads.begin_upload(name, len(data), None)
        parts.append(source, 0, io.BytesIO(data), len(data))
        asked = ImportRequest(options=Options(on_error="reject", max_rejects=1000, **options))
        return import_of(uploads.finish(source), target_with(address, TABLE), "t", asked)

    def test_two_processes_of_a_host_begin_the_rejects_at_once(self, mariadb, store, settings, tmp_path, monkeypatch):
        """Both find no head of the reject file; one puts it into the store just before the other one does."""
        host = self.next_host(settings, tmp_path)
        job = self.created(mariadb, "t.csv", "\n".join(["n,word", *self.LINES, ""]).encode())
        monkeypatch.setattr(downloads, "missing", lambda _job, names: list(names))
        begun: list[str] = []

        def second_first(put: Callable[..., Any]) -> Callable[..., Any]:
            def putting(*args: Any) -> Any:
                begun.append("")
                if len(begun) == 1:
                    downloads.make_folder(job)
                return put(*args)

            return putting

        for name in ("put", "put_bytes"):
            monkeypatch.setattr(FileStore, name, second_first(getattr(FileStore, name)))
        downloads.make_folder(job)
        assert len(begun) == 2
        assert self.files(host) == []
        assert storage.missing(job, [downloads.HEAD]) == []

    def test_working_copies_and_rejects_are_there_on_every_host(self, database, store, settings, tmp_path):
        self.next_host(settings, tmp_path)
        packed = gzip.compress("\n".join(["n,word", *self.LINES, ""]).encode())
        job = self.created(database, "t.csv.gz", packed, chunk_bytes=2**15, sort="key")
        advance(job)
        while steps := queued(job):
            for step in steps:
                host = self.next_host(settings, tmp_path)
                take(step)
                assert self.files(host) == []
            advance(job)
        job.refresh_from_db()
        assert (job.status, job.balanced, job.rejected_rows) == ("succeeded", True, len(self.LINES) // 100), job.problem
        assert job.chunks.exclude(rejected_rows=0).count() > 2
        self.next_host(settings, tmp_path)
        wrong = [line for line in reversed(self.LINES) if "xx" in line]
        assert b"".join(downloads.reject_file(job)).decode().splitlines() == ["n,word", *wrong]
        explained = b"".join(downloads.reasons_file(job)).decode().splitlines()[1:]
        lines = [int(each.partition(",")[0]) for each in explained]
        assert sorted(lines) == [place + 2 for place, line in enumerate(self.LINES) if "xx" in line]
        assert [row.record.decode().strip() for row in rows.rows(job, None, 2, 3)] == wrong[2:5]
        assert [row.line for row in downloads.first_rows(job, 2)] == lines[:2]
        self.cleans_up(job, store)

    def cleans_up(self, job: ImportJob, store) -> None:
        assert [each.name for each in store.listed("copies")] == [f"{job.key}.1", f"{job.key}.1.places"]
        assert working_copies.remove_stored(timezone.now()) == 2
        assert storage.stored_keys() == [str(job.key)]
        storage.forget(job)
        assert [each.address for each in store.listed()] == [job.source.path]

    def test_what_a_dead_worker_had_committed_is_counted_with_its_reasons(self, mariadb, store, settings, tmp_path):
        self.next_host(settings, tmp_path)
        job = run(self.created(mariadb, "t.csv", "\n".join(["n,word", *self.LINES, ""]).encode()))
        (first, *_) = job.chunks.order_by("number")
        self.next_host(settings, tmp_path)
        (found,) = load_chunks.committed(ChunkRun(job.key, job, [first]))
        assert found.outcome.tally.rejected == first.rejected_rows > 0
        assert [each.rows for each in found.outcome.reasons] == [each["rows"] for each in first.reject_reasons]
