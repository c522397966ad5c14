"""One chunk, exactly once, on real servers."""

from dataclasses import replace

import MySQLdb
import pytest

from importer.engine.errors import RowsRefused, SourceChanged, TargetProblem
from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import committed_outcomes, load_chunk
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, connect_loader, execute
from tests.engine.loads import Unchecked, given_table, rows_of, run_sql, works
from tests.proxy import cutting_at_commit

# The server alone finds what is wrong with a value.
STRICTEST = Unchecked(rounding="reject")


@pytest.fixture
def numbers(database: Address, source) -> ChunkLoad:
    """1,000 rows for a table of a number and a text."""
    given_table(database, "n INT, t VARCHAR(10)")
    path = source("".join(f"{n},é{n}\n" for n in range(1000)))
    return works(database, path, ["n", "t"], STRICTEST)[0]


def test_rows_and_ledger_arrive_together(numbers: ChunkLoad):
    outcome = load_chunk(numbers, LoadCallbacks())
    assert (outcome.rows, outcome.already) == (1000, False)
    assert rows_of(numbers.address, "SELECT COUNT(*), MIN(t), SUM(n) FROM t") == [(1000, "é0", 499500)]
    with connect(numbers.address) as connection:
        assert ledger.rows_by_chunk(connection, "job-1") == {0: 1000}


def test_watch_hears_of_the_connection_and_of_bytes(numbers: ChunkLoad):
    ids, sent = [], []
    load_chunk(numbers, LoadCallbacks(ids.append, sent.append))
    assert len(ids) == 1
    assert sent[-1] == numbers.chunk.length


def test_file_cut_short_keeps_nothing(numbers: ChunkLoad):
    with numbers.path.open("r+b") as file:
        file.truncate(numbers.chunk.length // 2)
    with pytest.raises(SourceChanged, match="scan saw more"):
        load_chunk(numbers, LoadCallbacks())
    assert rows_of(numbers.address, "SELECT COUNT(*) FROM t") == [(0,)]


def test_table_altered_since_the_plan_is_refused(numbers: ChunkLoad):
    run_sql(numbers.address, "ALTER TABLE t MODIFY n TINYINT")
    with pytest.raises(TargetProblem, match="has changed since the import was planned"):
        load_chunk(numbers, LoadCallbacks())


def test_connection_killed_in_mid_load_keeps_nothing_and_is_retryable(numbers: ChunkLoad):
    def end(connection_id: int) -> None:
        with connect(numbers.address) as other:
            execute(other, "KILL CONNECTION %s", (connection_id,))

    with pytest.raises(TargetProblem) as caught:
        load_chunk(numbers, LoadCallbacks(on_connect=end))
    assert caught.value.retryable
    assert rows_of(numbers.address, "SELECT COUNT(*) FROM t") == [(0,)]


BAD = [
    ("n INT, t VARCHAR(3)", b"1,abc\n2,abcd\n", 2, "t", "abcd", "too long for varchar(3)"),
    ("n INT, t VARCHAR(3)", b'1,abc\n"x",abc\n', 2, "n", "x", "does not fit int"),
    ("n TINYINT, t VARCHAR(9)", b'1,"a\nb"\n300,c\n', 3, "n", "300", "outside the range of tinyint"),
    ("n INT NOT NULL, t DATE", b"1,2024-01-01\n2,2024-02-30\n", 2, "t", "2024-02-30", "is not a valid date"),
    ("n INT, t ENUM('a','b')", b"1,a\n2,b\n3,c\n", 3, "t", "c", "none of enum('a','b')"),
    ("n DECIMAL(5,2), t TEXT", b"1.25,a\n1.259,b\n", 2, "n", "1.259", "does not fit decimal(5,2)"),
    (
        "n INT, t CHAR(9) CHARSET latin1",
        b"1,a\n2,\xe2\x82\xac\xe4\xb8\xad\n",
        2,
        "t",
        "€中",
        "character set latin1 does not have",
    ),
    ("n INT PRIMARY KEY, t TEXT", b"15,a\n15O,b\n", 2, "n", "15O", "does not fit int"),
    ("n INT, t TEXT", b"1,a\n,b\n", 2, "n", "", "--null '' reads blanks as NULL"),
    ("n INT, t DATE", b"1,2024-01-01\n2,\n", 2, "t", "", "--null '' reads blanks as NULL"),
]


@pytest.mark.parametrize(("columns_sql", "data", "line", "column", "value", "said"), BAD)
def test_a_changed_value_is_refused_by_line_column_and_value(
    database: Address, source, columns_sql: str, data: bytes, line: int, column: str, value: str, said: str
):
    given_table(database, columns_sql)
    path = source(data)
    with pytest.raises(RowsRefused) as caught:
        load_chunk(works(database, path, ["n", "t"], STRICTEST)[0], LoadCallbacks())
    first = caught.value.rows[0]
    assert (first.line, first.column, first.value) == (line, column, value)
    assert said in first.reason
    assert "The server says: " in first.reason
    assert [row.line for row in caught.value.rows] == [line]
    assert rows_of(database, "SELECT COUNT(*) FROM t") == [(0,)]
    assert rows_of(database, f"SELECT COUNT(*) FROM {ledger.TABLE}") == [(0,)]


WRONG_COUNTS = [
    (b"7\n", "has 1 field instead of 2"),
    (b"7,a,b\n", "has 3 fields instead of 2"),
]


@pytest.mark.parametrize(("row", "said"), WRONG_COUNTS)
def test_wrong_column_count_names_line_and_counts(database: Address, source, row: bytes, said: str):
    given_table(database, "n INT, t VARCHAR(3)")
    path = source(b"1,a\n" * 10 + row + b"2,b\n" * 10)
    with pytest.raises(RowsRefused, match=said) as caught:
        load_chunk(works(database, path, ["n", "t"], STRICTEST)[0], LoadCallbacks())
    first = caught.value.rows[0]
    assert (first.line, first.column, first.value) == (11, "", row.decode().strip())
    assert "Check delimiter and quote" in caught.value.advice


def test_duplicate_key_names_the_line_of_the_second(database: Address, source):
    given_table(database, "n INT PRIMARY KEY, t VARCHAR(9)")
    path = source("".join(f"{n},x\n" for n in [*range(500), 123, *range(500, 900)]))
    with pytest.raises(RowsRefused, match="Duplicate entry '123'") as caught:
        load_chunk(works(database, path, ["n", "t"], STRICTEST)[0], LoadCallbacks())
    first = caught.value.rows[0]
    assert (first.line, first.value) == (501, "123,x")
    assert "there already: in the table, or earlier in the file" in first.reason
    assert "If these rows were imported before" in caught.value.advice
    assert rows_of(database, "SELECT COUNT(*) FROM t") == [(0,)]


def test_null_markers_are_compared_byte_for_byte(database: Address, source):
    given_table(database, "n INT, t VARCHAR(9) CHARACTER SET latin1")
    path = source("NA,NA\n1,na\n2,NA \n,é\n")
    mapping = (ColumnMapping("n", ("NA", "")), ColumnMapping("t", ("NA",)))
    load_chunk(works(database, path, mapping, STRICTEST)[0], LoadCallbacks())
    assert rows_of(database) == [(None, None), (1, "na"), (2, "NA "), (None, "é")]


def test_the_unquoted_word_null_stays_text(database: Address, source):
    given_table(database, "n INT, t VARCHAR(9), u VARCHAR(9) NOT NULL, m VARCHAR(9)")
    path = source('1,NULL,NULL,NULL\n2,"NULL",null,"NULL"\n3,,,\n')
    mapping = ["n", "t", "u", ColumnMapping("m", ("NULL",))]
    load_chunk(works(database, path, mapping, STRICTEST)[0], LoadCallbacks())
    assert rows_of(database) == [(1, "NULL", "NULL", None), (2, "NULL", "null", None), (3, "", "", "")]


def test_letters_of_a_longer_text_need_no_care(database: Address, source):
    given_table(database, "n INT, t VARCHAR(9), u VARCHAR(9)")
    path = source('1,ANNULLED,xNULL\n2, NULL,NULL \n3,"NULL",NULLs\n')
    [work] = works(database, path, ["n", "t", "u"], STRICTEST)
    assert work.plan.statements.null_word not in ("", work.statements.plain)
    load_chunk(work, LoadCallbacks())
    assert rows_of(database) == [(1, "ANNULLED", "xNULL"), (2, " NULL", "NULL "), (3, "NULL", "NULLs")]


def test_the_word_null_is_no_number(database: Address, source):
    given_table(database, "n INT, t VARCHAR(9)")
    path = source("1,a\nNULL,b\n")
    with pytest.raises(RowsRefused) as caught:
        load_chunk(works(database, path, ["n", "t"], STRICTEST)[0], LoadCallbacks())
    assert (caught.value.rows[0].line, caught.value.rows[0].value) == (2, "NULL")


def test_loader_connection_serves_no_file_by_name(database: Address, source):
    given_table(database, "t TEXT")
    secret = source("canary\n", "secret")
    with connect_loader(database) as connection:
        with pytest.raises(MySQLdb.Error):
            execute(connection, f"LOAD DATA LOCAL INFILE '{secret}' INTO TABLE t")
        execute(connection, "COMMIT")
    assert rows_of(database) == []


@pytest.mark.parametrize("arrives", [True, False])
def test_line_cut_at_commit_is_retryable_and_the_next_attempt_knows(numbers: ChunkLoad, arrives: bool):
    address = numbers.address
    with (
        cutting_at_commit(address.host, address.port, arrives=arrives) as port,
        pytest.raises(TargetProblem) as caught,
    ):
        load_chunk(replace(numbers, address=replace(address, port=port)), LoadCallbacks())
    assert caught.value.retryable
    found = committed_outcomes([numbers])[0]
    assert (found is not None) is arrives
    assert found is None or (found.already, found.tally.loaded) == (True, numbers.chunk.rows)
    outcome = load_chunk(replace(numbers, attempt=2), LoadCallbacks())
    assert outcome.already is arrives
    assert rows_of(address, "SELECT COUNT(*) FROM t") == [(1000,)]
