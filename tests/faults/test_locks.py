"""Locks that others hold on the target: loads wait, meet in deadlocks, give up within bounds, and can be cancelled."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.engine.loads import rows_of
from tests.faults.conftest import ROWS, Disturbed
from tests.importer.steps import import_of, run
from tests.stack import Stack, wait_until
from tests.targets import target_with

pytestmark = pytest.mark.both_servers

Status = ImportJob.Status
FEW = 2000


@contextmanager
def blocked(address: Address, lock: str) -> Iterator[Connection]:
    """Another connection with this lock, which is released at the end."""
    with connect(address) as other:
        execute(other, lock)
        yield other
        execute(other, "UNLOCK TABLES")


def waits(address: Address) -> bool:
    """Whether a connection waits for a lock."""
    with connect(address) as connection:
        sql = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for%lock%'"
        return bool(fetch_all(connection, sql)[0][0])


def waits_for_a_row(address: Address) -> bool:
    """Whether a transaction waits for a row. INNODB_TRX is not renewed while somebody reads it again and again."""
    return "LOCK WAIT" in rows_of(address, "SHOW ENGINE INNODB STATUS")[0][2]


@pytest.fixture
def few_rows(database: Address, tmp_path: Path, transactional_db) -> ImportJob:
    """An import of one chunk into a table with a key, not started."""
    target = target_with(database, "CREATE TABLE t (n INT PRIMARY KEY)", "CREATE TABLE heavy (n INT)")
    path = tmp_path / "few.csv"
    path.write_text("n\n" + "".join(f"{n}\n" for n in range(FEW)))
    options = Options(indexes="keep", session={"innodb_lock_wait_timeout": "1"})
    return import_of(path, target, options=options)


LOCKS = ["LOCK TABLES unkeyed WRITE", "FLUSH TABLES WITH READ LOCK"]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_load_that_waits_for_a_lock_is_cancelled_within_10_seconds(disturbed: Disturbed, lock: str):
    disturbed.in_the_middle()
    with blocked(disturbed.address, lock):
        wait_until(lambda: waits(disturbed.address), what="a load that waits")
        commands.cancel(disturbed.job.pk)
        wait_until(disturbed.over, seconds=10, what="cancelled within 10 s")
    job = ImportJob.objects.get(pk=disturbed.job.pk)
    assert job.status == Status.CANCELLED
    assert disturbed.contents()[0] == job.loaded_rows < ROWS
    commands.retry(job.pk)
    disturbed.ends_well()


def test_a_load_goes_on_after_the_lock(disturbed: Disturbed):
    disturbed.in_the_middle()
    with blocked(disturbed.address, "FLUSH TABLES WITH READ LOCK"):
        wait_until(lambda: waits(disturbed.address), what="a load that waits")
    disturbed.ends_well()


def test_cancelled_while_all_workers_are_killed_the_rows_told_are_those_in_the_table(
    disturbed: Disturbed, stack: Stack
):
    disturbed.in_the_middle()
    for worker in (stack.load_worker, stack.control_worker):
        worker.kill()
    commands.cancel(disturbed.job.pk)
    stack.start_workers()
    wait_until(disturbed.over, what="cancelled")
    disturbed.no_connection_is_left()
    job = ImportJob.objects.get(pk=disturbed.job.pk)
    assert job.status == Status.CANCELLED
    with connect(disturbed.address) as connection:
        committed = ledger.rows_by_chunk(connection, str(job.key))
    assert disturbed.contents()[0] == sum(committed.values()) == job.loaded_rows
    commands.retry(job.pk)
    disturbed.ends_well()


def test_a_deadlock_is_tried_again(few_rows: ImportJob, database: Address, stack: Stack):
    with connect(database) as other:
        execute(other, "START TRANSACTION")
        # The server ends the lighter of the two transactions.
        execute(
            other,
            "INSERT INTO heavy SELECT a.ORDINAL_POSITION FROM information_schema.COLUMNS a, mysql.user b LIMIT 5000",
        )
        execute(other, f"INSERT INTO t VALUES ({FEW - 1})")
        commands.start(few_rows.pk)
        wait_until(lambda: waits_for_a_row(database), what="a load that waits for the other's row")
        execute(other, "INSERT INTO t VALUES (0)")
        execute(other, "ROLLBACK")
    wait_until(lambda: ImportJob.objects.get(pk=few_rows.pk).ended, what="the job's end")
    job = ImportJob.objects.get(pk=few_rows.pk)
    assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, FEW)
    assert job.chunks.get().attempt == 2


@pytest.mark.usefixtures("no_workers")
def test_a_lock_that_stays_ends_the_import_with_the_reason(few_rows: ImportJob, database: Address, settings):
    settings.MAX_ATTEMPTS = 1
    with connect(database) as other:
        execute(other, "START TRANSACTION")
        execute(other, "INSERT INTO t VALUES (7)")
        job = run(few_rows)
        assert (job.status, job.loaded_rows) == (Status.FAILED, 0)
        assert "held a lock for too long" in job.problem["what"]
        execute(other, "ROLLBACK")
    commands.retry(job.pk)
    assert run(few_rows).status == Status.SUCCEEDED
    assert rows_of(database, "SELECT COUNT(*) FROM t") == [(FEW,)]
