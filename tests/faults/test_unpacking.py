"""A worker that unpacks is killed, or its job cancelled: real processes, and nothing is lost or left behind."""

import bz2
import random
from pathlib import Path

import pytest
from django.conf import settings

from importer.engine.mysql.connection import Address
from importer.engine.reading.stated import Stated
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.engine.loads import rows_of
from tests.importer.steps import import_of
from tests.stack import Stack, wait_until
from tests.targets import target_with

ROWS = 12
ROW_BYTES = 1_000_000


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Few rows, and a field in each that no column takes: long to unpack, a tenth of a second each, quick to load."""
    path = tmp_path_factory.mktemp("source") / "t.csv.bz2"
    rest = random.Random(1).randbytes(ROW_BYTES // 2).hex().encode()
    with path.open("wb") as out:
        out.write(bz2.compress(b"n,left_out\n"))
        member = bz2.compress(b"7," + rest + b"\n")
        for _ in range(ROWS):
            out.write(member)
    return path


@pytest.fixture
def unpacking(mariadb: Address, packed: Path, stack: Stack, transactional_db) -> ImportJob:
    """A job whose file is being unpacked, for which the kind of server does not matter."""
    job = import_of(packed, target_with(mariadb, "CREATE TABLE t (n INT)"), stated=Stated(ignore_fields=True))
    commands.start(job.pk)
    wait_until(lambda: any(part.stat().st_size for part in parts()), what="a copy that is begun")
    return job


def parts() -> list[Path]:
    return list(settings.PLAIN_DIR.glob("*.part"))


def ended(job: ImportJob) -> ImportJob:
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, what="the job's end")
    return ImportJob.objects.get(pk=job.pk)


def nothing_is_left() -> bool:
    return not list(settings.PLAIN_DIR.iterdir())


def test_the_worker_that_unpacks_is_killed(unpacking: ImportJob, mariadb: Address, stack: Stack):
    stack.control_worker.kill()
    assert parts(), "the kill came too late"
    stack.control_worker.start()
    job = ended(unpacking)
    assert (job.status, job.loaded_rows, job.problem) == (ImportJob.Status.SUCCEEDED, ROWS, {})
    assert rows_of(mariadb, "SELECT COUNT(*), SUM(n) FROM t")[0] == (ROWS, 7 * ROWS)
    wait_until(nothing_is_left, what="the copy and the part to go")


def test_the_worker_that_unpacks_is_asked_to_end(unpacking: ImportJob, stack: Stack):
    assert stack.control_worker.end() == 0
    unpacking.refresh_from_db()
    assert (unpacking.plain_copy, parts()) == ("", [])
    # It is left to the next worker, which need not wait for a lease.
    assert unpacking.step in (ImportJob.Step.NONE, ImportJob.Step.SCAN_QUEUED)
    stack.start_workers()
    job = ended(unpacking)
    assert (job.status, job.loaded_rows, job.problem) == (ImportJob.Status.SUCCEEDED, ROWS, {})
    wait_until(nothing_is_left, what="the copy and the part to go")


def test_a_cancelled_job_stops_unpacking(unpacking: ImportJob):
    commands.cancel(unpacking.pk)
    job = ended(unpacking)
    assert (job.status, job.plain_copy, job.loaded_rows) == (ImportJob.Status.CANCELLED, "", 0)
    wait_until(nothing_is_left, what="the part to go")
