"""Kill any process while rows replace others: each row is counted once, as loaded, replaced or unchanged."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address, connect, execute
from importer.models import ImportJob
from tests.faults.conftest import ROWS, Disturbed, created, expected_contents, under_way
from tests.stack import Stack, wait_until
from tests.targets import TestServer

pytestmark = pytest.mark.one_of("replacing")

# Every third row of the file is in the table as it is, and the one after it with another word.
THERE = (
    "INSERT INTO keyed WITH RECURSIVE numbers AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})"
    " SELECT n, CONCAT('wörd \"', MOD(n, 977), '\", and more', IF(MOD(n, 3) = 1, '!', '')), MOD(n, 5000) + 0.25,"
    " CONCAT('2024-', MOD(n, 12) + 1, '-', MOD(n, 28) + 1, ' 10:00:00') FROM numbers WHERE MOD(n, 3) < 2"
)
EQUAL, CHANGED = len(range(0, ROWS, 3)), len(range(1, ROWS, 3))


@pytest.fixture(params=[("append", "replace"), ("upsert", "fail")], ids=["append", "upsert"])
def replacing(
    request: pytest.FixtureRequest, stack: Stack, database: Address, many_rows: Path, transactional_db
) -> Iterator[Disturbed]:
    """An import under way whose rows meet equal and other ones in the table."""
    mode, policy = request.param
    job = created(database, many_rows, "keyed", mode=mode, on_duplicate=policy)
    with connect(database) as connection:
        mariadb = "mariadb" in connection.get_server_info().lower()
        depth = "max_recursive_iterations" if mariadb else "cte_max_recursion_depth"
        execute(connection, f"SET SESSION {depth} = {ROWS}")
        execute(connection, THERE.format(last=ROWS - 1))
    with under_way(Disturbed(job, database)) as running:
        yield running


def ends_well(replacing: Disturbed) -> None:
    wait_until(replacing.over, seconds=200, what="the job's end")
    job = ImportJob.objects.get(pk=replacing.job.pk)
    assert (job.status, job.problem, job.balanced) == (ImportJob.Status.SUCCEEDED, {}, True)
    assert (job.loaded_rows, job.replaced_rows, job.unchanged_rows) == (ROWS - EQUAL - CHANGED, CHANGED, EQUAL)
    assert replacing.contents() == expected_contents()
    replacing.no_connection_is_left()


def test_a_pool_child_is_killed(replacing: Disturbed, stack: Stack):
    replacing.in_the_middle()
    os.kill(stack.load_worker.children()[0], signal.SIGKILL)
    ends_well(replacing)


def test_the_server_is_killed(replacing: Disturbed, server: TestServer):
    replacing.in_the_middle()
    server.kill()
    server.start()
    ends_well(replacing)
