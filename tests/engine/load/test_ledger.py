"""The ledger's memory of what became of rows, on both servers."""

from importer.engine.load import ledger
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address, connect, fetch_row
from tests.engine.loads import account_with

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
