"""A chunk's transaction that begins again, on both servers."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.load.chunk_load import Stopwatch
from importer.engine.load.chunk_session import ChunkSession
from importer.engine.mysql.connection import Address, connect, connect_loader, execute
from tests.engine.loads import run_sql, works

pytestmark = pytest.mark.both_servers


@pytest.fixture
def session(database: Address, source) -> Iterator[ChunkSession]:
    run_sql(database, "CREATE TABLE t (n INT)")
    [work] = works(database, source("1\n"), ["n"])
    with connect_loader(database) as connection:
        ledger.create(connection)
        yield ChunkSession(connection, -1, work, lambda _: None, Stopwatch())


def test_keeps_its_entry_and_nothing_else(session: ChunkSession):
    connection, entry = session.connection, session.entry
    assert session.begin()
    ledger.insert(connection, replace(entry, chunk=1))
    session.begin_again()
    assert ledger.is_visible(connection, entry)
    execute(connection, "COMMIT")
    assert ledger.rows_by_chunk(connection, entry.job) == {0: 1}


def test_gives_way_to_an_attempt_that_was_quicker(session: ChunkSession, database: Address):
    with connect(database) as quicker:
        ledger.insert(quicker, replace(session.entry, attempt=2))
    with pytest.raises(TargetProblem, match="already loaded") as caught:
        session.begin_again()
    assert caught.value.retryable
