"""Mode replace: one RENAME TABLE, told from what is there whether it was done; and the way back."""

from pathlib import Path

import pytest

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load.finish import is_done
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address, connect
from importer.engine.schema.dependencies import next_auto_increment, read_dependencies
from importer.engine.target import staging
from importer.engine.target.table_backup import drop, restore
from importer.engine.target.table_backup import size as backup_size
from tests.engine.loads import account_with
from tests.engine.staged import Import, given, planned, rows_of

pytestmark = pytest.mark.both_servers

PEOPLE = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))"

# What would stay with a table whose name another table takes, and the reason for the refusal.
STAYING = [
    ("CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES t (id))", "child point at "),
    ("ALTER TABLE t ADD CONSTRAINT own FOREIGN KEY (id) REFERENCES parent (id)", "has foreign keys"),
    ("CREATE TRIGGER hook BEFORE UPDATE ON t FOR EACH ROW SET NEW.name = 'x'", r"has triggers \(hook\)"),
]


@pytest.fixture
def file(source) -> Path:
    return source("".join(f"{n},new {n}\n" for n in range(50)))


@pytest.fixture
def load(database: Address, file: Path) -> Import:
    """All chunks staged, the old table with one row in place."""
    given(database, PEOPLE, "INSERT INTO t VALUES (1, 'old')")
    return planned(database, file, "replace", "id", "name").stage(shuffled=True)


def done(load: Import) -> bool:
    with connect(load.address) as connection:
        return is_done(connection, load.job, load.plan)


def old(load: Import) -> str:
    return staging.backup_name(load.job)


def test_new_rows_take_the_place_and_the_old_table_is_kept(load: Import):
    assert rows_of(load.address) == [(1, "old")]
    assert not done(load)
    assert load.finish() == Tally(loaded=50)
    assert done(load)
    assert rows_of(load.address, "SELECT COUNT(*), MIN(name) FROM t") == [(50, "new 0")]
    assert rows_of(load.address, f"SELECT * FROM {old(load)}") == [(1, "old")]
    with connect(load.address) as connection:
        rows, size = backup_size(connection, load.address.database, old(load)) or (0, 0)
    assert rows <= 1
    assert size > 0


def test_a_worker_that_died_between_rename_and_record_is_seen_to_have_done_it(load: Import):
    given(load.address, load.plan.staged.finish)
    assert done(load)
    assert load.finish(attempt=2) == Tally(loaded=50)
    assert rows_of(load.address, "SELECT COUNT(*) FROM t") == [(50,)]


def test_a_swap_that_an_old_server_left_half_done_is_completed(load: Import):
    given(load.address, f"RENAME TABLE t TO {old(load)}")
    assert not done(load)
    assert load.finish(attempt=2) == Tally(loaded=50)
    assert rows_of(load.address, "SELECT COUNT(*) FROM t") == [(50,)]


def test_the_server_dies_before_the_swap(load: Import, server):
    server.kill()
    server.start()
    assert load.finish(attempt=2) == Tally(loaded=50)


def test_a_staging_table_that_lost_rows_is_refused(load: Import):
    given(load.address, f"DELETE FROM {load.plan.table} WHERE id = 3")
    with pytest.raises(Problem, match="holds 49 rows where 50"):
        load.finish()
    assert rows_of(load.address) == [(1, "old")]


def test_keys_and_numbers_that_came_while_rows_were_loading_are_no_obstacle(database: Address, source):
    given(database, "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), KEY first (name))")
    load = planned(database, source("a\nb\n"), "replace", "name").stage()
    given(database, "INSERT INTO t VALUES (70, 'old')", "ALTER TABLE t ADD KEY second (name, n), ADD KEY (n)")
    load.finish()
    with connect(database) as connection:
        assert next_auto_increment(connection, database.database, "t") == 71
    assert len(rows_of(database, "SHOW KEYS FROM t")) == 5


def test_numbers_go_on_where_the_old_table_was(database: Address, source):
    given(
        database,
        "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))",
        "INSERT INTO t VALUES (500, 'old')",
    )
    load = planned(database, source("a\nb\n"), "replace", "name").stage()
    load.finish()
    with connect(database) as connection:
        assert next_auto_increment(connection, database.database, "t") == 501
    given(database, "INSERT INTO t (name) VALUES ('c')")
    assert rows_of(database) == [(1, "a"), (2, "b"), (501, "c")]
    assert (
        "n numbers the file's rows from 1",
        "rows that come later continue from the old table's current number",
    ) in [(each.choice, each.why) for each in load.plan.reasons]


def test_numbers_of_the_file_stay(database: Address, source):
    given(database, "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20)) AUTO_INCREMENT=501")
    load = planned(database, source("7,a\n"), "replace", "n", "name").stage()
    load.finish()
    assert rows_of(database) == [(7, "a")]
    assert "n has the file's own numbers" in [each.choice for each in load.plan.reasons]


class TestRestore:
    def test_gives_the_old_table_its_name_back(self, load: Import):
        load.finish()
        with connect(load.address) as connection:
            undone = restore(connection, load.address.database, load.job, "t")
        assert rows_of(load.address) == [(1, "old")]
        assert rows_of(load.address, f"SELECT COUNT(*) FROM {undone}") == [(50,)]

    def test_second_one_is_refused(self, load: Import):
        load.finish()
        with connect(load.address) as connection:
            restore(connection, load.address.database, load.job, "t")
            with pytest.raises(TargetProblem, match="any more"):
                restore(connection, load.address.database, load.job, "t")
        assert rows_of(load.address) == [(1, "old")]

    def test_is_refused_once_the_old_table_is_dropped(self, load: Import):
        load.finish()
        with connect(load.address) as connection:
            drop(connection, load.address.database, old(load))
            drop(connection, load.address.database, old(load))
            assert backup_size(connection, load.address.database, old(load)) is None
            with pytest.raises(TargetProblem, match="no table"):
                restore(connection, load.address.database, load.job, "t")
        assert rows_of(load.address, "SELECT COUNT(*) FROM t") == [(50,)]
        assert done(load)

    @pytest.mark.parametrize("at_old", [False, True])
    @pytest.mark.parametrize(("more", "why"), STAYING)
    def test_is_refused_if_something_would_stay_with_a_table(self, load: Import, at_old: bool, more: str, why: str):
        load.finish()
        given(load.address, "CREATE TABLE parent (id INT PRIMARY KEY)", "INSERT INTO parent VALUES (1)")
        given(load.address, "DELETE FROM t WHERE id <> 1")
        given(load.address, more.replace(" t ", f" {old(load)} ") if at_old else more)
        with connect(load.address) as connection, pytest.raises(TargetProblem, match=why):
            restore(connection, load.address.database, load.job, "t")
        assert rows_of(load.address) == [(1, "new 1")]


class TestRefused:
    """What a swap would lose."""

    @pytest.mark.parametrize(("more", "why"), STAYING)
    def test_before_it_begins_and_again_before_the_swap(self, load: Import, file: Path, more: str, why: str):
        given(load.address, "CREATE TABLE parent (id INT PRIMARY KEY)", "INSERT INTO parent VALUES (1)", more)
        with pytest.raises(TargetProblem, match=why):
            planned(load.address, file, "replace", "id", "name")
        with pytest.raises(TargetProblem, match=why):
            load.finish()
        assert rows_of(load.address) == [(1, "old")]

    @pytest.mark.parametrize(
        ("partitions", "change"),
        [
            ("", "ADD UNIQUE KEY (name)"),
            ("", "ADD FULLTEXT KEY (name)"),
            ("", "ADD CONSTRAINT positive CHECK (id > 0)"),
            ("", "COMMENT 'orders of this year'"),
            ("", "MODIFY name VARCHAR(20) COMMENT 'of the person'"),
            (
                "PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (99))",
                "ADD PARTITION (PARTITION b VALUES LESS THAN (999))",
            ),
            ("PARTITION BY HASH (id) PARTITIONS 4", "COALESCE PARTITION 2"),
            ("PARTITION BY HASH (id) PARTITIONS 4", "REMOVE PARTITIONING"),
        ],
    )
    def test_a_change_of_the_table_that_came_while_rows_were_loading(
        self, database: Address, file: Path, partitions: str, change: str
    ):
        given(database, f"{PEOPLE} {partitions}", "INSERT INTO t VALUES (1, 'old')")
        load = planned(database, file, "replace", "id", "name").stage()
        given(database, f"ALTER TABLE t {change}")
        with pytest.raises(TargetProblem, match="has changed since the import was planned"):
            load.finish()
        assert rows_of(database) == [(1, "old")]

    def test_replacing_rows_that_a_foreign_key_references_is_refused(self, database: Address, file: Path):
        given(database, PEOPLE, "CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES t (id) ON DELETE CASCADE)")
        with pytest.raises(TargetProblem, match="deletes it first"):
            planned(database, file, "atomic", "id", "name", on_duplicate="replace")

    def test_system_versioned_table_is_refused(self, database: Address, file: Path, server):
        if server.flavour != "mariadb":
            pytest.skip("MySQL has none")
        given(database, f"{PEOPLE} WITH SYSTEM VERSIONING")
        with pytest.raises(TargetProblem, match="system-versioned"):
            planned(database, file, "atomic", "id", "name")


def test_plan_names_the_dependencies_that_stay(database: Address, file: Path):
    given(
        database,
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), g INT AS (LENGTH(name)) VIRTUAL)",
        "CREATE VIEW watching AS SELECT name FROM t",
        "CREATE OR REPLACE VIEW other AS SELECT 1 AS t",
    )
    plan = planned(database, file, "replace", "id", "name").plan
    choices = " ".join(each.choice for each in plan.reasons)
    assert f"{database.database}.watching" in choices
    assert "other" not in choices
    assert "Generated columns stay" in choices
    assert "id has the file's own numbers" in choices


def test_plan_names_the_checks_and_histograms_that_mysql_does_not_keep(database: Address, file: Path, server):
    given(
        database,
        "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), CHECK (id > -1), CONSTRAINT own CHECK (id > -2))",
    )
    if server.flavour == "mysql":
        given(database, "INSERT INTO t VALUES (1, 'old')", "ANALYZE TABLE t UPDATE HISTOGRAM ON name")
    load = planned(database, file, "replace", "id", "name")
    lost = {"Checks stay, and lose their names: own", "Histograms do not stay, of name"}
    assert lost & {each.choice for each in load.plan.reasons} == (lost if server.flavour == "mysql" else set())
    load.stage()
    load.finish()
    with connect(database) as connection:
        kept = read_dependencies(connection, database.database, "t")
    assert (kept.checks, kept.histograms) == ((), ())
    assert ("`own`" in rows_of(database, "SHOW CREATE TABLE t")[0][1]) == (server.flavour == "mariadb")


def test_dependencies_of_a_partitioned_table_with_its_own_privileges(database: Address, server):
    given(database, f"{PEOPLE} PARTITION BY HASH (id) PARTITIONS 2", "CREATE USER IF NOT EXISTS reader@localhost")
    given(database, "GRANT SELECT ON t TO reader@localhost")
    with connect(database) as connection:
        dependencies = read_dependencies(connection, database.database, "t")
    assert dependencies.partitioned
    assert dependencies.granted == ("'reader'@'localhost'",)
    given(database, "DROP USER reader@localhost")


def test_in_file_duplicates_of_a_replaced_table_are_sorted_out_in_order(database: Address, source):
    given(database, PEOPLE, "INSERT INTO t VALUES (1, 'old')")
    load = planned(database, source("1,first\n2,two\n1,last\n"), "replace", "id", "name", on_duplicate="replace")
    assert load.plan.ordered


@pytest.mark.parametrize("more", [(), ("TRIGGER",)])
def test_triggers_that_the_account_does_not_see_are_named_as_a_risk(
    database: Address, file: Path, server, more: tuple[str, ...]
):
    given(database, PEOPLE)
    hook = "CREATE TRIGGER hook BEFORE INSERT ON t FOR EACH ROW SET NEW.name = 'x'"
    with account_with(database, "SELECT", "INSERT", "CREATE", "ALTER", "DROP", *more) as few:
        load = planned(few, file, "replace", "id", "name")
        hidden = server.flavour == "mysql" and not more
        assert any("the account does not see" in each.choice for each in load.plan.reasons) == hidden
        given(database, hook)
        if not hidden:
            with pytest.raises(Problem, match="has triggers"):
                planned(few, file, "replace", "id", "name")
