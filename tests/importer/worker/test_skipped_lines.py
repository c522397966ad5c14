"""The lines of a job's file that are no records: the same for each way to read it, and counted once."""

import gzip
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from importer.jobs import lifecycle, report
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from importer.worker import shutdown
from tests.dashboard.job_data import make_user
from tests.engine.loads import run_sql
from tests.importer.steps import import_of, run, take
from tests.targets import on_mariadb

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir")

Status = ImportJob.Status
RECORDS = "".join(f'{9 - n},"é\n\n{n}"\n' + "\n" * (n % 3) for n in range(9))
TEXT = f"Österreich\n\nid,word\n\n{RECORDS}\n\n"
LINES = {
    "header": {"count": 1, "texts": [{"line": 3, "text": "id,word"}]},
    "preamble": {"count": 1, "texts": [{"line": 1, "text": "Österreich"}]},
    "blank": {
        "count": 13,
        "texts": [{"line": line, "text": ""} for line in (2, 4, 11, 15, 16, 23, 27, 28, 35, 39)],
    },
}
TABLES = ("CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(20)) CHARSET utf8mb4",)
database = on_mariadb


def created(target: Target, folder: Path, content: bytes, encoding: str = "utf-8", **options) -> ImportJob:
    path = folder / "file.csv"
    path.write_bytes(content)
    options = Options(**{"chunk_bytes": 20, "parallelism": 2, **options})
    return import_of(path, target, dialect=Dialect(encoding=encoding, skip_rows=2), options=options)


@pytest.mark.one_of("pack", "sort")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("sort", ["keep", "key"])
def test_each_form_of_a_file_has_the_same_lines(target: Target, tmp_path: Path, pack, encoding: str, sort: str):
    job = run(created(target, tmp_path, pack(TEXT.encode(encoding)), encoding, sort=sort))
    assert (job.status, job.balanced, job.problem) == (Status.SUCCEEDED, True, {})
    assert job.chunks.count() > 3
    assert job.skipped_lines.as_json() == LINES
    assert report.report(job)["lines"] == LINES
    # Each record has three lines.
    assert job.skipped_lines.total + 3 * job.scanned_rows == TEXT.count("\n")


def test_a_scan_that_goes_on_counts_each_line_once(target: Target, tmp_path: Path, monkeypatch):
    job = created(target, tmp_path, TEXT.encode())
    requested = iter([False] * 4 + [True])
    [scan] = lifecycle.advance(job.pk)
    monkeypatch.setattr(shutdown, "requested", lambda: next(requested))
    monkeypatch.setattr("importer.worker.scan.FIRST_BYTES", 1)
    take(scan)
    monkeypatch.undo()
    job.refresh_from_db()
    assert (job.scan_finished, job.chunks.count()) == (False, 5)
    assert 0 < job.skipped_lines.total < 13
    job = run(job)
    assert (job.status, job.skipped_lines.as_json()) == (Status.SUCCEEDED, LINES)


@pytest.mark.one_of("sort")
@pytest.mark.parametrize("sort", ["keep", "key"])
@pytest.mark.parametrize("mode", ["append", "atomic"])
def test_a_retry_counts_each_line_once(target: Target, tmp_path: Path, sort: str, mode: str):
    run_sql(target.address, "INSERT INTO t VALUES (5, 'there')")
    job = run(created(target, tmp_path, gzip.compress(TEXT.encode()), sort=sort, mode=mode))
    assert (job.status, job.skipped_lines.as_json()) == (Status.FAILED, LINES)
    run_sql(target.address, "DELETE FROM t WHERE id = 5 AND word = 'there'")
    commands.retry(job.pk)
    job = run(job)
    assert (job.status, job.skipped_lines.as_json()) == (Status.SUCCEEDED, LINES)


def test_the_page_shows_them(target: Target, tmp_path: Path, client: Client):
    job = run(created(target, tmp_path, TEXT.replace("Österreich", "<b>Über</b>").encode()))
    client.force_login(make_user("ann"))
    html = client.get(reverse("job", args=[job.pk])).content.decode()
    assert "Not data: 1 header, 1 above the table, 13 blank" in html
    assert "&lt;b&gt;Über&lt;/b&gt;" in html
    assert "<b>Über" not in html


@pytest.mark.one_of("sort")
@pytest.mark.parametrize("sort", ["keep", "key"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_a_file_without_rows_has_lines(target: Target, tmp_path: Path, end: str, sort: str):
    job = run(created(target, tmp_path, f"Österreich\n\nid,word{end}".encode(), sort=sort))
    assert (job.status, job.problem, job.scanned_rows) == (Status.SUCCEEDED, {}, 0)
    blank = 1 + len(end[1:])
    assert job.skipped_lines.counts == {"preamble": 1, "header": 1, "blank": blank}
