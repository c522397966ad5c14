"""Kill any process while what a preview has staged is applied: the table gets all of it once, or stays as it was."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address
from importer.jobs.actions import applying
from importer.models.outcomes import outcome_words
from tests.faults.conftest import Disturbed, created, expected_contents, under_way
from tests.faults.test_kill_staged import ends_well, is_finishing, now, rows_in_table
from tests.stack import Stack, wait_until
from tests.targets import TestServer


@pytest.fixture
def previewed(stack: Stack, database: Address, many_rows: Path, transactional_db) -> Iterator[Disturbed]:
    """An import that has staged its file and compared it with an empty table."""
    job = created(database, many_rows, "keyed", mode="sync", preview=True)
    with under_way(Disturbed(job, database)) as running:
        wait_until(lambda: now(running).ended, seconds=200, what="the preview's end")
        assert (outcome_words(now(running)), rows_in_table(running)) == ("previewed", 0)
        yield running


def applied_once(previewed: Disturbed) -> None:
    """All rows are in, and a second apply finds nothing to do."""
    ends_well(previewed)
    with pytest.raises(Problem, match="has succeeded"):
        applying.apply(previewed.job.pk)
    assert previewed.contents() == expected_contents()


def test_the_worker_is_killed_while_it_applies(previewed: Disturbed, stack: Stack):
    applying.apply(previewed.job.pk)
    is_finishing(previewed)
    stack.load_worker.kill()
    assert rows_in_table(previewed) in (0, expected_contents()[0])
    stack.load_worker.start()
    applied_once(previewed)


def test_the_server_is_killed_while_rows_are_applied(previewed: Disturbed, server: TestServer):
    applying.apply(previewed.job.pk)
    is_finishing(previewed)
    server.kill()
    server.start()
    applied_once(previewed)
