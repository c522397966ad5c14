"""Reading values back: equal values give no difference, and every kind of difference is reported."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import BadRow, Problem, RowsRefused
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.readback import compare, large_rows
from importer.engine.load.readback.compare import differences
from importer.engine.load.readback.value_equality import Sameness, same_value
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.plan.options import Options
from importer.engine.plan.readback import Readback, key_for
from importer.engine.plan.stored_plan import plan_from_json, plan_to_json
from importer.engine.schema.table import Column, read_table
from importer.engine.source.dialect import Dialect
from importer.engine.source.records import large_values
from tests.engine.loads import given_table, rows_of, run_sql, works

pytestmark = pytest.mark.both_servers

# Column type, the value in the file, and the expected verdict on the value that the server returns for it.
CASES = [
    ("INT", "+5", Sameness.SAME),
    ("INT", " 12", Sameness.SAME),
    ("INT", "5.0", Sameness.SAME),
    ("INT UNSIGNED", "007", Sameness.SAME),
    ("BIGINT", "-9223372036854775808", Sameness.SAME),
    ("DECIMAL(10,3)", "1.5", Sameness.SAME),
    ("DECIMAL(10,3)", "1.23456", Sameness.ROUNDED),
    ("DECIMAL(10,3)", "-1.2345", Sameness.ROUNDED),
    ("DECIMAL(65,30)", f"1.{'0' * 39}1", Sameness.ROUNDED),
    ("DECIMAL(38,0)", f"{'1234567890' * 3}.5", Sameness.ROUNDED),
    ("DOUBLE", "0.1", Sameness.SAME),
    ("DOUBLE(10,2)", "1e-3", Sameness.ROUNDED),
    ("DOUBLE(10,2)", "99.995", Sameness.ROUNDED),
    ("FLOAT(7,3)", "0.12345", Sameness.ROUNDED),
    ("DOUBLE", "1e3", Sameness.SAME),
    ("FLOAT", "0.1", Sameness.SAME),
    ("FLOAT", "3.1415927", Sameness.SAME),
    ("DATE", "2024-1-2", Sameness.SAME),
    ("DATE", "20240102", Sameness.SAME),
    ("DATE", "0000-01-01", Sameness.SAME),
    ("DATE", "2024/1/2", Sameness.SAME),
    ("DATE", "2024_1_2", Sameness.SAME),
    ("DATE", "2024-001-02", Sameness.SAME),
    ("DATETIME", "2024-01-02T03:04:05", Sameness.SAME),
    ("DATETIME", "2024-01-02 03", Sameness.SAME),
    ("DATETIME", "20240102030405", Sameness.SAME),
    ("DATETIME(6)", "2024-01-02 03:04:05.5000000", Sameness.SAME),
    ("DATETIME(6)", "2024-01-02 03:04:05.1234567", Sameness.ROUNDED),
    ("DATETIME", "2024-01-02 03:04", Sameness.SAME),
    ("DATETIME", "2024-01-02 03:04:05.4", Sameness.ROUNDED),
    ("DATETIME", "2024-12-31 23:59:59.9", Sameness.ROUNDED),
    ("DATETIME(3)", "2024-01-02 03:04:05.25", Sameness.SAME),
    ("TIMESTAMP", "2024-01-02 03:04:05", Sameness.SAME),
    ("TIME", "-100:30", Sameness.SAME),
    ("TIME", "101112", Sameness.SAME),
    ("TIME", "-1 10:11:12", Sameness.SAME),
    ("TIME", "-10:11:12.5", Sameness.ROUNDED),
    ("TIME(2)", "10:11:12.12499996", Sameness.ROUNDED),
    ("YEAR", "2024", Sameness.SAME),
    ("CHAR(5)", "ab  ", Sameness.ROUNDED),
    ("CHAR(3)", "ab \t ", Sameness.ROUNDED),
    ("VARCHAR(2)", "東🌊\t\n", Sameness.ROUNDED),
    ("TINYTEXT", f"{'é' * 127}a\t", Sameness.ROUNDED),
    ("TINYTEXT CHARACTER SET latin1", f"{'é' * 255}  ", Sameness.ROUNDED),
    ("VARCHAR(9)", "東 🌊 ", Sameness.SAME),
    ("BINARY(4)", "ab", Sameness.SAME),
    ("ENUM('Red','Green')", "red", Sameness.SAME),
    ("ENUM('Red','Green')", "red ", Sameness.ROUNDED),
    ("ENUM('a','A') COLLATE utf8mb4_bin", "A ", Sameness.ROUNDED),
    ("ENUM('a,b','c')", "A,b", Sameness.SAME),
    ("SET('a','b')", "b,a", Sameness.SAME),
    ("SET('a','b')", "b,b", Sameness.SAME),
    ("BIT(9)", "", Sameness.SAME),
    ("BIT(9)", "a", Sameness.SAME),
]
# Notations that MariaDB alone reads.
MARIADB_CASES = [
    ("TIME", "+10:11:12"),
    ("UUID", "123E4567-E89B-12D3-A456-426655440000"),
    ("UUID", "123e4567e89b-12d3a456426655440000"),
    ("INET6", "2001:DB8::1"),
    ("INET6", "2001:0db8:0:0:0:0:0:1"),
    ("INET6", "::FFFF:0102:0304"),
    ("INET4", "001.2.3.010"),
]
OTHER = [
    ("INT", "5", "6"),
    ("INT", "1.5", "2"),
    ("INT", "nan", "0"),
    ("DECIMAL(10,3)", "1.2345", "1.236"),
    ("DOUBLE", "0.1", "0.2"),
    ("FLOAT", "16777217", "16777220"),
    ("DATETIME", "2024-01-02 03:04:05", "2024-01-02 03:04:07"),
    ("DATE", "2024-02-30", "0000-00-00"),
    ("DATE", "24-1-2", "2024-01-02"),
    ("DOUBLE(10,2)", "1.234", "1.24"),
    ("TIME", "101112", "10:11:13"),
    ("VARCHAR(5)", "abc", "ab"),
    ("VARCHAR(5)", "ab\t", "ab"),
    ("VARCHAR(2)", "ab\tc", "ab"),
    ("ENUM('a','b')", "2", "b"),
    ("BIT(16)", "12", "\0\x0c"),
    ("DATE", "2024-01-02 00:00:00.5", "2024-01-02"),
    ("TIME(1)", "10:11:12.25", "10:11:12.4"),
    ("UUID", "123e4567-e89b-12d3-a456-426655440000", "123e4567-e89b-12d3-a456-426655440001"),
    ("INET6", "::1", "::2"),
    ("VECTOR(1)", "abc ", "abc"),
    ("POINT", "abc ", "abc"),
    ("XMLTYPE", "<a/> ", "<a/>"),
    ("JSON", '[1, {"a": true}]', '[1, {"a": 1}]'),
    ("JSON", "9007199254740993", "9007199254740992.0"),
    ("JSON", '"1"', "1"),
]


def column(type_: str) -> Column:
    return Column("v", type_.lower(), nullable=True, default=None, auto_increment=False, generated=False)


def readback_of_t(connection, database: Address, rounding: str = "reject") -> Readback:
    table = read_table(connection, database.database, "t")
    return Readback.of(table, [ColumnMapping(name) for name in table.column_names], rounding)


def test_values_in_the_notation_of_the_server_are_recognised(database: Address):
    for type_, text, sameness in CASES:
        with connect(database) as connection:
            execute(connection, "DROP TABLE IF EXISTS t")
            execute(connection, f"CREATE TABLE t (id INT PRIMARY KEY, v {type_}) CHARACTER SET utf8mb4")
            execute(connection, "SET sql_mode = ''")
            execute(connection, "INSERT INTO t VALUES (1, %s)", (text,))
            row = (b"1", text.encode())
            different = list(differences(connection, readback_of_t(connection, database), [7], [row]))
            assert bool(different) == (sameness is not Sameness.SAME), (type_, text)
            assert not list(differences(connection, readback_of_t(connection, database, "notice"), [7], [row])), type_


@pytest.mark.parametrize(("type_", "text"), MARIADB_CASES)
def test_notation_of_mariadb_is_recognised(mariadb: Address, type_: str, text: str):
    with connect(mariadb) as connection:
        execute(connection, f"CREATE TABLE t (id INT PRIMARY KEY, v {type_})")
        execute(connection, "INSERT INTO t VALUES (1, %s)", (text,))
        assert not list(differences(connection, readback_of_t(connection, mariadb), [1], [(b"1", text.encode())]))


@pytest.mark.parametrize("stored", ["1", "1.0", "[1, 2.5e3]", '{"b": 18446744073709551615}', "-0.0", "null"])
def test_numbers_in_json_are_equal_in_any_notation(stored: str):
    written = {"1": "1.0", "1.0": "1", "[1, 2.5e3]": "[1.0,2500]", "-0.0": "0"}.get(stored, f" {stored} ")
    assert same_value(column("JSON"), written.encode(), stored.encode()) is Sameness.SAME


@pytest.mark.parametrize(("type_", "expected", "stored"), OTHER)
def test_different_value_is_recognised(type_: str, expected: str, stored: str):
    assert same_value(column(type_), expected.encode(), stored.encode()) is Sameness.OTHER


class TestDifferences:
    @pytest.fixture
    def connection(self, database: Address):
        with connect(database) as connection:
            columns = "a INT, b VARCHAR(20), v TEXT, PRIMARY KEY (b, a)"
            execute(connection, f"CREATE TABLE t ({columns}) CHARACTER SET utf8mb4")
            yield connection

    LINES = range(1, 901)
    ROWS = tuple((b"%d" % n, b"k'\\%d" % (n % 7), None if n % 5 else b"x") for n in LINES)

    def test_rows_to_compare_are_found_by_a_key_of_two_columns(self, connection, database: Address):
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO t VALUES (%s, %s, %s)", self.ROWS)
        readback = readback_of_t(connection, database)
        assert readback.key == ("b", "a")
        assert not list(differences(connection, readback, self.LINES, self.ROWS))
        execute(connection, "UPDATE t SET v = NULL WHERE a = 500")
        execute(connection, "UPDATE t SET v = 'y' WHERE a = 501")
        execute(connection, "DELETE FROM t WHERE a = 2")
        assert list(differences(connection, readback, self.LINES, self.ROWS)) == [
            BadRow(2, "b, a", "k'\\2, 2", "there is no row with this key."),
            BadRow(500, "v", "x", "the table has NULL."),
            BadRow(501, "v", "NULL", "the table has y."),
        ]

    def test_queries_after_reading_back_convert_values_again(self, connection, database: Address):
        list(differences(connection, readback_of_t(connection, database), self.LINES[:3], self.ROWS[:3]))
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchall() == ((1,),)


@pytest.mark.parametrize(
    ("columns", "as_they_are"),
    [
        ("a INT PRIMARY KEY, b INT", ["b"]),
        ("a INT, b INT, KEY (a)", ["a", "b"]),
        ("a INT NULL, b INT, UNIQUE KEY (a)", ["a", "b"]),
        ("a DOUBLE PRIMARY KEY, b INT", ["a", "b"]),
    ],
)
def test_table_whose_rows_cannot_be_found_again_is_refused(database: Address, columns: str, as_they_are: list[str]):
    with connect(database) as connection:
        execute(connection, f"CREATE TABLE t ({columns})")
        with pytest.raises(Problem, match=r"cannot be found again.*Verify by counts"):
            key_for(read_table(connection, database.database, "t"), as_they_are)


@pytest.fixture(params=[1050, 50], ids=["usual rows", "large rows"])
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """More rows than are compared at a time, or a few that count as large, which are compared one by one."""
    if request.param == 50:
        for module in (compare, large_rows):
            monkeypatch.setattr(module, "OVERSIZED_BYTES", 4)
        monkeypatch.setattr(large_values, "PIECE", 3)
    return request.param


def test_large_json_values_are_compared_by_the_server(database: Address, monkeypatch):
    monkeypatch.setattr(large_rows, "OVERSIZED_BYTES", 4)
    monkeypatch.setattr(large_values, "PIECE", 3)
    dialect = Dialect(delimiter=";", header=False)
    document = '{"a":  [1, null],"é": "ü"}'
    with connect(database) as connection:
        execute(connection, "CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON) CHARACTER SET utf8mb4")
        execute(connection, "INSERT INTO t VALUES (1, %s, '[]')", (document,))
        mapping = [ColumnMapping("id"), ColumnMapping("j"), ColumnMapping("k")]
        readback = Readback.of(read_table(connection, database.database, "t"), mapping, "reject")

        def same(key: int, text: str) -> bool:
            quoted = text.replace('"', '""')
            return large_rows.matches(connection, readback, dialect, f'{key};"{quoted}";[]\n'.encode())

        assert same(1, document)
        assert not same(1, document.replace("1", "2"))
        assert not same(2, document), "there is no such row"


class TestFullVerification:
    COLUMNS = (
        "id INT PRIMARY KEY, d DATETIME, price DECIMAL(8,2), colour ENUM('red','blue'), t VARCHAR(20),"
        " w VARCHAR(20) CHARACTER SET latin1, b BLOB, j JSON"
    )
    MAPPING = (
        ColumnMapping("id"),
        ColumnMapping("d", ("NA",), "%d.%m.%Y %H:%i"),
        ColumnMapping("price", ("",), transforms=("decimal-comma",)),
        ColumnMapping("colour"),
        ColumnMapping("t", transforms=("trim",)),
        ColumnMapping("w"),
        ColumnMapping("b"),
        ColumnMapping("j", ("NA",)),
    )
    DIALECT = Dialect(delimiter=";", header=False)

    @pytest.fixture
    def work(self, database: Address, tmp_path: Path, rows: int) -> ChunkLoad:
        path = tmp_path / "prices.csv"
        lines = [
            f'{n};{n % 28 + 1}.2.2024 7:{n % 60:02};{n},{n % 100:02};Red;" é""{n};\n";"où""{n}";ünï{n};[ {n}]'
            for n in range(rows)
        ]
        lines += [f"{rows};NA;;blue; x ;;;NA"]
        path.write_text("\n".join(lines))
        given_table(database, self.COLUMNS)
        return self.planned(database, path)

    def planned(self, database: Address, path: Path, dialect: Dialect = DIALECT) -> ChunkLoad:
        [work] = works(database, path, self.MAPPING, Options(verify="full"), dialect=dialect)
        assert plan_from_json(json.loads(json.dumps(plan_to_json(work.plan)))) == work.plan
        return work

    def test_load_with_full_verification_accepts_equal_values(self, work: ChunkLoad, rows: int):
        outcome = load_chunk(work, LoadCallbacks())
        assert outcome.tally.loaded == rows + 1
        assert outcome.timings["verify"] > 0

    def test_value_changed_by_a_trigger_is_refused(self, work: ChunkLoad, database: Address, rows: int):
        changed = rows - 33
        change = f"SET NEW.price = IF(NEW.id = {changed}, 1, NEW.price)"
        run_sql(database, f"CREATE TRIGGER change_it BEFORE INSERT ON t FOR EACH ROW {change}")
        with pytest.raises(RowsRefused, match=rf"'{changed}\.17' is another one: the table has 1\.00") as caught:
            load_chunk(self.planned(database, work.path), LoadCallbacks())
        assert caught.value.where == f"line {2 * changed + 1:,}, column price"
        assert rows_of(database, "SELECT COUNT(*) FROM t") == [(0,)]

    @pytest.mark.parametrize(
        ("column", "shown", "other"),
        [("w", 'où"{}', "other"), ("b", "ünï{}", "other"), ("j", "[ {}]", '"other"'), ("j", "[ {}]", "[2019]")],
    )
    def test_untransformed_text_changed_by_a_trigger_is_refused(self, work, database, rows, column, shown, other):
        changed = rows - 32
        change = f"SET NEW.{column} = IF(NEW.id = {changed}, '{other}', NEW.{column})"
        run_sql(database, f"CREATE TRIGGER change_it BEFORE INSERT ON t FOR EACH ROW {change}")
        message = re.escape(f"'{shown.format(changed)}' is another one: the table has {other}")
        with pytest.raises(RowsRefused, match=message) as caught:
            load_chunk(self.planned(database, work.path), LoadCallbacks())
        assert caught.value.where == f"line {2 * changed + 1:,}, column {column}"

    def test_values_of_a_file_in_another_encoding_are_read_back(self, work: ChunkLoad, database, rows: int, source):
        path = source(work.path.read_bytes().decode().encode("cp1252"))
        with_encoding = replace(self.DIALECT, encoding="cp1252")
        assert load_chunk(self.planned(database, path, with_encoding), LoadCallbacks()).tally.loaded == rows + 1
