"""Kill any process while a staged import runs: the table gets all rows once, or stays as it was."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.engine.loads import rows_of
from tests.faults.conftest import Disturbed, created, expected_contents, under_way
from tests.stack import Stack, wait_until
from tests.targets import TestServer

pytestmark = pytest.mark.one_of("staged")

Status = ImportJob.Status


@pytest.fixture(params=["atomic", "upsert", "sync", "replace"])
def staged(
    request: pytest.FixtureRequest, stack: Stack, database: Address, many_rows: Path, transactional_db
) -> Iterator[Disturbed]:
    """A staged import under way, into a table with a primary key."""
    with under_way(Disturbed(created(database, many_rows, "keyed", mode=request.param), database)) as running:
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


def rows_in_table(staged: Disturbed) -> int:
    return int(rows_of(staged.address, "SELECT COUNT(*) FROM keyed")[0][0])


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


def test_a_cancel_in_the_finishing_step_is_in_time_or_too_late_but_never_half(staged: Disturbed):
    wait_until(lambda: now(staged).status == Status.FINISHING, seconds=100, what="the finishing step")
    commands.cancel(staged.job.pk)
    wait_until(lambda: now(staged).ended, seconds=30, what="the end of a cancelled job")
    if now(staged).status == Status.CANCELLED:
        assert rows_in_table(staged) == 0
        commands.retry(staged.job.pk)
    ends_well(staged)
