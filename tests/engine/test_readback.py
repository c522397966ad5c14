"""Reading values back: nothing is found where nothing differs, and every kind of difference is."""

import pytest

from importer.engine.connection import Address, connect, execute
from importer.engine.errors import BadRow, Problem, RowsRefused
from importer.engine.readback import Readback, compare, key_for, refuse_differences
from importer.engine.same_value import Sameness, same_value
from importer.engine.table import Column, read_table

# Column type, what a file says, and whether the server's own answer for it is the same value.
CASES = [
    ("INT", "+5", Sameness.SAME),
    ("INT", " 12", Sameness.SAME),
    ("INT", "5.0", Sameness.SAME),
    ("INT UNSIGNED", "007", Sameness.SAME),
    ("BIGINT", "-9223372036854775808", Sameness.SAME),
    ("DECIMAL(10,3)", "1.5", Sameness.SAME),
    ("DECIMAL(10,3)", "1.23456", Sameness.ROUNDED),
    ("DECIMAL(10,3)", "-1.2345", Sameness.ROUNDED),
    ("DOUBLE", "0.1", Sameness.SAME),
    ("DOUBLE", "1e3", Sameness.SAME),
    ("FLOAT", "0.1", Sameness.SAME),
    ("FLOAT", "3.1415927", Sameness.SAME),
    ("DATE", "2024-1-2", Sameness.SAME),
    ("DATE", "20240102", Sameness.SAME),
    ("DATETIME", "2024-01-02T03:04:05", Sameness.SAME),
    ("DATETIME", "2024-01-02 03:04", Sameness.SAME),
    ("DATETIME", "2024-01-02 03:04:05.4", Sameness.ROUNDED),
    ("DATETIME", "2024-12-31 23:59:59.9", Sameness.ROUNDED),
    ("DATETIME(3)", "2024-01-02 03:04:05.25", Sameness.SAME),
    ("TIMESTAMP", "2024-01-02 03:04:05", Sameness.SAME),
    ("TIME", "-100:30", Sameness.SAME),
    ("YEAR", "2024", Sameness.SAME),
    ("CHAR(5)", "ab  ", Sameness.ROUNDED),
    ("VARCHAR(9)", "東 🌊 ", Sameness.SAME),
    ("BINARY(4)", "ab", Sameness.SAME),
    ("ENUM('Red','Green')", "red", Sameness.SAME),
    ("SET('a','b')", "b,a", Sameness.SAME),
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
    ("VARCHAR(5)", "abc", "ab"),
    ("ENUM('a','b')", "2", "b"),
]


def column(type_: str) -> Column:
    return Column("v", type_.lower(), nullable=True, default=None, auto_increment=False, generated=False)


@pytest.mark.parametrize(("type_", "said", "sameness"), CASES)
def test_servers_answer_is_recognised(database: Address, type_: str, said: str, sameness: Sameness):
    with connect(database) as connection:
        execute(connection, f"CREATE TABLE t (id INT PRIMARY KEY, v {type_}) CHARACTER SET utf8mb4")
        execute(connection, "SET sql_mode = ''")
        execute(connection, "INSERT INTO t VALUES (1, %s)", (said,))
        readback = given(connection, database)
        strict = list(compare(connection, readback, [(7, (b"1", said.encode()))], rounding_allowed=False))
        assert bool(strict) == (sameness is not Sameness.SAME)
        assert not list(compare(connection, readback, [(7, (b"1", said.encode()))], rounding_allowed=True))


@pytest.mark.parametrize(("type_", "said", "found"), OTHER)
def test_another_value_is_told(type_: str, said: str, found: str):
    assert same_value(column(type_), said.encode(), found.encode()) is Sameness.OTHER


def given(connection, database: Address) -> Readback:
    table = read_table(connection, database.database, "t")
    key = key_for(table, table.column_names)
    return Readback(database.database, "t", table.columns, key.columns)


@pytest.fixture
def connection(database: Address):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE t (a INT, b VARCHAR(20), v TEXT, PRIMARY KEY (b, a)) CHARACTER SET utf8mb4")
        yield connection


ROWS = [(line, (str(line).encode(), f"k'\\{line % 7}".encode(), None if line % 5 else b"x")) for line in range(1, 2501)]


def test_rows_are_found_by_a_key_of_two_columns(connection, database: Address):
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s)", [values for _, values in ROWS])
    readback = given(connection, database)
    assert readback.key == ("b", "a")
    assert not list(compare(connection, readback, ROWS, rounding_allowed=False))
    execute(connection, "UPDATE t SET v = NULL WHERE a = 1500")
    execute(connection, "UPDATE t SET v = 'y' WHERE a = 1501")
    execute(connection, "DELETE FROM t WHERE a = 2")
    differences = list(compare(connection, readback, ROWS, rounding_allowed=False))
    assert differences == [
        BadRow(2, "b, a", "k'\\2, 2", "no row with this key is in the table."),
        BadRow(1500, "v", "x", "the table has NULL."),
        BadRow(1501, "v", "NULL", "the table has y."),
    ]
    with pytest.raises(RowsRefused, match=r"line 2: Read back from the table.*no row with this key"):
        refuse_differences(differences, "the 2,500 rows from line 1 on")


def test_queries_after_it_convert_values_again(connection, database: Address):
    list(compare(connection, given(connection, database), ROWS[:3], rounding_allowed=False))
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
