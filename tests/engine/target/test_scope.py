"""The condition of a scope: what is refused, whatever the server would make of it, and what reaches it."""

import pytest

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, connect
from importer.engine.schema.table import read_table
from importer.engine.target.scope import read_scope, require_understood
from tests.engine.staged import given, rows_of

TABLE = (
    "CREATE TABLE t (id INT PRIMARY KEY, shop INT, day DATE, name VARCHAR(20), `select` INT, `a``b` INT, sleep INT,"
    " twice INT AS (shop * 2))"
)
TAKEN = {
    "shop = 3": ["shop"],
    " where shop IN (1,2) And Not name LIKE 'it''s; -- %'": ["shop", "name"],
    "day >= CURDATE() - INTERVAL 7 DAY": ["day"],
    "DATE '2024-01-01' < day OR (day IS NULL)": ["day"],
    "`select` BETWEEN 1 AND 2.5 AND SELECT <> 2": ["select"],
    "`a``b` <=> - -1": ["a`b"],
    "CASE WHEN shop < 1 THEN lower(NAME) = 'x' ELSE TRUE END": ["shop", "name"],
    "sleep > 1": ["sleep"],
}
REFUSED = [
    *("", "WHERE", "TRUE", "1 = 1", "price = 3", "twice = 2", "t.shop = 3", "mysql.user", "shop = 3; DROP TABLE t"),
    *("shop = 3 -- x", "shop = 3 #x", "shop = 3 /* x */", "shop /*! = 3 */", "shop --1", "shop = 3) OR (shop = 4"),
    *("(shop = 3", "shop = 3)", "shop = 'a", "shop = 'a\\' OR 1 = 1 OR '", 'name = "a"', "shop = @a", "shop := 3"),
    *("@a := shop", "shop = ?", "name = x'41'", "name = _latin1'a'", "shop = 0x41", "shop = 1e5"),
    *("id IN (SELECT id FROM t)", "id IN (TABLE t)", "EXISTS (VALUES ROW(1))"),
    *("shop = (WITH a AS (SELECT 1) SELECT 1)", "sleep(1) = shop", "sleep (1) = shop", "`sleep`(1) = shop"),
    *("shop = load_file('/etc/passwd')", "lower (name) = 'a'", "get_lock('a', 1) = shop", "benchmark(9, shop)"),
    *("last_insert_id(shop)", "shop = 3 INTO OUTFILE 'x'", "shop = 3 FOR UPDATE", "shop = 3 LIMIT 1"),
    *("shop = 3 UNION ALL", "count(shop) > 1", "shop = 3\x00", "shop =\x0b3", "shop = 3 || 1", "name = '\x00'"),
]  # fmt: skip
# What is not known before the server has looked at it.
NOT_UNDERSTOOD = [
    "shop = ",
    "shop, id",
    "(shop, id)",
    "(shop = 3), (id = 4)",
    "shop AND",
    "shop = 3 name",
    "lower() = name",
]

pytestmark = pytest.mark.both_servers


def table_of(database: Address):
    given(database, TABLE)
    with connect(database) as connection:
        return read_table(connection, database.database, "t")


def test_a_condition_on_columns_alone_is_taken_and_the_server_understands_it(database: Address):
    table = table_of(database)
    with connect(database) as connection:
        for text, columns in TAKEN.items():
            assert list(read_scope(text, table).columns) == columns, text
            require_understood(connection, table, text)
    assert read_scope("WHERE SHOP=3 and Select=1", table).sql == "`shop`=3 and `select`=1"


def test_whatever_could_end_the_condition_or_do_more_is_refused_before_the_server_sees_it(database: Address):
    table = table_of(database)
    for text in REFUSED:
        with pytest.raises(Problem, match="The scope") as refused:
            read_scope(text, table)
        assert refused.value.option == "scope", text


def test_what_is_no_truth_value_is_refused_by_the_server(database: Address):
    table = table_of(database)
    with connect(database) as connection:
        for text in NOT_UNDERSTOOD:
            read_scope(text, table)
            with pytest.raises(Problem, match="is not understood by the server"):
                require_understood(connection, table, text)


def test_a_stored_function_with_the_name_of_a_function_is_not_called(database: Address):
    table = table_of(database)
    given(
        database,
        "INSERT INTO t (id, name) VALUES (1, 'A')",
        "CREATE TABLE log (id INT)",
        *(
            f"CREATE FUNCTION `{name}` (x VARCHAR(9)) RETURNS VARCHAR(9) MODIFIES SQL DATA BEGIN"
            " INSERT INTO log VALUES (1); RETURN 'called'; END"
            for name in ("lower", "locate", "curdate", "date_add")
        ),
    )
    sql = read_scope("lower(name) = 'a' AND locate('a', name) AND curdate() > date_add(day, INTERVAL 1 DAY)", table).sql
    assert rows_of(database, f"SELECT ({sql}) IS TRUE FROM t") == [(0,)]
    assert rows_of(database, "SELECT * FROM log") == []
