"""Keys and foreign keys are dropped and restored: only those that may go, and exactly as they were."""

import pytest

from importer.engine.errors import RowsRefused
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.schema import indexes
from importer.engine.schema.foreign_keys import check_foreign_keys
from importer.engine.schema.indexes import show_create
from importer.engine.schema.table import read_table
from importer.engine.target import temporary_changes
from importer.engine.target.temporary_changes import DeferralRefused, TemporaryChanges
from tests.engine.staged import given
from tests.targets import TestServer

pytestmark = pytest.mark.both_servers

PARENT = "CREATE TABLE parent (id INT PRIMARY KEY, g INT NOT NULL, UNIQUE KEY g (g))"
CHILD = r"""CREATE TABLE t (
  id INT NOT NULL AUTO_INCREMENT, a INT, b VARCHAR(600) CHARACTER SET utf8mb4, p INT, g INT, x TEXT,
  PRIMARY KEY (id),
  KEY prefix (b(100) DESC) COMMENT 'it''s \\ a `c`, KEY `no` (x)', KEY `odd``, (x)` (a, g),
  UNIQUE KEY both_ (a, b(20)), KEY p (p), FULLTEXT KEY words (x), KEY two (g DESC, a), {more},
  CONSTRAINT `by p` FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE SET NULL,
  CONSTRAINT by_g FOREIGN KEY (g) REFERENCES parent (g), CHECK (a < 1000)
) COMMENT 'KEY `no` (x),'"""
MORE = {
    "mariadb": "KEY hidden (a) IGNORED, KEY sized (a) KEY_BLOCK_SIZE=4",
    "mysql": "KEY hidden (a) INVISIBLE, KEY sums ((a + g)), KEY mixed (a, (CAST(LOWER(b) AS CHAR(20))) DESC),"
    " KEY of_list ((CAST(CONCAT('[', a, ']') AS UNSIGNED ARRAY)))",
}
FREE = ["prefix", "odd`, (x)", "p", "two", "hidden"]


def droppable(database: Address, foreign_keys_go: bool) -> TemporaryChanges:
    """The keys of the table t that may be dropped."""
    with connect(database) as connection:
        present = indexes.read_indexes(connection, database.database, "t")
        table = read_table(connection, database.database, "t")
    keys, _ = indexes.droppable_keys(table, present, foreign_keys_go=foreign_keys_go)
    return TemporaryChanges(database.database, "t", keys, present.foreign_keys if foreign_keys_go else ())


def text(database: Address) -> str:
    with connect(database) as connection:
        return show_create(connection, database.database, "t")


def drop(database: Address, changes: TemporaryChanges) -> None:
    with connect(database) as connection:
        temporary_changes.record(connection, "job", changes)
        temporary_changes.apply(connection, changes)


def restore(database: Address, changes: TemporaryChanges) -> None:
    with connect(database) as connection:
        assert temporary_changes.restore(connection, database, changes)
        temporary_changes.delete_record(connection, "job")


@pytest.fixture
def child(server: TestServer, database: Address) -> Address:
    """A table with every kind of key there is."""
    more = MORE[server.flavour].replace(", KEY of_list ((CAST(CONCAT('[', a, ']') AS UNSIGNED ARRAY)))", "")
    given(database, PARENT, CHILD.format(more=more))
    return database


def test_every_kind_of_key_is_restored_exactly_as_it_was(child: Address, server: TestServer):
    before = text(child)
    changes = droppable(child, foreign_keys_go=True)
    assert [each.name for each in changes.keys][:5] == FREE
    assert {each.name for each in changes.foreign_keys} == {"by p", "by_g"}
    drop(child, changes)
    assert indexes.key_definitions(text(child)) == ()
    assert indexes.foreign_keys(text(child)) == ()
    for kept in ("UNIQUE KEY `both_`", "FULLTEXT KEY `words`"):
        assert kept in text(child)
    restore(child, changes)
    assert text(child) == before
    restore(child, changes)  # Again changes nothing.
    assert text(child) == before


def test_recorded_statements_restore_the_keys_by_hand(child: Address):
    before = text(child)
    drop(child, droppable(child, foreign_keys_go=True))
    with connect(child) as connection:
        (recorded,) = temporary_changes.list_records(connection)
        assert recorded.restore_sql == "".join(f"{each};\n" for each in recorded.changes.restore_sql)
        for statement in recorded.restore_sql.split(";\n"):
            if statement:
                execute(connection, statement)
    assert text(child) == before


def test_multi_valued_key_is_restored(server: TestServer, database: Address):
    if server.flavour == "mariadb":
        pytest.skip("MariaDB has no multi-valued keys")
    given(database, "CREATE TABLE t (id INT PRIMARY KEY, j JSON, a INT,"
          " KEY of_list ((CAST(j->'$.x' AS UNSIGNED ARRAY))), KEY a (a))")  # fmt: skip
    before, changes = text(database), droppable(database, foreign_keys_go=False)
    drop(database, changes)
    restore(database, changes)
    assert text(database) == before


class TestKeysThatStay:
    def names(self, database: Address, *statements: str, foreign_keys_go: bool = False) -> list[str]:
        given(database, *statements)
        changes = droppable(database, foreign_keys_go)
        before = text(database)
        if changes:
            drop(database, changes)
            restore(database, changes)
        assert text(database) == before
        return [each.name for each in changes.keys]

    def test_key_of_a_foreign_key_and_those_before_it_stay(self, database: Address):
        sql = (
            "CREATE TABLE t (a INT, p INT, KEY a (a), KEY p (p), KEY ap (a, p),"
            " CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id))"
        )
        assert self.names(database, PARENT, sql) == ["ap"]

    def test_key_of_a_foreign_key_that_is_dropped_too_goes(self, database: Address):
        sql = "CREATE TABLE t (a INT, p INT, KEY a (a), KEY p (p), FOREIGN KEY (p) REFERENCES parent (id))"
        assert self.names(database, PARENT, sql, foreign_keys_go=True) == ["a", "p"]

    def test_key_of_an_auto_increment_column_stays(self, database: Address):
        assert self.names(database, "CREATE TABLE t (n INT AUTO_INCREMENT, a INT, KEY n (n), KEY a (a))") == ["a"]

    def test_key_of_a_referencing_foreign_key_goes_if_a_unique_one_serves(self, database: Address):
        sql = "CREATE TABLE t (id INT PRIMARY KEY, a INT, UNIQUE KEY u (a), KEY a (a))"
        other = "CREATE TABLE other (a INT, FOREIGN KEY (a) REFERENCES t (a))"
        given(database, sql, other)
        assert [each.name for each in droppable(database, foreign_keys_go=False).keys] == ["a"]

    def test_spatial_key_and_those_before_it_stay(self, database: Address):
        sql = "CREATE TABLE t (a INT, at GEOMETRY NOT NULL, KEY a (a), SPATIAL KEY at (at), KEY b (a DESC))"
        assert self.names(database, sql) == ["b"]

    def test_keys_of_a_partitioned_table_go(self, database: Address):
        sql = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY a (a)) PARTITION BY HASH (id) PARTITIONS 3"
        assert self.names(database, sql) == ["a"]


class TestForeignKeys:
    @pytest.fixture
    def loaded(self, database: Address) -> tuple[Address, TemporaryChanges]:
        """Rows that were inserted without the foreign key, two of them without a parent."""
        given(database, PARENT, "INSERT INTO parent VALUES (1, 1)",
              "CREATE TABLE t (p INT, KEY p (p), CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id))")  # fmt: skip
        changes = droppable(database, foreign_keys_go=True)
        drop(database, changes)
        given(database, "INSERT INTO t VALUES (1), (7), (NULL), (7)")
        return database, changes

    def test_rows_without_a_parent_are_named_and_new_ones_refused(self, loaded):
        database, changes = loaded
        restore(database, changes)
        with connect(database) as connection:
            with pytest.raises(RowsRefused) as refused:
                check_foreign_keys(connection, database.database, "t", changes.foreign_keys)
            assert refused.value.bad_rows == 2
            assert "(7)" in refused.value.what
            sql = refused.value.advice.partition("with: ")[2].partition(". Add")[0]
            assert fetch_all(connection, sql) == [(7,), (7,)]
        with pytest.raises(Exception, match="foreign key constraint fails"):
            given(database, "INSERT INTO t VALUES (8)")

    def test_foreign_key_that_could_not_be_restored_is_not_dropped(self, server: TestServer, database: Address):
        """An account without REFERENCES on the parent, which MariaDB does not require."""
        given(database, PARENT,
              "CREATE TABLE t (p INT, KEY p (p), CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id))")  # fmt: skip
        before = text(database)
        server.run("CREATE USER little@'%'")
        server.run(f"GRANT SELECT, INSERT, DELETE, CREATE, ALTER, DROP ON `{database.database}`.* TO little@'%'")
        little = Address(database.host, database.port, "little", "", database.database)
        try:
            changes = droppable(little, foreign_keys_go=True)
            if server.flavour == "mysql":
                with pytest.raises(DeferralRefused, match="REFERENCES"):
                    drop(little, changes)
            else:
                drop(little, changes)
                restore(little, changes)
        finally:
            server.run("DROP USER little@'%'")
        assert text(database) == before
