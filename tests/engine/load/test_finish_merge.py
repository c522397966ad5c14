"""Modes atomic and upsert: one transaction at the end, exactly once, on both servers."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import Problem, RowsRefused, TargetProblem
from importer.engine.load import ledger
from importer.engine.load.finish import is_done
from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, connect_loader, execute
from importer.engine.schema.table import count_rows
from importer.engine.source.dialect import MYSQL_TSV
from importer.engine.target import staging
from tests.engine.staged import DIALECT, given, planned, rows_of

pytestmark = pytest.mark.both_servers

TAB_SEPARATED = replace(MYSQL_TSV, header=False)
PEOPLE = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), seen INT DEFAULT 7)"
LOWER = "UNIQUE (lower_name), lower_name VARCHAR(20) AS (LOWER(name))"


@pytest.fixture
def people(source) -> Path:
    """Rows 10 to 59; then 20 to 29 a second time, under other names."""
    return source(
        "".join(f"{n},first {n}\n" for n in range(10, 60)) + "".join(f"{n},second {n}\n" for n in range(20, 30))
    )


@pytest.fixture
def distinct(source) -> Path:
    return source("".join(f"{n},name {n}\n" for n in range(10, 60)))


class TestAtomic:
    def test_rows_arrive_together_at_the_end(self, database: Address, distinct: Path):
        given(database, PEOPLE, "INSERT INTO t (id) VALUES (1)")
        load = planned(database, distinct, "atomic", "id", "name").stage(shuffled=True)
        assert rows_of(database, "SELECT COUNT(*) FROM t") == [(1,)]
        assert load.finish() == Tally(loaded=50)
        assert rows_of(database, "SELECT COUNT(*), SUM(seen), MAX(name) FROM t") == [(51, 357, "name 59")]

    def test_a_row_that_does_not_go_in_is_explained_by_the_tables_own_name(self, database: Address, distinct: Path):
        given(database, PEOPLE.replace("seen", "CHECK (id < 59), seen"))
        with pytest.raises(RowsRefused) as raised:
            planned(database, distinct, "atomic", "id", "name").stage()
        [row] = raised.value.rows
        assert row.line == 50
        assert "millrace_stage" not in f"{raised.value} {row.reason}"

    def test_a_duplicate_in_the_table_fails_and_names_the_key(self, database: Address, distinct: Path):
        given(database, PEOPLE, "INSERT INTO t (id, name) VALUES (33, 'there')")
        load = planned(database, distinct, "atomic", "id", "name").stage()
        with pytest.raises(TargetProblem, match=r"'33' for key '.*PRIMARY'") as raised:
            load.finish()
        assert "is unchanged" in raised.value.advice
        assert rows_of(database) == [(33, "there", 7)]
        with connect(database) as connection:
            assert not is_done(connection, load.job, load.plan)

    def test_skip_keeps_the_first_of_the_file_and_what_is_there(self, database: Address, people: Path):
        given(database, PEOPLE, "INSERT INTO t (id, name) VALUES (33, 'there'), (10, 'first 10')")
        load = planned(database, people, "atomic", "id", "name", on_duplicate="skip").stage(shuffled=True)
        assert load.finish() == load.finish(attempt=2) == Tally(loaded=48, skipped=12)
        assert rows_of(database, "SELECT name FROM t WHERE id IN (20, 33) ORDER BY id") == [("first 20",), ("there",)]

    def test_replace_keeps_the_last_of_the_file_and_counts_equal_rows(self, database: Address, people: Path):
        given(database, PEOPLE, "INSERT INTO t VALUES (33, 'there', 1), (10, 'first 10', 7)")
        load = planned(database, people, "atomic", "id", "name", on_duplicate="replace").stage(shuffled=True)
        assert load.finish() == load.finish(attempt=2) == Tally(loaded=48, replaced=11, unchanged=1)
        found = rows_of(database, "SELECT name, seen FROM t WHERE id IN (20, 33) ORDER BY id")
        assert found == [("second 20", 7), ("first 33", 7)]

    def test_any_other_error_is_not_hidden_by_skip(self, database: Address, people: Path):
        given(
            database,
            "CREATE TABLE parent (id INT PRIMARY KEY)",
            "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), FOREIGN KEY (id) REFERENCES parent (id))",
        )
        load = planned(database, people, "atomic", "id", "name", on_duplicate="skip").stage()
        with pytest.raises(TargetProblem, match="foreign key constraint fails"):
            load.finish()
        assert rows_of(database) == []

    def test_numbers_are_given_by_the_target(self, database: Address, distinct: Path):
        given(
            database,
            "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, id INT UNIQUE, name VARCHAR(20), KEY (name))",
            "INSERT INTO t VALUES (100, 33, 'there')",
        )
        load = planned(database, distinct, "atomic", "id", "name", on_duplicate="skip").stage()
        assert load.finish() == Tally(loaded=49, skipped=1)
        assert rows_of(database, "SELECT MIN(n), COUNT(*) FROM t WHERE n > 100") == [(101, 49)]

    @pytest.mark.one_of("dialect", "null", "field")
    @pytest.mark.parametrize(
        ("dialect", "null", "field"),
        [(DIALECT, "NA", ColumnMapping("id", ("NA",))), (TAB_SEPARATED, "\\N", ColumnMapping("id"))],
    )
    @pytest.mark.parametrize(
        "keys",
        [
            "PRIMARY KEY (id), KEY (name))",
            "PRIMARY KEY (name, id), UNIQUE KEY (id))",
            "KEY (id))",
            "PRIMARY KEY (id)) PARTITION BY HASH (id) PARTITIONS 3",
        ],
    )
    def test_null_is_given_a_number_by_the_target(self, database: Address, source, keys, dialect, null, field):
        given(
            database,
            f"CREATE TABLE t (id INT AUTO_INCREMENT, name VARCHAR(20), {keys}",
            "INSERT INTO t VALUES (1, 'there'), (10, 'there too')",
        )
        rows = [(null, "a"), ("50", "b"), (null, "c"), ("0", "d")]
        path = source("".join(f"{number}{dialect.delimiter}{name}\n" for number, name in rows))
        load = planned(database, path, "atomic", field, "name", dialect=dialect, chunk_bytes=8)
        with connect(database) as connection:
            made = staging.create(connection, load.plan.schema, load.job, load.plan.staged)
            assert staging.create(connection, load.plan.schema, load.job, load.plan.staged) == made
        load.stage()
        assert load.finish() == Tally(loaded=4)
        numbers = dict(rows_of(database, "SELECT name, id FROM t"))
        assert (numbers["b"], numbers["d"]) == (50, 0)
        assert min(numbers["a"], numbers["c"]) > 10
        assert len(set(numbers.values())) == 6

    def test_a_duplicate_among_rows_with_null_fails_while_staging(self, database: Address, source):
        given(database, "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))")
        path = source("NA,a\n7,b\nNA,c\n7,d\n")
        with pytest.raises(RowsRefused, match=r"A row with this key \(id: id\) is there already") as refused:
            planned(database, path, "atomic", ColumnMapping("id", ("NA",)), "name").stage()
        assert [row.line for row in refused.value.rows] == [4]

    def test_a_table_that_changed_meanwhile_is_refused(self, database: Address, distinct: Path):
        given(database, PEOPLE)
        load = planned(database, distinct, "atomic", "id", "name").stage()
        given(database, "ALTER TABLE t MODIFY name VARCHAR(5)")
        with pytest.raises(TargetProblem, match="has changed since the import was planned"):
            load.finish()

    @pytest.mark.parametrize(("mode", "policy"), [("upsert", "fail"), ("atomic", "skip"), ("atomic", "replace")])
    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ("ADD UNIQUE KEY (name)", "2 unique keys"),
            ("DROP PRIMARY KEY, ADD UNIQUE KEY (name)", "has changed since the import was planned"),
            ("ADD KEY (name)", ""),
        ],
    )
    def test_keys_that_changed_meanwhile_are_refused(
        self, database: Address, distinct: Path, mode: str, policy: str, change: str, why: str
    ):
        given(database, PEOPLE)
        load = planned(database, distinct, mode, "id", "name", on_duplicate=policy).stage()
        given(database, f"ALTER TABLE t {change}")
        if why:
            with pytest.raises(Problem, match=why):
                load.finish()
        else:
            load.finish()
        assert rows_of(database, "SELECT COUNT(*) FROM t") == [(0 if why else 50,)]

    def test_a_staging_table_that_somebody_emptied_is_refused(self, database: Address, distinct: Path):
        given(database, PEOPLE)
        load = planned(database, distinct, "atomic", "id", "name").stage()
        given(database, f"DELETE FROM {load.plan.table} WHERE id = 30")
        with pytest.raises(TargetProblem, match="holds 49 rows where 50"):
            load.finish()
        assert rows_of(database) == []

    def test_generated_columns_checks_and_partitions_do_not_stand_in_the_way(self, database: Address, people: Path):
        given(
            database,
            "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), twice INT AS (id * 2) STORED, CHECK (id < 1000),"
            " KEY (name)) PARTITION BY HASH (id) PARTITIONS 3",
        )
        for policy, tally in (("skip", Tally(50, skipped=10)), ("replace", Tally(50, 10))):
            load = planned(database, people, "atomic", "id", "name", on_duplicate=policy).stage()
            assert load.finish() == tally
            assert rows_of(database, "SELECT SUM(twice) FROM t") == [(sum(range(10, 60)) * 2,)]
            given(database, "DELETE FROM t")


class TestUpsert:
    def test_the_last_row_in_the_file_wins_in_any_order_of_the_chunks(self, database: Address, people: Path):
        given(database, PEOPLE, "INSERT INTO t VALUES (33, 'there', 1), (10, 'first 10', 1), (99, 'stays', 1)")
        load = planned(database, people, "upsert", "id", "name").stage(shuffled=True)
        assert load.finish() == load.finish(attempt=2) == Tally(loaded=48, replaced=11, unchanged=1)
        found = rows_of(database, "SELECT name, seen FROM t WHERE id IN (20, 33, 99) ORDER BY id")
        assert found == [("second 20", 7), ("first 33", 1), ("stays", 1)]
        assert rows_of(database, "SELECT COUNT(*) FROM t") == [(51,)]

    def test_without_other_columns_it_adds_what_is_not_there(self, database: Address, source):
        given(database, "CREATE TABLE t (id INT PRIMARY KEY, seen INT DEFAULT 7)", "INSERT INTO t VALUES (2, 1)")
        load = planned(database, source("1\n2\n3\n"), "upsert", "id").stage()
        assert load.finish() == Tally(loaded=2, unchanged=1)
        assert rows_of(database) == [(1, 7), (2, 1), (3, 7)]

    @pytest.mark.parametrize(
        ("there", "file", "found", "tally"),
        [
            ("ann", "Ann,1\n", ("Ann", 1), Tally(replaced=1)),
            ("ann", "ann ,1\n", ("ann ", 1), Tally(replaced=1)),  # PAD SPACE
            ("ann", "ann,1\n", ("ann", 1), Tally(unchanged=1)),
            ("bob", "Bob,1\nBOB,1\n", ("BOB", 1), Tally(replaced=2)),
        ],
    )
    @pytest.mark.parametrize("key", ["PRIMARY KEY (code)", "UNIQUE (code)", "UNIQUE (code(2))"])
    def test_a_key_gets_the_spelling_of_the_file(self, database: Address, source, key, there, file, found, tally):
        given(
            database,
            f"CREATE TABLE t (code VARCHAR(9) NOT NULL, seen INT, {key}) COLLATE utf8mb4_general_ci",
            f"INSERT INTO t VALUES ('{there}', 1)",
        )
        load = planned(database, source(file), "upsert", "code", "seen").stage()
        assert load.finish() == tally
        assert rows_of(database) == [found]

    @pytest.mark.parametrize("rule", ["RESTRICT", "CASCADE", "SET NULL"])
    def test_a_key_that_foreign_keys_point_at_keeps_its_spelling(self, database: Address, source, rule: str):
        given(
            database,
            "CREATE TABLE t (code VARCHAR(9) COLLATE utf8mb4_general_ci PRIMARY KEY, seen INT)",
            "CREATE TABLE child (code VARCHAR(9) COLLATE utf8mb4_general_ci,"
            f" FOREIGN KEY (code) REFERENCES t (code) ON UPDATE {rule})",
            "INSERT INTO t VALUES ('ann', 1)",
            "INSERT INTO child VALUES ('ann')",
        )
        load = planned(database, source("Ann,2\n"), "upsert", "code", "seen").stage()
        assert load.finish() == Tally(replaced=1)
        assert rows_of(database) == [("ann", 2)]
        assert rows_of(database, "SELECT * FROM child") == [("ann",)]
        assert any("keep their spelling" in each.choice for each in load.plan.reasons)

    def test_rows_without_a_key_are_added(self, database: Address, source):
        given(database, "CREATE TABLE t (id INT UNIQUE, name VARCHAR(20))", "INSERT INTO t VALUES (NULL, 'x')")
        load = planned(database, source("1,a\n1,b\n"), "upsert", "id", "name").stage()
        assert load.finish() == Tally(loaded=1, replaced=1)
        assert rows_of(database) == [(None, "x"), (1, "b")]

    @pytest.mark.parametrize(
        ("table", "columns", "why"),
        [
            ("id INT, name VARCHAR(20)", ("id", "name"), "needs a primary or unique key"),
            ("id INT PRIMARY KEY, name VARCHAR(20) UNIQUE", ("id", "name"), "2 unique keys"),
            (f"id INT PRIMARY KEY, name VARCHAR(20), {LOWER} STORED", ("id", "name"), "2 unique keys"),
            (f"id INT PRIMARY KEY, name VARCHAR(20), {LOWER} VIRTUAL", ("id", "name"), "2 unique keys"),
            ("n INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20)", ("name",), "needs a primary or unique key"),
        ],
    )
    def test_a_table_whose_keys_do_not_say_which_row_is_refused(self, database, people, table, columns, why):
        given(database, f"CREATE TABLE t ({table})")
        with pytest.raises(Problem, match=why):
            planned(database, people, "upsert", *columns)

    @pytest.mark.parametrize("code", ["code INT UNIQUE", "code INT AUTO_INCREMENT UNIQUE"])
    def test_a_key_that_a_trigger_fills_says_which_row_as_well(self, database: Address, people: Path, code: str):
        given(database, f"CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), {code})")
        given(database, "CREATE TRIGGER hook BEFORE INSERT ON t FOR EACH ROW SET NEW.name = LOWER(NEW.name)")
        planned(database, people, "upsert", "id", "name")
        given(database, "CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW SET new . `code` = LENGTH(NEW.name)")
        with pytest.raises(Problem, match="2 unique keys"):
            planned(database, people, "upsert", "id", "name")

    def test_the_key_of_a_generated_column_says_which_row(self, database: Address, source):
        given(
            database,
            f"CREATE TABLE t (name VARCHAR(20), seen INT, {LOWER} STORED)",
            "INSERT INTO t (name) VALUES ('ann')",
        )
        load = planned(database, source("Ann,1\nBob,2\nBOB,3\n"), "upsert", "name", "seen").stage(shuffled=True)
        assert load.finish() == Tally(loaded=1, replaced=2)
        assert rows_of(database, "SELECT name, seen FROM t ORDER BY 2") == [("Ann", 1), ("BOB", 3)]


@pytest.mark.parametrize(("mode", "policy"), [("upsert", "fail"), ("atomic", "skip"), ("replace", "fail")])
def test_making_the_staging_table_twice_takes_nothing_away(database: Address, people: Path, mode: str, policy: str):
    given(database, PEOPLE)
    load = planned(database, people, mode, "id", "name", on_duplicate=policy)
    places = ", millrace_chunk, millrace_row" if load.plan.staged.numbered else ""
    with connect(database) as connection:
        made = staging.create(connection, load.plan.schema, load.job, load.plan.staged)
        execute(connection, f"INSERT INTO {load.plan.table} (id{places}) VALUES (1{', 0, 1' if places else ''})")
        assert staging.create(connection, load.plan.schema, load.job, load.plan.staged) == made
        assert count_rows(connection, load.plan.schema, load.plan.table) == 1


def test_the_server_dies_before_the_commit(database: Address, distinct: Path, server):
    given(database, PEOPLE)
    load = planned(database, distinct, "atomic", "id", "name").stage()
    with connect_loader(database) as connection:
        execute(connection, "START TRANSACTION")
        assert ledger.insert(connection, ledger.Entry(load.job, ledger.FINISH, 1, 50, 0, ""))
        execute(connection, load.plan.staged.finish)
        server.kill()
        server.start()
    assert rows_of(database) == []
    assert load.finish(attempt=2) == Tally(loaded=50)
    assert rows_of(database, "SELECT COUNT(*) FROM t") == [(50,)]
