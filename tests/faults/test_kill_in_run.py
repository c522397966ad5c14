"""Disturb runs of many small chunks: each chunk succeeds or fails by itself, even if its run is cut off."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db.models import Max, Sum

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect
from importer.jobs.actions import commands
from importer.models import Chunk, ImportJob
from tests.engine.loads import rows_of
from tests.faults.conftest import Disturbed, created, under_way
from tests.stack import Stack, wait_until

ROWS = 1500


class OneRowEach(Disturbed):
    """An import that commits every single row."""

    def ends_well(self) -> None:
        wait_until(lambda: ImportJob.objects.get(pk=self.job.pk).ended, what="the job's end")
        job = ImportJob.objects.get(pk=self.job.pk)
        assert (job.status, job.problem, job.balanced) == (ImportJob.Status.SUCCEEDED, {}, True)
        assert self.contents() == (ROWS, sum(range(ROWS)))
        with connect(self.address) as connection:
            assert ledger.rows_by_chunk(connection, str(job.key)) == dict.fromkeys(range(ROWS), 1)
        self.no_connection_is_left()

    def contents(self) -> tuple:
        count, total = rows_of(self.address, "SELECT COUNT(*), SUM(n) FROM numbers")[0]
        return count, int(total or 0)

    def of_all(self, what: Sum | Max) -> int:
        return int(self.job.chunks.aggregate(found=what)["found"])


@pytest.fixture
def one_row_each(stack: Stack, database: Address, tmp_path: Path, transactional_db) -> Iterator[OneRowEach]:
    path = tmp_path / "rows.csv"
    path.write_text("n\n" + "".join(f"{n}\n" for n in range(ROWS)))
    job = created(database, path, "numbers", chunk_bytes=None, commit_rows=1)
    with under_way(OneRowEach(job, database)) as running:
        yield running


def test_a_killed_worker_is_held_against_the_chunk_in_its_hand_alone(one_row_each: OneRowEach, stack: Stack):
    one_row_each.in_the_middle()
    os.kill(stack.load_worker.children()[0], signal.SIGKILL)
    one_row_each.ends_well()
    assert one_row_each.of_all(Sum("deaths")) <= 1


def test_a_worker_that_is_asked_to_end_gives_back_what_has_not_begun(one_row_each: OneRowEach, stack: Stack):
    one_row_each.in_the_middle()
    assert stack.load_worker.end() == 0
    loading = Chunk.objects.filter(job=one_row_each.job, status=Chunk.Status.LOADING)
    assert not loading.exists()
    assert one_row_each.contents()[0] == ImportJob.objects.get(pk=one_row_each.job.pk).loaded_rows < ROWS
    stack.start_workers()
    one_row_each.ends_well()
    assert one_row_each.of_all(Max("attempt")) == 1


def test_cancel_ends_a_run_and_retry_loads_the_rest(one_row_each: OneRowEach):
    one_row_each.in_the_middle()
    commands.cancel(one_row_each.job.pk)
    wait_until(one_row_each.over, seconds=10, what="cancelled within 10 s")
    job = ImportJob.objects.get(pk=one_row_each.job.pk)
    assert job.status == ImportJob.Status.CANCELLED
    assert one_row_each.contents()[0] == job.loaded_rows < ROWS
    commands.retry(job.pk)
    one_row_each.ends_well()


def test_pause_gives_back_what_has_not_begun(one_row_each: OneRowEach):
    one_row_each.in_the_middle()
    commands.pause(one_row_each.job.pk)
    flying = Chunk.objects.filter(job=one_row_each.job, status__in=Chunk.IN_FLIGHT)
    wait_until(lambda: not flying.exists(), seconds=10, what="no chunk in flight within 10 s")
    assert one_row_each.contents()[0] == ImportJob.objects.get(pk=one_row_each.job.pk).loaded_rows < ROWS
    commands.resume(one_row_each.job.pk)
    one_row_each.ends_well()
    assert one_row_each.of_all(Max("attempt")) == 1
