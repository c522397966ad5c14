"""Rows of the file that equal those with their key: told from new and from changed ones, on both servers."""

from pathlib import Path

import pytest

from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address
from tests.engine.loads import account_with, rows_of
from tests.engine.staged import given, planned

pytestmark = pytest.mark.both_servers

PEOPLE = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), seen INT DEFAULT 7)"
THERE = "INSERT INTO t (id, name) VALUES (1, 'as it is'), (2, 'will change'), (3, 'not in the file')"
# Two equal ones (1, the second 4), two that change a row (2, the third 4), two new ones.
FILE = "1,as it is\n2,changed\n4,new\n4,new\n4,other\n5,new\n"
# An older version's ledger, as it was created.

TABLES = {
    "one key": PEOPLE,
    "partitions": f"{PEOPLE} PARTITION BY HASH (id) PARTITIONS 3",
    "generated columns": PEOPLE.replace("seen", "twice INT AS (id * 2) STORED, more INT AS (id + 1), KEY (more), seen"),
    "long values": PEOPLE.replace("VARCHAR(20)", "LONGTEXT"),
}
METHODS = ("load_data_local", "load_data_server", "insert", "insert_prepared")


@pytest.fixture
def path(source) -> Path:
    return source(FILE)


def imported(address: Address, path: Path, mode: str, **options) -> Tally:
    """Import the file as workers do; the tally of all its rows."""
    load = planned(address, path, mode, "id", "name", **options)
    if not load.plan.staged:
        return load.load()
    load.stage()
    return load.finish()


@pytest.mark.parametrize("table", TABLES)
class TestEqualRows:
    @pytest.mark.one_of("method", "chunk_bytes")
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("chunk_bytes", [100, 12])
    def test_of_a_replacement_are_unchanged(self, database: Address, path: Path, table: str, method: str, chunk_bytes):
        given(database, TABLES[table], THERE)
        load = planned(
            database, path, "append", "id", "name", on_duplicate="replace", method=method, chunk_bytes=chunk_bytes
        )
        tally = Tally(loaded=2, replaced=2, unchanged=2)
        # The second attempt finds all chunks in the ledger.
        assert load.load() == load.load(attempt=2) == tally
        assert rows_of(database, "SELECT id, name, seen FROM t ORDER BY id") == [
            (1, "as it is", 7),
            (2, "changed", 7),
            (3, "not in the file", 7),
            (4, "other", 7),
            (5, "new", 7),
        ]

    @pytest.mark.parametrize(("mode", "policy"), [("atomic", "replace"), ("upsert", "last")])
    def test_of_a_merge_are_unchanged(self, database: Address, path: Path, table: str, mode: str, policy: str):
        given(database, TABLES[table], THERE)
        assert imported(database, path, mode, on_duplicate=policy) == Tally(loaded=2, replaced=2, unchanged=2)

    def test_inside_the_file_are_unchanged_in_a_new_table(self, database: Address, path: Path, table: str):
        given(database, TABLES[table], THERE)
        load = planned(database, path, "replace", "id", "name", on_duplicate="replace").stage()
        assert load.staged == Tally(loaded=4, replaced=1, unchanged=1)
        assert load.finish() == Tally(loaded=4)


def test_a_column_that_the_file_leaves_out_decides_too(database: Address, path: Path):
    """REPLACE puts its default there; an upsert leaves it alone."""
    given(database, PEOPLE, "INSERT INTO t VALUES (1, 'as it is', 8), (5, 'new', 7)")
    assert imported(database, path, "append", on_duplicate="replace") == Tally(loaded=2, replaced=2, unchanged=2)
    given(database, "DELETE FROM t", "INSERT INTO t VALUES (1, 'as it is', 8), (5, 'new', 7)")
    assert imported(database, path, "upsert") == Tally(loaded=2, replaced=1, unchanged=3)


@pytest.mark.parametrize("mode", ["append", "atomic"])
class TestTriggers:
    def reasons(self, database: Address, path: Path, mode: str) -> str:
        return " ".join(f"{each.choice}: {each.why}" for each in self.plan(database, path, mode).reasons)

    def plan(self, database: Address, path: Path, mode: str):
        return planned(database, path, mode, "id", "name", on_duplicate="replace").plan

    def test_that_only_set_values_change_nothing(self, database: Address, path: Path, mode: str):
        given(database, PEOPLE, THERE, "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.seen = 7")
        assert imported(database, path, mode, on_duplicate="replace") == Tally(loaded=2, replaced=2, unchanged=2)

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE log SET n = n + 1",
            "INSERT INTO log VALUES (1, 1) ON DUPLICATE KEY UPDATE n = n + 1",
            "UPDATE log JOIN log AS other USING (id) SET log.n = log.n + 1",
        ],
    )
    def test_that_update_rows_leave_equal_ones_among_the_loaded(self, database, path, mode, statement):
        given(database, "CREATE TABLE log (id INT PRIMARY KEY, n INT)", "INSERT INTO log VALUES (1, 0)")
        given(database, PEOPLE, THERE, f"CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW {statement}")
        assert imported(database, path, mode, on_duplicate="replace") == Tally(loaded=4, replaced=2)
        assert "Equal rows count as loaded if triggers change other rows" in self.reasons(database, path, mode)

    def test_that_the_account_may_not_see_are_noticed_too(self, database: Address, path: Path, mode: str):
        given(database, "CREATE TABLE log (id INT PRIMARY KEY, n INT)", "INSERT INTO log VALUES (1, 0)")
        given(database, PEOPLE, THERE, "CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW UPDATE log SET n = n + 1")
        with account_with(database, "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP") as account:
            assert imported(account, path, mode, on_duplicate="replace") == Tally(loaded=4, replaced=2)

    def test_on_delete_let_the_server_delete_the_old_row(self, database: Address, path: Path, mode: str):
        given(database, PEOPLE, THERE, "CREATE TRIGGER x AFTER DELETE ON t FOR EACH ROW SET @gone = 1")
        assert imported(database, path, mode, on_duplicate="replace") == Tally(loaded=2, replaced=4)
        assert "Equal rows count as replaced" in self.reasons(database, path, mode)


def test_with_several_unique_keys_equal_rows_count_as_replaced(database: Address, path: Path):
    given(database, PEOPLE.replace("name VARCHAR(20)", "name VARCHAR(20), UNIQUE (id, name)"), THERE)
    load = planned(database, path, "append", "id", "name", on_duplicate="replace")
    assert load.load() == Tally(loaded=2, replaced=4)
    assert "Equal rows count as replaced" in [each.choice for each in load.plan.reasons]


def test_a_system_versioned_table_does_not_tell(database: Address, path: Path, server):
    if server.flavour != "mariadb":
        pytest.skip("MySQL has none")
    given(database, f"{PEOPLE} WITH SYSTEM VERSIONING", THERE)
    load = planned(database, path, "append", "id", "name", on_duplicate="replace")
    assert load.load() == Tally(loaded=6)
    assert "Equal rows count as loaded or replaced" in [each.choice for each in load.plan.reasons]
