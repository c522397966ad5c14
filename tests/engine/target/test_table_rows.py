"""Rows of a table for people to look at: with the rights of the account, and within a time and a size."""

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import connect, execute
from importer.engine.target import table_rows
from importer.engine.target.table_rows import read_rows

pytestmark = pytest.mark.both_servers


def make(address, *statements):
    with connect(address) as connection:
        for each in statements:
            execute(connection, each)


def test_each_kind_of_value_is_a_text_and_long_ones_are_cut(database):
    make(
        database,
        "CREATE TABLE `a%``b` (b INT, `p%` DECIMAL(9,2), t TEXT, x VARBINARY(200), d DATETIME(3), j JSON, g POINT,"
        " a INT, PRIMARY KEY (a, b)) CHARACTER SET utf8mb4",
        "INSERT INTO `a%``b` VALUES (1, 1.50, REPEAT('ü', 300), x'00ff', '2026-11-26 02:00:04.5', '[1]',"
        " POINT(1, 2), 2),"
        " (1, NULL, REPEAT('y', 100), REPEAT('z', 99), NULL, NULL, NULL, 1)",
    )
    found = read_rows(database, database.database, "a%`b", 10)
    assert (found.columns, found.key, found.found) == (("b", "p%", "t", "x", "d", "j", "g", "a"), ("a", "b"), False)
    first, second = found.rows
    assert first[:4] == ("1", None, "y" * 100, "0x" + "7A" * 32 + "…")
    assert second[:6] == ("1", "1.50", "ü" * 100 + "…", "0x00FF", "2026-11-26 02:00:04.500", "[1]")
    assert second[6].startswith("0x00000000")


def test_rows_are_found_by_the_whole_key(database):
    make(
        database,
        "CREATE TABLE t (a INT, b VARCHAR(9), PRIMARY KEY (a, b))",
        r"INSERT INTO t VALUES (1, 'x'), (1, 'y'), (2, 'x'), (3, 'it''s \\')",
    )
    wanted = {"B": ["x", "it's \\"], "a": ["2", "3"]}
    found = read_rows(database, database.database, "t", 10, wanted)
    assert (found.rows, found.found) == ((("2", "x"), ("3", "it's \\")), True)
    missing = read_rows(database, database.database, "t", 2, {"a": ["9"], "b": ["x"]})
    assert (len(missing.rows), missing.found) == (2, False)


def test_what_takes_too_long_is_ended(database, monkeypatch):
    monkeypatch.setattr(table_rows, "SECONDS", 1)
    make(
        database,
        "CREATE TABLE t (a INT)",
        "INSERT INTO t VALUES (1), (2), (3)",
        "CREATE VIEW v AS SELECT SLEEP(9) AS a FROM t",
    )
    with pytest.raises(TargetProblem):
        read_rows(database, database.database, "v", 10)


def test_a_table_that_is_gone_is_a_problem(database):
    with pytest.raises(TargetProblem, match="gone"):
        read_rows(database, database.database, "gone", 10)
