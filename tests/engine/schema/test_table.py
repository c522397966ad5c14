"""What a table is, as the server describes it, and how a change of it is noticed."""

import pytest

from importer.engine.mysql.connection import Address, connect
from importer.engine.schema.table import read_definition, read_digest
from tests.engine.loads import account_with, run_sql


def seen(address: Address, name: str = "t") -> tuple[str, str]:
    with connect(address) as connection:
        return read_digest(connection, address.database, name), read_definition(connection, address.database, name)


@pytest.mark.parametrize(
    "change",
    [
        "ADD more INT",
        "DROP word",
        "RENAME COLUMN word TO words",
        "MODIFY word VARCHAR(8)",
        "MODIFY word VARCHAR(9) CHARACTER SET ascii",
        "MODIFY word VARCHAR(9) NOT NULL",
        "MODIFY word VARCHAR(9) DEFAULT 'none'",
        "DROP word, ADD word VARCHAR(9) AS (CONCAT('no ', other))",
        "MODIFY n INT",
        "ENGINE=MyISAM",
    ],
)
def test_whatever_changes_the_digest_changes_the_definition(database: Address, change: str):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY AUTO_INCREMENT, word VARCHAR(9), other INT)")
    digest, definition = seen(database)
    run_sql(database, f"ALTER TABLE t {change}")
    digest_then, definition_then = seen(database)
    assert digest_then != digest
    assert definition_then != definition


def test_rows_change_neither(database: Address):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY AUTO_INCREMENT, word VARCHAR(9))")
    before = seen(database)
    run_sql(database, "INSERT INTO t (word) VALUES ('a'), ('b'), ('c')")
    assert seen(database) == before
    assert before[1].startswith("CREATE TABLE `t`")


def test_a_view_and_a_table_that_is_gone_have_no_definition(database: Address):
    run_sql(database, "CREATE TABLE t (n INT)", "CREATE VIEW v AS SELECT n FROM t")
    assert seen(database, "v")[1] == ""
    assert seen(database, "nowhere")[1] == ""


def test_nor_has_one_that_the_account_may_not_see(database: Address):
    run_sql(database, "CREATE TABLE t (n INT)", "CREATE TABLE other (n INT)")
    with account_with(database) as lesser:
        run_sql(database, f"GRANT SELECT ON t TO '{lesser.user}'@'127.0.0.1'")
        assert seen(lesser)[1] == seen(database)[1]
        assert seen(lesser, "other")[1] == ""
