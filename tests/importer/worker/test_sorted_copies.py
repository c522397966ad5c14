"""Imports in the order of the primary key: the sorted copy, and the line numbers in messages about moved rows."""

import csv
import gzip
import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import override_settings
from django.utils import timezone

from importer.connections.source_location import location_of_job
from importer.engine.errors import DiskFull
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.plan.options import Options
from importer.engine.source.profile.profile import profile_file
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.rejects import downloads
from importer.jobs.steps.scanning import claim_scan
from importer.models import ImportJob, Target
from importer.preparation.prepare import prepare
from importer.preparation.request import ImportRequest, NewTableRequest
from importer.sources import uploads
from importer.worker import working_copies
from tests.engine.loads import rows_of
from tests.importer.steps import import_of, run, take
from tests.stack import ROOT, wait_until

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir")

Status = ImportJob.Status
NUMBERS = random.Random(5).sample(range(-500, 10_000), 400)
WORDS = {True: '"a\nb"', False: "w"}
TEXT = "id,word\n" + "".join(f"{number},{WORDS[number % 7 == 0]}\n" for number in NUMBERS)

TABLES = ("CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(20), nr INT, line INT) CHARSET utf8mb4",)


def created(target: Target, file: Path, table: str = "t", fillings=(), **options) -> ImportJob:
    options = Options(**{"sort": "key", "chunk_bytes": 700, "parallelism": 2, **options})
    source, dialect = uploads.register(file), profile_file(file).dialect
    return import_of(source, target, table, dialect=dialect, fillings=fillings, options=options)


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "file.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def in_table(target: Target, sql: str = "SELECT id FROM t ORDER BY id") -> list:
    return [row if len(row) > 1 else row[0] for row in rows_of(target.address, sql)]


def reasons_of(job: ImportJob) -> list[list[str]]:
    text = b"".join(downloads.reasons_file(job)).decode()
    return sorted(csv.reader(text.splitlines(keepends=True)[1:]), key=lambda row: int(row[0]))


def lines_of(text: str) -> dict[int, int]:
    """The physical line of each record of TEXT, by its number in the file."""
    found, line = {}, 2
    for at, number in enumerate(NUMBERS, start=1):
        found[at] = line
        line += 2 if number % 7 == 0 else 1
    return found


class TestSortedImports:
    def test_every_row_arrives_in_order_with_its_own_row_and_line(self, target, tmp_path, plain_dir):
        fillings = (GeneratedColumn("nr", "row"), GeneratedColumn("line", "line"))
        job = run(created(target, written(tmp_path, TEXT), fillings=fillings))
        assert (job.status, job.balanced, job.problem) == (Status.SUCCEEDED, True, {})
        assert job.chunks.count() > 4
        lines = lines_of(TEXT)
        wanted = [(number, row, lines[row]) for row, number in enumerate(NUMBERS, start=1)]
        assert in_table(target, "SELECT id, nr, line FROM t ORDER BY id") == sorted(wanted)
        assert working_copies.remove_unneeded() == 2
        assert list(plain_dir.iterdir()) == []

    @pytest.mark.parametrize("pack", [lambda text: gzip.compress(text.encode()), lambda text: text.encode("utf-16")])
    def test_unpacked_and_sorted_in_one_go(self, target, tmp_path, pack, plain_dir):
        job = run(created(target, written(tmp_path, pack(TEXT)), mode="replace"))
        assert (job.status, job.problem, job.loaded_rows) == (Status.SUCCEEDED, {}, 400)
        assert job.copied_bytes == job.source.size
        assert in_table(target) == sorted(NUMBERS)
        copy = location_of_job(job).read_text().split("\n", 1)[1]
        assert copy.startswith(f"{min(NUMBERS)},")
        assert {path.name for path in plain_dir.iterdir()} == {job.plain_copy, f"{job.plain_copy}.places"}

    def test_rejects_and_duplicates_have_the_files_line_numbers(self, target, tmp_path):
        text = 'id,word\n5,a\nx,b\n1,"c\nd"\n\n3,e,f\n5,g\n2,h\n0,' + "i" * 30 + "\n"
        job = run(created(target, written(tmp_path, text), on_error="reject", chunk_bytes=2**20))
        assert (job.status, job.problem, job.loaded_rows, job.rejected_rows) == (Status.SUCCEEDED, {}, 3, 4)
        reasons = reasons_of(job)
        assert [int(row[0]) for row in reasons] == [3, 7, 8, 10]
        assert [int(row[1]) for row in reasons] == [text.index(each) for each in ("x,b", "3,e", "5,g", "0,i")]
        assert "Line 2 has the same key: id = '5'." in reasons[2][5]
        rejected = b"".join(downloads.reject_file(job)).decode()
        assert sorted(rejected.splitlines()[1:]) == sorted(["x,b", "3,e,f", "5,g", "0," + "i" * 30])

    def test_a_row_that_stops_the_import_is_named_by_the_files_line(self, target, tmp_path):
        job = run(created(target, written(tmp_path, "id,word\n3,a\n2,b\n1," + "c" * 30 + "\n")))
        assert (job.status, job.problem["where"]) == (Status.FAILED, "line 4, column word")
        assert (
            "1 row in the order of id" in job.problem["advice"] or "3 rows in the order of id" in job.problem["advice"]
        )
        assert in_table(target) == []

    def test_rows_are_read_back_and_named_by_the_files_line(self, target, tmp_path):
        job = run(created(target, written(tmp_path, TEXT), verify="full"))
        assert (job.status, job.problem) == (Status.SUCCEEDED, {})

    def test_a_new_table_is_surveyed_in_the_files_order(self, target, tmp_path):
        text = "id,n\n" + "".join(f"{number},{number}\n" for number in NUMBERS) + "20000,a text\n"
        path = written(tmp_path, text)
        options = Options(mode="create", sort="key", chunk_bytes=700)
        prepared = prepare(
            uploads.register(path),
            target,
            "fresh",
            ImportRequest(options=options, new_table=NewTableRequest(primary_key=("id",))),
        )
        job = run(commands.create(prepared))
        assert (job.status, job.problem, job.loaded_rows) == (Status.SUCCEEDED, {}, 401)
        assert in_table(target, "SELECT id FROM fresh ORDER BY id") == sorted([*NUMBERS, 20000])

    def test_a_quote_that_is_not_closed_keeps_the_files_order(self, target, tmp_path):
        text = 'id,word\n3,a\n2,"b" b\n' + "".join(f"{number},c\n" for number in range(10, 60))
        for sort, status in (("key", Status.FAILED), ("auto", Status.SUCCEEDED)):
            job = created(target, written(tmp_path, text), on_error="reject", sort="key")
            ImportJob.objects.filter(pk=job.pk).update(options_json={**job.options_json, "sort": sort})
            job = run(job)
            assert job.status == status
        assert (job.loaded_rows, job.rejected_rows) == (51, 1)
        assert [row[0] for row in reasons_of(job)] == ["3"]
        assert "line 3" in job.plan.reasons[-1].why

    def test_an_unbalanced_quote_stops_a_sorted_import_like_an_unsorted_one(self, target, tmp_path):
        job = run(created(target, written(tmp_path, 'id,word\n3,a\n2,"b"c\n')))
        assert (job.status, job.problem["where"]) == (Status.FAILED, "line 3")


class TestInterruptions:
    def test_a_retry_sorts_again_and_loads_the_rest(self, target, tmp_path):
        job = created(target, written(tmp_path, TEXT))
        [scan] = lifecycle.advance(job.pk)
        take(scan)
        take(lifecycle.advance(job.pk)[0])
        commands.cancel(job.pk)
        run(job)
        done = in_table(target)
        assert 0 < len(done) < 400
        assert working_copies.remove_unneeded() == 2
        commands.retry(job.pk)
        job = run(job)
        assert (job.status, job.problem, job.loaded_rows) == (Status.SUCCEEDED, {}, 400)
        assert job.plan.sorted_by.columns == ("id",)
        assert in_table(target) == sorted(NUMBERS)

    def test_chunks_that_are_cut_wait_for_the_same_order(self, target, tmp_path):
        job = created(target, written(tmp_path, TEXT))
        ImportJob.objects.filter(pk=job.pk).update(options_json={**job.options_json, "sort": "auto"})
        [scan] = lifecycle.advance(job.pk)
        take(scan)
        commands.cancel(job.pk)
        run(job)
        working_copies.remove_unneeded()
        commands.retry(job.pk)
        with override_settings(KEEP_FREE_BYTES=2**62):
            job = run(job)
        assert (job.status, job.problem["kind"]) == (Status.FAILED, "DiskFull")
        commands.retry(job.pk)
        assert (run(job).status, in_table(target)) == (Status.SUCCEEDED, sorted(NUMBERS))

    def test_a_cancelled_sort_leaves_nothing(self, target, tmp_path, plain_dir, monkeypatch):
        monkeypatch.setattr(working_copies, "LOOK_EVERY", 0)
        job = created(target, written(tmp_path, TEXT))
        lifecycle.advance(job.pk)
        mine = claim_scan(job.pk)
        commands.cancel(job.pk)
        assert working_copies.make_copy(mine) is False
        assert list(plain_dir.iterdir()) == []

    def test_no_room(self, target, tmp_path, plain_dir, monkeypatch):
        """The kernel refuses to let any file of this process grow beyond 4,000 bytes."""
        job = created(target, written(tmp_path, TEXT))
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        lifecycle.advance(job.pk)
        mine = claim_scan(job.pk)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, before[1]))
        try:
            with pytest.raises(DiskFull, match="cannot be sorted"):
                working_copies.make_copy(mine)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert list(plain_dir.iterdir()) == []

    def test_too_little_disk_space_is_reported_before_sorting(self, target, tmp_path, plain_dir, settings):
        settings.KEEP_FREE_BYTES = 2**62
        job = run(created(target, written(tmp_path, TEXT)))
        assert "Sorting takes 2 times the file's unpacked size" in job.problem["what"]
        assert "sort keep" in job.problem["advice"]

    def test_another_worker_sorts_after_a_killed_one(self, target, tmp_path, settings, stack_env):
        settings.PLAIN_DIR = settings.VAR_DIR / "plain"
        rows = "".join(f"{n * 7919 % 100_003},{'w' * 20}\n" for n in range(100_000))
        file = written(tmp_path, "id,word\n" + rows)
        job = created(target, file, chunk_bytes=None)
        worker = subprocess.Popen(
            [sys.executable, "-c", SCAN.format(job=job.pk)], cwd=ROOT, env=stack_env.env, start_new_session=True
        )
        # Perhaps with parts that are not yet in them.
        wait_until(lambda: {path.suffix for path in settings.PLAIN_DIR.glob("*")} >= {".sorted", ".places"})
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        ImportJob.objects.update(step_lease=timezone.now())
        job = run(job)
        assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, 100_000)
        working_copies.remove_unneeded()
        assert list(settings.PLAIN_DIR.glob("*")) == []


SCAN = """
import django
django.setup()
from importer.jobs import lifecycle
from importer.worker import scan
lifecycle.advance({job})
scan.scan_job({job}, lambda *_: None)
"""
