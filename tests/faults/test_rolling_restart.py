"""An update while imports run: every process is asked to stop and starts again, one after the other."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address
from importer.jobs.actions import commands
from importer.models import Chunk, Total
from tests.engine.loads import rows_of
from tests.faults.conftest import Disturbed, created
from tests.stack import Stack, wait_until
from tests.targets import TestServer

CHUNKS = 1000


@pytest.fixture
def served(stack: Stack) -> Iterator[Stack]:
    """The stack, with a web server of its own: no page is looked at, so it needs no static files."""
    stack.web.start()
    wait_until(stack.answers, what="the web server")
    yield stack
    stack.web.stop()


@pytest.fixture
def imports(
    served: Stack, servers: dict[str, TestServer], many_rows: Path, transactional_db
) -> Iterator[list[Disturbed]]:
    """An import of 1,000 chunks into each server, at the same time: a restart takes long, and serves all of them."""
    with ExitStack() as databases:
        started = [started_into(databases.enter_context(each.fresh_database()), many_rows) for each in servers.values()]
        yield started
        for each in started:
            wait_until(each.over, what="the job's end before the next test")


def started_into(address: Address, path: Path) -> Disturbed:
    """Each chunk is a transaction of its own, because rows may be rejected. One at a time: all processes restart."""
    options = {"chunk_bytes": path.stat().st_size // CHUNKS, "parallelism": 1, "on_error": "reject", "max_rejects": 1}
    job = created(address, path, "unkeyed", **options)
    commands.start(job.pk)
    return Disturbed(job, address)


def lost_workers() -> float:
    """How many chunks and steps have lost their worker."""
    return sum(Total.objects.filter(name=Total.Name.EXPIRED).values_list("amount", flat=True))


def goes_on(of: Disturbed, loaded: int) -> bool:
    """Whether more chunks are loaded than these, or all of them."""
    return of.loaded() > loaded or of.over()


def test_every_process_restarts_while_a_thousand_chunks_load(imports: list[Disturbed], served: Stack):
    """No chunk is lost, failed or doubled, and none counts an attempt for a worker that was asked to stop."""
    before = lost_workers()
    for process in (served.control_worker, served.load_worker, served.web, served.beat):
        loaded = [each.loaded() for each in imports]
        assert min(loaded) < CHUNKS, "the imports were over before every process had restarted"
        assert process.end() == 0
        process.start()
        for each, so_far in zip(imports, loaded, strict=True):
            wait_until(partial(goes_on, each, so_far), what="progress after a restart")
    for each in imports:
        each.ends_well()
        chunks = Chunk.objects.filter(job=each.job)
        assert chunks.count() >= CHUNKS
        assert set(chunks.values_list("attempt", "deaths")) == {(1, 0)}
        assert [problem for problem in chunks.values_list("problem", flat=True) if problem] == []
        assert rows_of(each.address, f"SELECT MAX(attempt) FROM {ledger.TABLE} WHERE chunk < {ledger.FIRST_SEAL}") == [
            (1,)
        ]
    assert lost_workers() == before
