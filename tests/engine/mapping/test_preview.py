"""The preview of values equals what a load stores."""

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.preview import PreviewValue, preview_values
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.schema.table import read_table
from tests.engine.mapping.loaded_values import Loaded

CASES = [
    ("DECIMAL(9,2)", ColumnMapping("v", ("NA", ""), "", ("trim", "thousands-dot")), ["1.234,5", " 7 ", "NA", "", "x"]),
    ("DATE", ColumnMapping("v", (), "%d.%m.%Y"), ["01.02.2024", "31.02.2024", ""]),
    ("DATETIME(3)", ColumnMapping("v", (), "%d.%m.%Y %H:%i:%s.%f"), ["01.02.2024 10:11:12.5"]),
    ("TINYINT", ColumnMapping("v", (), "", ("yes-no",)), ["yes", "nein", "?"]),
    ("VARCHAR(9)", ColumnMapping("v", (), "", ("upper",)), ["aé", "'; DROP TABLE t; --"[:9]]),
    ("ENUM('a','b')", ColumnMapping("v", (), "", ("trim",)), [" a", "1"]),
    ("CHAR(3)", ColumnMapping("v", (), "", ("trim-left",)), [" a", "a "]),
]


@pytest.mark.parametrize(("column", "mapping", "values"), CASES)
def test_preview_shows_the_values_that_a_load_stores(
    database: Address, column: str, mapping: ColumnMapping, values: list[str]
):
    stored = Loaded(database, column, mapping, values).stored
    with connect(database) as connection:
        table = read_table(connection, database.database, "t")
        shown = preview_values(connection, table, (mapping,), [(value,) for value in values])
        for value, preview in zip(values, shown, strict=True):
            if stored[value] == "bad":
                assert preview == {0: PreviewValue("", bad=True)}
                continue
            execute(connection, "DROP TABLE IF EXISTS s")
            execute(connection, f"CREATE TABLE s (v {column} NULL)")
            execute(connection, "INSERT INTO s VALUES (%s)", (preview[0].text,))
            assert fetch_all(connection, "SELECT v FROM s") == [(stored[value],)]


def test_preview_shows_bytes_in_hexadecimal(database: Address):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE t (a BIT(8), b VARBINARY(9), c INT)")
        table = read_table(connection, database.database, "t")
        mapping = (
            ColumnMapping("a", transforms=("number",)),
            ColumnMapping("b", transforms=("hex",)),
            ColumnMapping("c"),
        )
        shown = preview_values(connection, table, mapping, [("5", "ff00", "7"), ("x",)])
    assert shown == [{0: PreviewValue("0x05"), 1: PreviewValue("0xFF00")}, {0: PreviewValue("", bad=True)}]


def test_preview_has_no_values_that_are_stored_unchanged(database: Address):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE t (a INT)")
        table = read_table(connection, database.database, "t")
        assert preview_values(connection, table, (ColumnMapping("a"), ColumnMapping("")), [("1", "2")]) == [{}]


def test_preview_shows_numbers_in_the_notation_in_which_they_are_stored(database: Address):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE t (a INT, b DECIMAL(5,2), c INT(4) ZEROFILL, d VARCHAR(9), e INT)")
        table = read_table(connection, database.database, "t")
        mapping = (*map(ColumnMapping, "abcd"), ColumnMapping("e", ("NA",)))
        rows = [("000007", "+07.50", "0007", "007", "007"), ("Summe", "", "x", "x", "NA"), ("-0",)]
        first, second, third = preview_values(connection, table, mapping, rows)
    assert {number: value.text for number, value in first.items()} == {0: "7", 1: "7.50", 4: "7"}
    assert second == {4: PreviewValue(None)}
    assert third[0] == PreviewValue("0")
