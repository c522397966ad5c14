"""Values as they will arrive, beside those that did."""

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.preview import PreviewValue, preview_values
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.schema.table import read_table
from tests.engine.mapping.test_transforms import Loaded

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
def test_it_is_what_the_load_stores(database: Address, column: str, mapping: ColumnMapping, values: list[str]):
    stored = Loaded(database, column, mapping, values).stored
    with connect(database) as connection:
        table = read_table(connection, database.database, "t")
        shown = preview_values(connection, table, (mapping,), [(value,) for value in values])
        for value, arrival in zip(values, shown, strict=True):
            if stored[value] == "bad":
                assert arrival == {0: PreviewValue("", bad=True)}
                continue
            execute(connection, "DROP TABLE IF EXISTS s")
            execute(connection, f"CREATE TABLE s (v {column} NULL)")
            execute(connection, "INSERT INTO s VALUES (%s)", (arrival[0].text,))
            assert fetch_all(connection, "SELECT v FROM s") == [(stored[value],)]


def test_bytes_are_shown_as_digits(database: Address):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE t (a BIT(8), b VARBINARY(9), c INT)")
        table = read_table(connection, database.database, "t")
        mapping = (
            ColumnMapping("a", transforms=("number",)),
            ColumnMapping("b", transforms=("hex",)),
            ColumnMapping("c"),
        )
        found = preview_values(connection, table, mapping, [("5", "ff00", "7"), ("x",)])
    assert found == [{0: PreviewValue("0x05"), 1: PreviewValue("0xFF00")}, {0: PreviewValue("", bad=True)}]


def test_nothing_is_asked_for_what_goes_as_it_is(database: Address):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE t (a INT)")
        table = read_table(connection, database.database, "t")
        assert preview_values(connection, table, (ColumnMapping("a"), ColumnMapping("")), [("1", "2")]) == [{}]
