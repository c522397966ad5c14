"""Rows whose key is there already: refused and named, skipped and listed, or put in the place of the others."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import RowsRefused, TargetProblem
from importer.engine.load.outcome import Tally
from importer.engine.load.rejects.reject_files import LONGEST_SKIPPED
from importer.engine.mysql.connection import Address
from tests.engine.loads import REJECT, Unchecked, account_with, counting_loads, load_bytes, rows_of, run_sql

pytestmark = pytest.mark.both_servers

STOP = Unchecked()
SKIP = Unchecked(on_duplicate="skip")
REPLACE = Unchecked(on_duplicate="replace")


class TestFail:
    @pytest.mark.parametrize("chunk_bytes", [2**20, 200])
    def test_names_key_values_and_both_lines(self, database: Address, tmp_path: Path, chunk_bytes: int):
        run_sql(database, "CREATE TABLE t (n INT, v VARCHAR(9), UNIQUE KEY pair (n, v))")
        lines = [f'{n},"x\n{n}"\n' for n in range(100)]
        data = "".join([*lines[:60], lines[7], *lines[60:]]).encode()
        with pytest.raises(RowsRefused) as caught:
            load_bytes(database, tmp_path, data, ("n", "v"), STOP, chunk_bytes=chunk_bytes)
        [row] = caught.value.rows
        assert (row.line, row.code) == (121, 1062)
        assert "(pair: n, v)" in row.reason
        assert "Line 15 has the same key: n = '7', v = 'x\\n7'." in row.reason

    def test_says_if_no_earlier_line_has_the_key(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY)", "INSERT INTO t VALUES (2)")
        with pytest.raises(RowsRefused, match=r"No earlier line has this key in the same letters: n = '2'\."):
            load_bytes(database, tmp_path, b"1\n22\n2\n", ("n",), STOP)

    def test_rejects_them_if_asked(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (2, 0)")
        loaded = load_bytes(database, tmp_path, b"1,1\n2,1\n3,1\n3,2\n", ("n", "v"))
        assert (loaded.lines, loaded.raw) == ([2, 4], b"2,1\n3,2\n")
        assert loaded.tally == Tally(2, rejected=2)
        assert "Line 3 has the same key: n = '3'." in loaded.explained[1][5]


class TestSkip:
    def test_keeps_the_first_and_lists_the_others(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (50, -1)")
        data = "".join(f"{n % 100},{n}\n" for n in range(150)).encode()
        loaded = load_bytes(database, tmp_path, data, ("n", "v"), SKIP, chunk_bytes=300)
        assert loaded.lines == [51, *range(101, 151)]
        assert (loaded.tally, loaded.raw) == (Tally(99, skipped=51), b"")
        assert {row[4] for row in loaded.explained} == {"1062"}
        assert all(row[5].startswith("Skipped: A row with this key (PRIMARY: n)") for row in loaded.explained)
        assert rows_of(database, "SELECT COUNT(*), SUM(v) FROM t") == [(100, sum(range(100)) - 51)]

    def test_of_long_rows_it_keeps_the_beginning_and_one_sentence(self, database: Address, tmp_path: Path):
        """Else a file of which most rows are there already would fill the disk."""
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v TEXT)")
        data = "".join(f"{n % 10},{'x' * 200}\n" for n in range(40)).encode()
        loaded = load_bytes(database, tmp_path, data, ("n", "v"), SKIP)
        last = loaded.explained[-1]
        assert last[3] == f"9,{'x' * 200}"[:LONGEST_SKIPPED] + "…"
        kind = "A row with this key (PRIMARY: n) is there already: in the table, or earlier in the file."
        assert last[5] == f"Skipped: {kind}"

    def test_by_several_keys_and_the_servers_own_idea_of_equal(self, database: Address, tmp_path: Path):
        run_sql(
            database,
            "CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(9) COLLATE utf8mb4_general_ci, w INT, UNIQUE (v), UNIQUE (w))"
            " CHARACTER SET utf8mb4",
        )
        data = "1,a,1\n01,b,2\n2,A,3\n3,ä,4\n4,c,1\n5,d,5\n".encode()
        loaded = load_bytes(database, tmp_path, data, ("n", "v", "w"), SKIP)
        assert loaded.lines == [2, 3, 4, 5]
        assert rows_of(database) == [(1, "a", 1), (5, "d", 5)]

    @pytest.mark.parametrize("rights", [(), ("SELECT, INSERT, CREATE, UPDATE",)])
    def test_many_cost_few_loads(self, database: Address, tmp_path: Path, rights: tuple):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY)")
        data = "".join(f"{n - n % 2}\n" for n in range(10_000)).encode()
        with counting_loads(database) as loads:
            if rights:
                with account_with(database, *rights) as account:
                    loaded = load_bytes(account, tmp_path, data, ("n",), SKIP)
            else:
                loaded = load_bytes(database, tmp_path, data, ("n",), SKIP)
        assert loaded.tally == Tally(5000, skipped=5000)
        assert loaded.lines == list(range(2, 10_001, 2))
        assert loads[0] <= (40 if rights else 1)

    def test_beside_rows_that_are_rejected(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(3), CHECK (n < 100))")
        data = b"1,a\n1,b\n2,long\n2,c\n200,d\n3,e\n3,long\n"
        loaded = load_bytes(database, tmp_path, data, ("n", "v"), replace(REJECT, on_duplicate="skip"))
        assert rows_of(database) == [(1, "a"), (2, "c"), (3, "e")]
        assert loaded.lines == [2, 3, 5, 7]
        assert loaded.raw == b"2,long\n200,d\n3,long\n"
        assert loaded.tally == Tally(3, skipped=1, rejected=3)

    def test_stops_at_another_bad_row(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY)")
        with pytest.raises(RowsRefused) as caught:
            load_bytes(database, tmp_path, b"1\n1\nx\n", ("n",), SKIP)
        assert [row.line for row in caught.value.rows] == [3]
        assert rows_of(database) == []


class TestReplace:
    def test_keeps_the_last_in_the_file(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (5, -1), (200, -1)")
        data = "".join(f"{n % 100},{n}\n" for n in range(150)).encode()
        loaded = load_bytes(database, tmp_path, data, ("n", "v"), REPLACE, chunk_bytes=300)
        assert loaded.tally == Tally(99, replaced=51)
        expected = {n: n + 100 if n < 50 else n for n in range(100)} | {200: -1}
        assert dict(rows_of(database)) == expected

    def test_by_the_same_row_leaves_it_unchanged(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)")
        loaded = load_bytes(database, tmp_path, b"1,1\n2,2\n", ("n", "v"), REPLACE)
        assert (loaded.tally, rows_of(database)) == (Tally(1, unchanged=1), [(1, 1), (2, 2)])

    def test_one_row_may_take_the_place_of_several(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, v INT UNIQUE)", "INSERT INTO t VALUES (1, 10), (2, 20)")
        loaded = load_bytes(database, tmp_path, b"1,20\n", ("n", "v"), REPLACE)
        assert (loaded.tally, rows_of(database)) == (Tally(0, replaced=1), [(1, 20)])

    @pytest.mark.parametrize("columns", ["v VARCHAR(3)", "v VARCHAR(9), CHECK (CHAR_LENGTH(v) < 4)"])
    def test_finds_all_bad_rows_for_few_loads(self, database: Address, tmp_path: Path, columns: str):
        run_sql(database, f"CREATE TABLE t (n INT PRIMARY KEY, {columns})")
        data = "".join(f"{n // 2},{'abcd' if n % 2 else 'abc'}\n" for n in range(4000)).encode()
        with counting_loads(database) as loads:
            loaded = load_bytes(database, tmp_path, data, ("n", "v"), replace(REJECT, on_duplicate="replace"))
        assert loaded.lines == list(range(2, 4001, 2))
        assert loaded.tally == Tally(2000, rejected=2000)
        assert loads[0] <= 6

    def test_does_not_replace_by_a_row_that_a_foreign_key_refuses(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1)")
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, k INT, FOREIGN KEY (k) REFERENCES p (id))")
        run_sql(database, "INSERT INTO t VALUES (5, 1)")
        options = replace(REJECT, on_duplicate="replace")
        loaded = load_bytes(database, tmp_path, b"4,1\n5,9\n6,1\n4,9\n6,1\n", ("n", "k"), options)
        assert loaded.lines == [2, 4]
        assert rows_of(database) == [(4, 1), (5, 1), (6, 1)]

    def test_says_which_right_is_missing(self, database: Address, tmp_path: Path):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY)")
        with (
            account_with(database, "SELECT, INSERT, CREATE, UPDATE") as account,
            pytest.raises(TargetProblem, match="DELETE command denied") as caught,
        ):
            load_bytes(account, tmp_path, b"1\n", ("n",), REPLACE)
        assert "Give the account that right" in caught.value.advice
