"""The ledger's memory of what became of rows, on both servers."""

from pathlib import Path

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address, connect, fetch_row
from importer.engine.plan.options import Options
from tests.engine.loads import account_with, five_chunks, rows_of, run_sql

pytestmark = pytest.mark.both_servers

ENTRY = ledger.Entry("job", 0, 1, 10, 100, "")


def test_a_tally_is_kept_with_its_chunk_and_the_finishing_step_is_no_chunk(database: Address):
    with connect(database) as connection:
        ledger.create(connection)
        for chunk, tally in ((0, Tally(10)), (1, Tally(5, 3, 2, 1)), (ledger.FINISH, Tally(8, 2))):
            entry = ledger.Entry("job", chunk, 1, tally.rows, 100, "")
            assert ledger.insert(connection, entry)
            ledger.record_tally(connection, entry, tally)
            assert ledger.read_tally(connection, "job", chunk) == tally
        assert ledger.rows_by_chunk(connection, "job") == {0: 10, 1: 11}


def test_an_account_that_may_not_delete_leaves_the_rows(database: Address):
    count = f"SELECT COUNT(*) FROM {ledger.TABLE}"
    with connect(database) as connection:
        ledger.create(connection)
        ledger.insert(connection, ENTRY)
        with account_with(database, "SELECT, INSERT") as few, connect(few) as of_few:
            ledger.delete_if_allowed(of_few, ENTRY.job)
        assert fetch_row(connection, count) == (1,)
        ledger.delete_if_allowed(connection, ENTRY.job)
        assert fetch_row(connection, count) == (0,)


@pytest.mark.parametrize(
    ("change", "flaw"),
    [("ENGINE=MyISAM", "has the engine MyISAM, which cannot roll back"), ("DROP PRIMARY KEY", "has no primary key")],
)
def test_chunks_are_not_loaded_with_a_ledger_that_does_not_keep_its_promise(
    database: Address, tmp_path: Path, change: str, flaw: str
):
    """With the engine MyISAM, a chunk that had failed counted as loaded at the next attempt."""
    with connect(database) as connection:
        ledger.create(connection)
    run_sql(database, f"ALTER TABLE {ledger.TABLE} {change}")
    with pytest.raises(TargetProblem, match=flaw) as refused:
        load_chunk(five_chunks(database, tmp_path, Options())[0], LoadCallbacks())
    assert rows_of(database) == []
    run_sql(database, refused.value.advice.partition(";")[0])
    with connect(database) as connection:
        ledger.require_fit(connection, "")
