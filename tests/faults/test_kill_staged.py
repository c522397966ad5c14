"""Kill any process while a staged import runs: the table gets all rows once, or stays as it was."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute
from importer.jobs.actions import commands
from importer.jobs.steps.table_backup import restore_backup
from importer.jobs.transitions import JobStep
from importer.models import ImportJob
from tests.engine.loads import rows_of
from tests.faults.conftest import ROWS, Disturbed, created, expected_contents, under_way
from tests.stack import Stack, wait_until
from tests.targets import TestServer

pytestmark = pytest.mark.one_of("staged")

Status = ImportJob.Status


@pytest.fixture(params=["atomic", "upsert", "update", "sync", "replace"])
def staged(
    request: pytest.FixtureRequest, stack: Stack, database: Address, many_rows: Path, transactional_db
) -> Iterator[Disturbed]:
    """A staged import under way, into a table with a key: empty, but for mode update, which changes all rows.

    One in mode sync keeps what it changes.
    """
    options = {"undo": "keep"} if request.param == "sync" else {}
    job = created(database, many_rows, "keyed", mode=request.param, **options)
    if request.param == "update":
        with connect(database) as connection:
            for first in range(0, ROWS, 1000):
                values = ", ".join(f"({n}, 'old', 0, NULL)" for n in range(first, first + 1000))
                execute(connection, f"INSERT INTO keyed VALUES {values}")
            connection.commit()
    with under_way(Disturbed(job, database)) as running:
        yield running


def ends_well(staged: Disturbed) -> None:
    """Exactly the rows of an undisturbed import, and no staging table left."""
    wait_until(lambda: now(staged).ended, seconds=200, what="the job's end")
    job = now(staged)
    assert not job.problem, job.problem["what"]
    assert (job.status, job.balanced) == (Status.SUCCEEDED, True)
    assert staged.contents() == expected_contents()
    wait_until(lambda: not now(staged).leftover, seconds=60, what="a clean target")
    names = {row[0] for row in rows_of(staged.address, "SHOW TABLES")}
    assert names == {"keyed", ledger.TABLE, *({job.kept_table} if job.kept_table else set())}
    staged.no_connection_is_left()
    if job.keeps_rows:
        is_taken_back(staged)


def is_taken_back(staged: Disturbed, at_once: Callable[[], None] = lambda: None) -> None:
    """Take the import back; `at_once` is done as soon as a worker begins. The table has the rows from before: none."""
    restore_backup(staged.job.pk)
    wait_until(lambda: now(staged).step == JobStep.UNDOING or now(staged).restored_at, seconds=60, what="the undo")
    at_once()
    wait_until(lambda: not now(staged).undo_asked, seconds=100, what="the end of the undo")
    job = now(staged)
    assert (job.undo_json["new"], job.undo_json["by_others"]) == (job.loaded_rows, 0)
    assert rows_in_table(staged) == 0


def rows_in_table(staged: Disturbed) -> int:
    """Rows of the file in the table."""
    return int(rows_of(staged.address, "SELECT COUNT(*) FROM keyed WHERE word <> 'old'")[0][0])


def now(staged: Disturbed) -> ImportJob:
    return ImportJob.objects.get(pk=staged.job.pk)


def is_finishing(staged: Disturbed) -> None:
    wait_until(lambda: now(staged).status in (Status.FINISHING, Status.VERIFYING, Status.SUCCEEDED), seconds=100)


def test_a_pool_child_is_killed_while_staging(staged: Disturbed, stack: Stack):
    staged.in_the_middle()
    assert rows_in_table(staged) == 0
    os.kill(stack.load_worker.children()[0], signal.SIGKILL)
    ends_well(staged)


def test_the_worker_is_killed_in_the_finishing_step(staged: Disturbed, stack: Stack):
    is_finishing(staged)
    stack.load_worker.kill()
    stack.load_worker.start()
    ends_well(staged)


def test_the_server_is_killed_in_the_finishing_step(staged: Disturbed, server: TestServer):
    is_finishing(staged)
    server.kill()
    server.start()
    ends_well(staged)


@pytest.mark.parametrize("victim", ["worker", "server"])
@pytest.mark.parametrize("staged", ["sync"], indirect=True)
def test_the_worker_or_the_server_is_killed_while_it_is_taken_back(
    staged: Disturbed, stack: Stack, server: TestServer, victim: str
):
    wait_until(lambda: now(staged).ended and not now(staged).leftover, seconds=200, what="the job's end")

    def kill() -> None:
        killed = stack.load_worker if victim == "worker" else server
        killed.kill()
        killed.start()

    is_taken_back(staged, kill)


def test_a_cancel_in_the_finishing_step_is_in_time_or_too_late_but_never_half(staged: Disturbed):
    # The step takes less time than a look at it, so the table is locked until the import is cancelled.
    with connect(staged.address) as held:
        execute(held, "LOCK TABLES keyed READ")
        wait_until(lambda: now(staged).status == Status.FINISHING, seconds=100, what="the finishing step")
        commands.cancel(staged.job.pk)
    wait_until(lambda: now(staged).ended, seconds=30, what="the end of a cancelled job")
    if now(staged).status == Status.CANCELLED:
        assert rows_in_table(staged) == 0
        commands.retry(staged.job.pk)
    ends_well(staged)
