"""Rows that do not go in: found by the server's words, left out, written down; the others are all there."""

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import Problem, RowsRefused, TargetProblem, TooManyRejects
from importer.engine.load import ledger
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.outcome import Tally
from importer.engine.load.verify import missing_chunks
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.plan.options import Options
from tests.engine.loads import (
    REJECT,
    Unchecked,
    account_with,
    counting_loads,
    load_bytes,
    load_file,
    rows_of,
    run_sql,
    works,
)
from tests.proxy import cutting_at_commit
from tests.targets import TestServer

pytestmark = pytest.mark.both_servers

STOP = Unchecked()


class TestRowsThatTheServerNames:
    @pytest.mark.one_of("kind")
    @pytest.mark.parametrize("bad", [{0}, {199}, {100}, {0, 1, 2, 198, 199}, set(range(200)), set(range(0, 200, 2))])
    @pytest.mark.parametrize("kind", [Options, Unchecked])
    def test_wherever_they_are(self, database: Address, tmp_path: Path, bad: set[int], kind: type):
        run_sql(database, "CREATE TABLE t (n INT, v VARCHAR(10))")
        lines = [f"{n},{'far too long for it' if n in bad else n}\n" for n in range(200)]
        options = kind(on_error="reject")
        loaded = load_bytes(database, tmp_path, "".join(lines).encode(), ("n", "v"), options, chunk_bytes=500)
        assert loaded.lines == [n + 1 for n in sorted(bad)]
        assert loaded.raw.decode() == "".join(lines[n] for n in sorted(bad))
        assert loaded.tally == Tally(200 - len(bad), rejected=len(bad))
        assert {n for (n,) in rows_of(database, "SELECT n FROM t")} == set(range(200)) - bad
        with connect(database) as connection:
            assert sum(ledger.rows_by_chunk(connection, "job-1").values()) == 200

    @pytest.mark.one_of("kind")
    @pytest.mark.parametrize("kind", [Options, Unchecked])
    def test_are_explained(self, database: Address, tmp_path: Path, kind: type):
        run_sql(database, "CREATE TABLE t (n INT NOT NULL, v VARCHAR(3), d DATE)")
        data = b'1,"a\nb",2024-01-01\nx,abc,2024-01-01\n3\n4,"=1+1",2024-01-01\n5,"d\n\n""d",2024-02-30\n6,f,2024-01-02'
        loaded = load_bytes(database, tmp_path, data, ("n", "v", "d"), kind(on_error="reject"))
        told = [row[:4] for row in loaded.explained]
        assert told == [
            ["3", "19", "n", "x"],
            ["4", "36", "", "3"],
            ["5", "38", "v", "'=1+1"],
            ["6", "58", "v", 'd\n\n"d'],
        ]
        assert "1 field instead of 3" in loaded.explained[1][5]
        assert loaded.raw == data[19:58] + b'5,"d\n\n""d",2024-02-30\n'
        assert [n for (n,) in rows_of(database, "SELECT n FROM t")] == [1, 6]

    def test_the_last_without_a_line_end_gets_one(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT)")
        assert load_bytes(database, tmp_path, b"1\nx", ("n",)).raw == b"x\n"

    def test_load_again_as_they_are_once_the_table_takes_them(self, database: Address, tmp_path: Path, source):
        run_sql(database, "CREATE TABLE t (n INT, v VARCHAR(3))")
        data = b'1,abc\n2,"a\nb""c"\n3,\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\n'
        rejected = source(load_bytes(database, tmp_path, data, ("n", "v")).raw)
        run_sql(database, "ALTER TABLE t MODIFY v VARCHAR(9)")
        again = [replace(work, job="job-2") for work in works(database, rejected, ("n", "v"))]
        assert [load_chunk(work, LoadCallbacks()).tally for work in again] == [Tally(2)]
        assert rows_of(database) == [(1, "abc"), (2, 'a\nb"c'), (3, "éééé")]


SCHEMAS = {
    "foreign key": (
        ["CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1)"],
        "n INT, k INT, FOREIGN KEY (k) REFERENCES p (id)",
        "1452",
    ),
    "CHECK": ([], "n INT, k INT, CHECK (k < 5)", "(3819|4025)"),
    "partition": ([], "n INT, k INT) PARTITION BY RANGE (k) (PARTITION p0 VALUES LESS THAN (5)", "1526"),
    "trigger": ([], "n INT, k INT", "1644"),
    "duplicate": ([], "n INT, k INT, u INT AS (IF(k = 9, -1, n)) STORED UNIQUE", "1062"),
    "NOT NULL": ([], "n INT, k INT NOT NULL", "(1048|1263)"),
}
AFTERWARDS = {
    "duplicate": ["INSERT INTO t (n, k) VALUES (-1, 9)"],
    "trigger": [
        "CREATE TRIGGER no_nines BEFORE INSERT ON t FOR EACH ROW BEGIN IF NEW.k = 9 THEN"
        " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no nines here'; END IF; END"
    ],
}


class TestRowsThatTheServerDoesNotName:
    @pytest.mark.one_of("bad")
    @pytest.mark.parametrize("kind", SCHEMAS)
    @pytest.mark.parametrize("bad", [{0}, {7}, {299}, {5, 6, 7, 250}, set(range(300)), set(range(100, 200))])
    def test_are_found(self, database: Address, tmp_path: Path, kind: str, bad: set[int]):
        before, columns, code = SCHEMAS[kind]
        run_sql(database, *before, f"CREATE TABLE t ({columns})", *AFTERWARDS.get(kind, ()))
        worst = "NA" if kind == "NOT NULL" else "9"
        lines = [f'{n},{worst if n in bad else 1},"\n"\n' for n in range(300)]
        mapping = ("n", ColumnMapping("k", ("NA",)), "")
        loaded = load_bytes(database, tmp_path, "".join(lines).encode(), mapping)
        assert loaded.lines == [2 * n + 1 for n in sorted(bad)]
        assert loaded.raw.decode() == "".join(lines[n] for n in sorted(bad))
        assert {row[4] for row in loaded.explained} <= set(code.strip("()").split("|"))
        assert {n for (n,) in rows_of(database, "SELECT n FROM t WHERE n >= 0")} == set(range(300)) - bad
        assert loaded.tally == Tally(300 - len(bad), rejected=len(bad))

    def test_by_a_functions_warning(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT, d DATETIME)")
        data = "".join(f"{n},2024-01-01T00:00:00Z{'junk' * (n % 50 == 7)}\n" for n in range(200)).encode()
        loaded = load_bytes(database, tmp_path, data, ("n", ColumnMapping("d", (), "%Y-%m-%dT%H:%i:%sZ")))
        assert loaded.lines == [8, 58, 108, 158]
        assert loaded.tally == Tally(196, rejected=4)

    def test_beside_others_that_it_names_by_numbers_that_these_shift(self, database: Address, tmp_path: Path):
        """On MySQL a row that a CHECK refuses is not counted in the numbers of those after it."""
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(3), CHECK (n < 1000))")
        lines = [f"{n},abc\n" for n in range(300)]
        lines[10], lines[20], lines[30], lines[40] = "1010,abc\n", "20,abcd\n", "29,abc\n", "x,abc\n"
        loaded = load_bytes(database, tmp_path, "".join(lines).encode(), ("n", "v"))
        assert loaded.lines == [11, 21, 31, 41]
        assert loaded.tally == Tally(296, rejected=4)
        assert rows_of(database, "SELECT COUNT(*), MIN(v), MAX(v) FROM t") == [(296, "abc", "abc")]

    def test_a_row_whose_twin_is_rejected_goes_in(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(3))")
        loaded = load_bytes(database, tmp_path, b"1,abcd\n1,abc\n1,ab\n", ("n", "v"))
        assert (loaded.lines, rows_of(database)) == ([1, 3], [(1, "abc")])

    def test_the_reason_names_what_a_foreign_key_refers_to(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE p (id INT PRIMARY KEY)")
        run_sql(database, "CREATE TABLE t (n INT, FOREIGN KEY (n) REFERENCES p (id))")
        loaded = load_bytes(database, tmp_path, b"1\n2\n", ("n",))
        assert loaded.reasons == {("1452", "", "There is no row in `p` for its `n`."): 2}

    def test_a_child_before_its_parent_in_the_same_table_is_told_what_helps(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (n))")
        loaded = load_bytes(database, tmp_path, b"1,2\n3,3\n", ("n", "p"))
        [(_, _, reason)] = loaded.reasons
        assert reason.endswith("If that row comes later in the file, load with --foreign-keys defer.")

    def test_a_row_that_a_page_does_not_hold_names_the_columns(self, database: Address, tmp_path: Path):
        columns = ", ".join(f"c{n} TEXT" for n in range(15))
        with connect(database) as connection:
            execute(connection, "SET innodb_strict_mode = OFF")  # A strict server refuses this table at once.
            execute(connection, f"CREATE TABLE t ({columns}, big VARCHAR(700)) CHARSET latin1 ROW_FORMAT=COMPACT")
        data = f"{','.join(['x' * 800] * 15)},y\n{','.join(['x'] * 15)},y\n".encode()
        loaded = load_bytes(database, tmp_path, data, (*(f"c{n}" for n in range(15)), "big"))
        [(code, _, reason)] = loaded.reasons
        assert (code, loaded.lines) == ("1118", [1])
        assert "the longest are big varchar(700)" in reason

    def test_not_by_a_statement_that_does_not_trace_them(self, database: Address, tmp_path: Path):
        """As one that another version has planned."""
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY)")
        (tmp_path / "data.csv").write_bytes(b"1\n1\n")
        [work] = works(database, tmp_path / "data.csv", ("n",))
        statements = work.plan.statements
        traced = statements.traced.replace("millrace row", "row")
        plan = replace(work.plan, statements=replace(statements, traced=traced))
        with pytest.raises(TargetProblem, match="do not tell which row"):
            load_chunk(replace(work, plan=plan), LoadCallbacks())
        assert rows_of(database) == []

    def test_by_a_server_that_speaks_another_language(self, server: TestServer, tmp_path: Path):
        server.run("SET GLOBAL lc_messages = 'de_DE'")
        try:
            with server.fresh_database() as database:
                run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(3))")
                loaded = load_bytes(database, tmp_path, b"1,a\n1,b\n2,long\n3,c\n", ("n", "v"))
        finally:
            server.run("SET GLOBAL lc_messages = 'en_US'")
        assert (loaded.lines, loaded.tally) == ([2, 3], Tally(2, rejected=2))
        assert "Duplicate entry" in loaded.explained[0][5]


class TestMany:
    @pytest.mark.parametrize("columns", ["n INT, v VARCHAR(3)", "n INT, v VARCHAR(9), CHECK (CHAR_LENGTH(v) < 4)"])
    def test_cost_few_loads(self, database: Address, tmp_path: Path, columns: str):
        run_sql(database, f"CREATE TABLE t ({columns})")
        data = "".join(f"{n},{'abcd' if n % 2 else 'abc'}\n" for n in range(8000)).encode()
        with counting_loads(database) as loads:
            loaded = load_bytes(database, tmp_path, data, ("n", "v"))
        assert loaded.lines == [n + 1 for n in range(8000) if n % 2]
        assert loads[0] <= 4

    @pytest.mark.parametrize("columns", ["n INT, v VARCHAR(3)", "n INT, v VARCHAR(9), CHECK (CHAR_LENGTH(v) < 4)"])
    def test_are_found_by_an_account_that_sees_few_warnings(self, database: Address, tmp_path: Path, columns: str):
        """MySQL shows an account without privileges 1,024 of them."""
        run_sql(database, f"CREATE TABLE t ({columns})")
        data = "".join(f"{n},{'abcd' if n % 3 else 'abc'}\n" for n in range(6000)).encode()
        with account_with(database, "SELECT, INSERT, CREATE, UPDATE") as account:
            loaded = load_bytes(account, tmp_path, data, ("n", "v"))
        assert loaded.lines == [n + 1 for n in range(6000) if n % 3]
        assert loaded.tally == Tally(2000, rejected=4000)

    @pytest.mark.parametrize("columns", ["n INT, v VARCHAR(3)", "n INT, v VARCHAR(9), CHECK (CHAR_LENGTH(v) < 4)"])
    def test_more_than_may_be_left_out_end_it_with_nothing_kept(self, database: Address, tmp_path: Path, columns: str):
        run_sql(database, f"CREATE TABLE t ({columns})")
        data = "".join(f"{n},{'abcd' if n % 10 == 0 else 'abc'}\n" for n in range(1000)).encode()
        options = replace(REJECT, max_rejects=99)
        with pytest.raises(TooManyRejects, match="at most 99 may be left out") as caught:
            load_bytes(database, tmp_path, data, ("n", "v"), options)
        assert "Most common: 100 rows: " in caught.value.what
        assert "CHECK" in columns or "100 rows: v: The value is too long" in caught.value.what
        assert "CHECK" in columns or "If v is written in another way" in caught.value.advice
        assert [row.line for row in caught.value.rows] == list(range(1, 200, 10))
        assert rows_of(database, "SELECT COUNT(*) FROM t") == [(0,)]
        assert not list((tmp_path / "rejects").iterdir())
        assert load_file(database, tmp_path / "data.csv", ("n", "v"), replace(options, max_rejects=100)).tally.rejected


class TestRounding:
    DATA = b"1.25,ab\n1.259,ab\n2.5,ab   \n3,ab\n"

    @pytest.mark.one_of("kind")
    @pytest.mark.parametrize("kind", [Options, Unchecked])
    def test_is_a_notice(self, database: Address, tmp_path: Path, kind: type):
        run_sql(database, "CREATE TABLE t (n DECIMAL(5,2), v VARCHAR(3))")
        loaded = load_bytes(database, tmp_path, self.DATA, ("n", "v"), kind())
        assert loaded.tally == Tally(4)
        assert {each.column: each.values for each in loaded.outcomes[0].notices} == {"n": 1, "v": 1}

    @pytest.mark.one_of("kind")
    @pytest.mark.parametrize("kind", [Options, Unchecked])
    def test_is_a_reject_if_asked(self, database: Address, tmp_path: Path, kind: type):
        run_sql(database, "CREATE TABLE t (n DECIMAL(5,2), v VARCHAR(3))")
        loaded = load_bytes(database, tmp_path, self.DATA, ("n", "v"), kind(on_error="reject", rounding="reject"))
        assert (loaded.lines, loaded.tally) == ([2, 3], Tally(2, rejected=2))

    @pytest.mark.one_of("kind")
    @pytest.mark.parametrize("kind", [Options, Unchecked])
    def test_of_more_values_than_the_server_lists_is_counted(self, database: Address, tmp_path: Path, kind: type):
        run_sql(database, "CREATE TABLE t (n DECIMAL(5,2))")
        options = kind(on_error="reject")
        with account_with(database, "SELECT, INSERT, CREATE, UPDATE") as account:
            loaded = load_bytes(account, tmp_path, b"1.259\n1.25\nx\n" * 3000, ("n",), options)
        assert loaded.tally == Tally(6000, rejected=3000)
        assert [each.values for each in loaded.outcomes[0].notices] == [3000]


class TestParts:
    DATA = b"".join(b"%d,%s\n" % (n, b"abcd" if n % 100 == 0 else b"abc") for n in range(1000))

    @pytest.mark.parametrize("arrives", [True, False])
    def test_are_the_same_after_an_attempt_that_broke_at_commit(self, database: Address, tmp_path: Path, arrives: bool):
        run_sql(database, "CREATE TABLE t (n INT, v VARCHAR(3))")
        (tmp_path / "data.csv").write_bytes(self.DATA)
        [work] = works(database, tmp_path / "data.csv", ("n", "v"))
        with cutting_at_commit(database.host, database.port, arrives=arrives) as port, pytest.raises(TargetProblem):
            load_chunk(replace(work, address=replace(database, port=port)), LoadCallbacks())
        written = {path.name: path.read_bytes() for path in work.rejects.iterdir()}
        outcome = load_chunk(replace(work, attempt=2), LoadCallbacks())
        assert outcome.already is arrives
        assert outcome.tally == Tally(990, rejected=10)
        assert [each.rows for each in outcome.reasons] == [10]
        assert {path.name: path.read_bytes() for path in work.rejects.iterdir()} == written
        assert sorted(written) == ["00000000.csv", "00000000.json", "00000000.rejects"]
        with connect(database) as connection:
            assert missing_chunks(connection, "here", "job-1", {0: 1000}) == set()

    def test_of_a_failed_attempt_go_when_the_next_needs_none(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT, v VARCHAR(9))")
        (tmp_path / "data.csv").write_bytes(self.DATA)
        [work] = works(database, tmp_path / "data.csv", ("n", "v"))
        (work.rejects / "00000000.rejects").write_bytes(b"1,left over\n")
        load_chunk(work, LoadCallbacks())
        assert not list(work.rejects.iterdir())

    def test_that_the_disk_does_not_take_roll_the_chunk_back(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT, v VARCHAR(3))")
        data = b"".join(b"%d,%s\n" % (n, b"abcd" * 20) for n in range(1000))
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        (tmp_path / "data.csv").write_bytes(data)
        [work] = works(database, tmp_path / "data.csv", ("n", "v"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, limits[1]))
        try:
            with pytest.raises(Problem, match="cannot be written to disk"):
                load_chunk(work, LoadCallbacks())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert not list(work.rejects.iterdir())
        assert rows_of(database, f"SELECT COUNT(*) FROM {ledger.TABLE}") == [(0,)]


class TestRightToCount:
    def test_is_asked_for_by_its_grant(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT)")
        with account_with(database, "SELECT, INSERT, CREATE") as account:
            with pytest.raises(TargetProblem, match="may not write into millrace_ledger") as caught:
                load_bytes(account, tmp_path, b"1\nx\n", ("n",))
            assert rows_of(database) == []
            run_sql(database, caught.value.advice.split(";")[0])
            assert load_file(account, tmp_path / "data.csv", ("n",)).tally == Tally(1, rejected=1)


class TestStop:
    def test_names_the_first_rows_and_keeps_nothing(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT, k INT, CHECK (k < 5))")
        data = "".join(f"{n},{9 if n > 50 else 1}\n" for n in range(100)).encode()
        with pytest.raises(RowsRefused) as caught:
            load_bytes(database, tmp_path, data, ("n", "k"), STOP)
        assert [row.line for row in caught.value.rows] == list(range(52, 72))
        assert caught.value.bad_rows == 49
        assert rows_of(database, "SELECT COUNT(*) FROM t") == [(0,)]


class TestRowsThatCannotBeRead:
    def test_are_left_out_like_the_others(self, database: Address, tmp_path: Path):
        """A stray quote, bytes that are no UTF-8, and with them a row that the server refuses without naming it."""
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(9))")
        lines = [b'%d,"x%d"\n' % (n, n) for n in range(500)]
        lines[3], lines[100] = b'3,"a"b"\n', b"100,\xff\xfe\n"
        lines[101], lines[400] = b"9,again\n", b"400,far too long\n"
        loaded = load_bytes(database, tmp_path, b"".join(lines), ("n", "v"), Options(on_error="reject"))
        assert loaded.lines == [4, 101, 102, 401]
        assert loaded.raw == lines[3] + lines[100] + lines[101] + lines[400]
        assert loaded.tally == Tally(496, rejected=4)
        assert {n for (n,) in rows_of(database, "SELECT n FROM t")} == set(range(500)) - {3, 100, 101, 400}
