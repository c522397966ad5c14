"""The limits of a row: what is refused here is refused by the servers, and what passes is made by them."""

import random

import MySQLdb
import pytest

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.schema.new_table import NewColumn, NewTable, change_table, check_new_table
from importer.engine.schema.row_size import MOST_COLUMNS, fit_row_size, row_size
from tests.targets import TestServer

pytestmark = pytest.mark.both_servers

TYPES = ["tinyint", "int", "bigint", "double", "float", "date", "datetime", "datetime(3)", "datetime(6)", "timestamp",
         "time", "year", "decimal(6,2)", "decimal(20,4)", "decimal(65,30)", "varchar(1)", "varchar(9)", "varchar(10)",
         "varchar(16)", "varchar(32)", "varchar(63)", "varchar(64)", "varchar(255)", "varchar(1000)", "char(3)",
         "char(10)", "char(64)", "varbinary(30)", "binary(30)", "text", "mediumtext", "longtext"]  # fmt: skip


def table_of(types: list[str], key: int = 0) -> NewTable:
    columns = tuple(NewColumn(f"c{number}", type_) for number, type_ in enumerate(types))
    return NewTable("", "made", columns, tuple(each.name for each in columns[:key]))


def is_made(database: Address, table: NewTable) -> bool:
    with connect(database) as connection:
        execute(connection, "DROP TABLE IF EXISTS made")
        try:
            execute(connection, NewTable(database.database, "made", table.columns, table.primary_key).statement("made"))
        except MySQLdb.Error:
            return False
    return True


def is_refused(table: NewTable, server: TestServer) -> bool:
    try:
        check_new_table(table, mariadb=server.flavour == "mariadb")
    except Problem:
        return True
    return False


def most_columns(type_: str, key: int, server: TestServer) -> int:
    """The most columns of a type that are not refused."""
    low, high = key, MOST_COLUMNS
    while low < high:
        middle = (low + high + 1) // 2
        if is_refused(table_of(["int"] * key + [type_] * (middle - key), key), server):
            high = middle - 1
        else:
            low = middle
    return low


@pytest.mark.one_of("key")
@pytest.mark.parametrize("key", [0, 1])
@pytest.mark.parametrize("type_", TYPES)
def test_the_largest_table_of_a_type_is_made_and_a_larger_one_is_not(database, server, type_, key):
    most = most_columns(type_, key, server)
    assert is_made(database, table_of(["int"] * key + [type_] * (most - key), key))
    assert not is_made(database, table_of(["int"] * key + [type_] * (most + 1 - key), key))


@pytest.mark.parametrize("seed", range(25))
def test_what_is_refused_and_what_the_server_refuses_are_the_same(database, server, seed):
    chosen = random.Random(seed)
    some = chosen.sample(TYPES, chosen.randint(1, 6))
    table = table_of([chosen.choice(some) for _ in range(chosen.randint(50, 450))])
    assert is_made(database, table) != is_refused(table, server)


@pytest.mark.parametrize(
    "types",
    [["varchar(16)"] * 196, ["varchar(16)"] * 150 + ["int"] * 100, ["varchar(1000)"] * 190, ["varchar(255)"] * 150,
     ["varchar(32)"] * 100 + ["varchar(512)"] * 90, ["varchar(16)"] * 124],
    ids=lambda types: f"{len(types)} {types[0]}",
)  # fmt: skip
def test_texts_change_so_that_both_servers_make_the_table(database, types):
    assert is_made(database, table_of(list(fit_row_size(types))))


def test_types_that_fit_stay_as_they_are():
    types = ("int", "varchar(16)", "varchar(255)", "text") * 10
    assert fit_row_size(types) == types


def test_short_texts_keep_a_length_if_that_is_enough():
    assert set(fit_row_size(["varchar(16)"] * 150)) == {"varchar(16)", "varchar(64)"}
    assert row_size(fit_row_size(["varchar(16)"] * 150)).fits


@pytest.mark.parametrize(("types", "words"), [
    (["int"] * 1018, "1,018 fields, but an InnoDB table takes 1,017"),
    (["text"] * 500, "bytes in InnoDB's page"),
])  # fmt: skip
def test_a_table_that_is_too_large_is_refused_with_advice(types, words):
    with pytest.raises(Problem, match=words) as raised:
        check_new_table(table_of(types), mariadb=True)
    assert "--ignore-fields" in raised.value.advice


@pytest.mark.parametrize("type_", ["text", "json", "varchar(769)"])
def test_a_primary_key_that_no_server_makes_is_refused(database, type_):
    table = table_of([type_, "int"])
    with pytest.raises(Problem, match="3,072 bytes: c0 is") as raised:
        change_table(table, {}, ["c0"], widen=True)
    assert raised.value.option == "primary_key"
    assert not is_made(database, table_of([type_, "int"], 1))


def test_the_longest_primary_key_is_made(database):
    table = change_table(table_of(["varchar(768)", "int"]), {}, ["c0"], widen=True)
    assert is_made(database, table)


@pytest.mark.parametrize("name", ["", "x" * 65, "sales 🙂", "sales ", " sales", "a\x01"])
def test_a_name_that_no_table_can_have_is_refused(name):
    with pytest.raises(Problem, match="name"):
        check_new_table(NewTable("s", name, (NewColumn("a", "int"),)), mariadb=True)
