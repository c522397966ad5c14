"""Tables without a key in the file: the rows of a transaction are found by the numbers that the server gave them."""

import pytest

from importer.engine.errors import RowsRefused
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.readback import compare, numbered_rows
from importer.engine.load.readback.digest_sql import StoredDigests
from importer.engine.load.readback.expected_rows import Values
from importer.engine.mysql.connection import Address, execute
from importer.engine.native import loader
from importer.engine.plan.options import Options
from importer.engine.units import MIB
from tests.engine.loads import inserted_at_each_begin, rows_of, run_sql, works

pytestmark = [pytest.mark.skipif(not loader.library(), reason="digests need the C library"), pytest.mark.both_servers]

ROWS = 2500


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows that were read back at a time, to compare their values one by one."""
    numbers: list[int] = []
    following = numbered_rows.StoredRows.following

    def counted(stored: numbered_rows.StoredRows, count: int) -> list[Values]:
        rows = following(stored, count)
        numbers.append(len(rows))
        return rows

    monkeypatch.setattr(numbered_rows.StoredRows, "following", counted)
    return numbers


@pytest.fixture
def work(database: Address, source) -> ChunkLoad:
    columns = "id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(20), price DECIMAL(8,2)"
    run_sql(database, f"CREATE TABLE t ({columns})")
    path = source("".join(f"word {row // 2},{row % 7}\n" for row in range(ROWS)))
    run_sql(database, "INSERT INTO t (word) VALUES ('before'), ('before')")
    [work] = works(database, path, ["word", "price"], Options(verify="full", on_error="reject"))
    return work


def after_load(monkeypatch: pytest.MonkeyPatch, *statements: str) -> None:
    """Run these statements in the load's transaction before its rows are compared."""
    read_back = compare.read_back

    def changed(connection, *arguments) -> None:
        for each in statements:
            execute(connection, each)
        read_back(connection, *arguments)

    monkeypatch.setattr(compare, "read_back", changed)


def test_rows_are_equal_while_others_insert(work, database, monkeypatch, compared):
    begun = inserted_at_each_begin(
        monkeypatch, database, "INSERT INTO t (word) VALUES ('at the same time'), ('word 3')"
    )
    digests = []
    select = StoredDigests._select
    monkeypatch.setattr(StoredDigests, "_select", lambda of, rows: digests.append(select(of, rows)) or digests[-1])
    assert work.plan.readback.numbered_by == "id"
    assert load_chunk(work, LoadCallbacks()).tally.loaded == ROWS
    assert rows_of(database, "SELECT COUNT(*) FROM t") == [(ROWS + 4,)]
    assert (compared, begun) == ([], [1])
    assert [each.rows for each in digests] == [ROWS], "rows before the first one of LOAD DATA are not read"


@pytest.mark.parametrize("method", ["insert", "insert_prepared"])
def test_rows_of_several_statements_are_all_compared(work, database, monkeypatch, compared, method):
    [again] = works(database, work.path, ["word", "price"], Options(verify="full", method=method, rows_per_statement=7))
    assert load_chunk(again, LoadCallbacks()).tally.loaded == ROWS
    assert compared == []
    run_sql(database, "DELETE FROM millrace_ledger")
    after_load(monkeypatch, f"UPDATE t SET word = 'word 9' WHERE {NEW} AND word = 'word 8' LIMIT 1")
    with pytest.raises(RowsRefused, match=r"'word 8' is another one: the table has word 9"):
        load_chunk(again, LoadCallbacks())


def test_rows_that_are_left_out_are_not_missed(work, database, compared):
    lines = work.path.read_text().splitlines()
    lines[7], lines[2000] = "bad,x", "bad,"
    work.path.write_text("\n".join(lines))
    [again] = works(database, work.path, ["word", "price"], Options(verify="full", on_error="reject"))
    assert load_chunk(again, LoadCallbacks()).tally.rejected == 2
    assert compared == []


NEW = "id > @millrace_before"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (f"UPDATE t SET word = 'word 9' WHERE {NEW} AND word = 'word 8'", "line 17, column word"),
        (f"UPDATE t SET price = MOD(price + 1, 7) WHERE {NEW} AND word = 'word 8'", "line 17, column price"),
        (f"DELETE FROM t WHERE {NEW} AND word = 'word 1249' LIMIT 1", "line 2,499, column price"),
        ("INSERT INTO t (word, price) VALUES ('word 1249', 0)", "line 2,500, column id"),
    ],
)
def test_a_change_is_named(work, database, monkeypatch, change, where):
    after_load(monkeypatch, change)
    with pytest.raises(RowsRefused) as refused:
        load_chunk(work, LoadCallbacks())
    assert refused.value.where == where
    assert rows_of(database, "SELECT COUNT(*) FROM t") == [(2,)]


def test_a_row_there_thrice_for_its_equal_and_another_is_named(work, database, monkeypatch):
    doubled = f"UPDATE t SET word = 'word 0', price = 0 WHERE {NEW} AND word = 'word 7'"
    work.path.write_text("word 0,0\n" * 4 + "word 7,0\n" * 2)
    [again] = works(database, work.path, ["word", "price"], Options(verify="full"))
    after_load(monkeypatch, doubled)
    with pytest.raises(RowsRefused, match=r"'word 7' is another one: the table has word 0"):
        load_chunk(again, LoadCallbacks())


def test_columns_without_a_digest_are_compared_in_the_order_of_the_file(work, database, monkeypatch, compared):
    run_sql(database, "ALTER TABLE t ADD ratio FLOAT")
    options = Options(verify="full")
    [again] = works(database, work.path, ["word", "ratio"], options)
    assert load_chunk(again, LoadCallbacks()).tally.loaded == ROWS
    assert compared == [1000, 1000, 500, 0]
    run_sql(database, "DELETE FROM millrace_ledger")
    after_load(monkeypatch, f"UPDATE t SET ratio = 99 WHERE {NEW} AND word = 'word 1001' AND ratio = 0")
    with pytest.raises(RowsRefused, match=r"'0' is another one: the table has 99"):
        load_chunk(again, LoadCallbacks())


def test_no_more_is_read_back_at_a_time_than_of_the_file(work, database, compared):
    run_sql(database, "ALTER TABLE t ADD ratio FLOAT, MODIFY word LONGTEXT")
    work.path.write_text("".join(f"{row}{'x' * 400_000},{row}\n" for row in range(5)))
    [again] = works(database, work.path, ["word", "ratio"], Options(verify="full"), chunk_bytes=4 * MIB)
    assert load_chunk(again, LoadCallbacks()).tally.loaded == 5
    assert compared == [2, 2, 1, 0]


def test_a_locked_table_stays_locked(work, database, compared):
    [again] = works(database, work.path, ["word", "price"], Options(verify="full", lock_table=True))
    assert load_chunk(again, LoadCallbacks()).tally.loaded == ROWS
    assert compared == []
