"""The ledger's memory of what became of rows, on both servers."""

from importer.engine import ledger
from importer.engine.connection import Address, connect
from importer.engine.outcome import Tally


def test_a_tally_is_kept_with_its_chunk_and_the_finishing_step_is_no_chunk(database: Address):
    with connect(database) as connection:
        ledger.create(connection)
        for chunk, tally in ((0, Tally(10)), (1, Tally(5, 3, 2, 1)), (ledger.FINISH, Tally(8, 2))):
            entry = ledger.Entry("job", chunk, 1, tally.rows, 100, "")
            assert ledger.enter(connection, entry)
            ledger.record_tally(connection, entry, tally)
            assert ledger.tally(connection, "job", chunk) == tally
        assert ledger.rows_by_chunk(connection, "job") == {0: 10, 1: 11}
