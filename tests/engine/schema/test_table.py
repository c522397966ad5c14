"""A change of a table's definition changes its digest and its SHOW CREATE TABLE."""

import pytest

from importer.engine.mysql.connection import Address, connect
from importer.engine.schema.table import (
    UnknownTable,
    existing_tables,
    list_tables,
    read_definition,
    read_digest,
    read_table,
)
from tests.engine.loads import account_with, run_sql

pytestmark = pytest.mark.both_servers


def digest_and_definition(address: Address, name: str = "t") -> tuple[str, str]:
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
def test_change_of_a_table_changes_its_digest_and_its_definition(database: Address, change: str):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY AUTO_INCREMENT, word VARCHAR(9), other INT)")
    digest, definition = digest_and_definition(database)
    run_sql(database, f"ALTER TABLE t {change}")
    new_digest, new_definition = digest_and_definition(database)
    assert new_digest != digest
    assert new_definition != definition


def test_rows_change_neither_digest_nor_definition(database: Address):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY AUTO_INCREMENT, word VARCHAR(9))")
    before = digest_and_definition(database)
    run_sql(database, "INSERT INTO t (word) VALUES ('a'), ('b'), ('c')")
    assert digest_and_definition(database) == before
    assert before[1].startswith("CREATE TABLE `t`")


def test_view_and_missing_table_have_no_definition(database: Address):
    run_sql(database, "CREATE TABLE t (n INT)", "CREATE VIEW v AS SELECT n FROM t")
    assert digest_and_definition(database, "v")[1] == ""
    assert digest_and_definition(database, "nowhere")[1] == ""


def test_table_that_the_account_may_not_see_has_no_definition(database: Address):
    run_sql(database, "CREATE TABLE t (n INT)", "CREATE TABLE other (n INT)")
    with account_with(database) as lesser:
        run_sql(database, f"GRANT SELECT ON t TO '{lesser.user}'@'127.0.0.1'")
        assert digest_and_definition(lesser)[1] == digest_and_definition(database)[1]
        assert digest_and_definition(lesser, "other")[1] == ""


def test_no_table_has_a_name_that_the_server_does_not_take(database: Address):
    """Names of files have emoji, and those of tables have characters up to U+FFFF alone."""
    run_sql(database, "CREATE TABLE `zürich` (n INT)")
    with connect(database) as connection:
        schema = database.database
        assert list_tables(connection, schema, "zür") == ["zürich"]
        assert list_tables(connection, schema, "z\N{GRINNING FACE}") == []
        assert existing_tables(connection, schema, ["\N{GRINNING FACE}", "zürich"]) == {"zürich"}
        with pytest.raises(UnknownTable):
            read_table(connection, schema, "\N{GRINNING FACE}")
