"""Mode sync: the table becomes equal to the file, in one transaction, and rows that are equal are not written."""

import pytest

from importer.engine.errors import Problem, RowsRefused, TargetProblem, TooManyChanges
from importer.engine.load.outcome import Compared, Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from tests.engine.load.test_update import compared_by
from tests.engine.staged import given, planned, rows_of

pytestmark = pytest.mark.both_servers

PEOPLE = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), seen INT NOT NULL DEFAULT 7)"
FOUR = "INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3), (4, 'four', 4)"
ANY = {"stop_if": "deleted>100%"}


def synced(database: Address, path, *columns: str, **options) -> Tally:
    return planned(database, path, "sync", *columns, **{**ANY, **options}).stage(shuffled=True).finish()


class TestSync:
    def test_new_changed_equal_and_missing_rows(self, database: Address, source):
        given(database, PEOPLE, FOUR)
        load = planned(database, source("2,two\n3,THREE\n5,five\n"), "sync", "id", "name", **ANY).stage(shuffled=True)
        tally, compared = compared_by(load)
        assert tally == load.finish(attempt=2) == Tally(loaded=1, replaced=1, unchanged=1)
        assert compared == Compared(new=1, changed=1, unchanged=1, missing=2, deleted=2, columns={"name": 1})
        assert rows_of(database) == [(2, "two", 2), (3, "THREE", 3), (5, "five", 7)]

    def test_missing_rows_are_kept_where_that_is_asked_for(self, database: Address, source):
        given(database, PEOPLE, FOUR)
        load = planned(database, source("4,4\n0,0\nx,1\n"), "sync", "id", "name", missing="keep", on_error="reject")
        tally, compared = compared_by(load.stage())
        assert (tally, compared.missing, compared.deleted) == (Tally(loaded=1, replaced=1), 3, 0)
        assert len(rows_of(database)) == 5

    @pytest.mark.parametrize(
        ("rows", "tripped"), [("", "4 rows (100.0%)"), ("1,one\n2,two\n3,three\n", "1 row (25.0%)")]
    )
    def test_an_empty_or_cut_file_empties_no_table(self, database: Address, source, rows, tripped):
        given(database, PEOPLE, FOUR)
        load = planned(database, source(rows), "sync", "id", "name").stage()
        with pytest.raises(TooManyChanges) as stopped:
            load.finish()
        assert tripped in stopped.value.what
        assert "more than deleted>10% allows" in stopped.value.what
        assert "--stop-if 'deleted>" in stopped.value.advice
        assert len(rows_of(database)) == 4
        assert synced(database, source(rows), "id", "name") == Tally(unchanged=len(rows.splitlines()))
        assert len(rows_of(database)) == len(rows.splitlines())

    @pytest.mark.parametrize("limit", ["new>0", "changed>0", "new>25%, changed>25%"])
    def test_other_limits_stop_it_too(self, database: Address, source, limit):
        given(database, PEOPLE, FOUR)
        path = source("1,x\n2,y\n3,three\n4,four\n5,five\n6,six\n")
        with pytest.raises(TooManyChanges, match=r"more than (new|changed)>"):
            synced(database, path, "id", "name", stop_if=limit)
        assert synced(database, path, "id", "name", stop_if="new>2, changed>50%") == Tally(2, 2, 0, 0, 2)

    def test_limits_of_other_rows_leave_that_of_deleted_rows_in_force(self, database: Address, source):
        given(database, PEOPLE, FOUR)
        with pytest.raises(TooManyChanges) as stopped:
            synced(database, source(""), "id", "name", stop_if="changed>1234567, new>0.5%")
        assert "more than deleted>10% allows" in stopped.value.what
        assert stopped.value.advice.endswith("--stop-if 'changed>1234567, new>0.5%, deleted>4'.")
        assert len(rows_of(database)) == 4

    def test_an_empty_table_is_filled(self, database: Address, source):
        given(database, PEOPLE)
        assert planned(database, source("1,a\n2,b\n1,c\n"), "sync", "id", "name").stage().finish() == Tally(
            2, skipped=1
        )
        assert rows_of(database) == [(1, "c", 7), (2, "b", 7)]

    def test_a_row_without_a_key_is_refused_and_those_of_the_table_stay(self, database: Address, source):
        given(
            database,
            "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, sku VARCHAR(9) UNIQUE, price INT)",
            "INSERT INTO t VALUES (1, 'a', 1), (2, NULL, 2), (3, 'c', 3)",
        )
        null = source("a,1\nNA,2\n")
        sku = ColumnMapping("sku", ("NA",))
        with pytest.raises(RowsRefused, match="is NULL, which is no key") as refused:
            planned(database, null, "sync", sku, "price").stage()
        assert [row.line for row in refused.value.rows] == [2]
        assert synced(database, source("A,1\nd,4\n"), "sku", "price") == Tally(loaded=1, replaced=1)
        found = rows_of(database, "SELECT sku, price FROM t ORDER BY price")
        assert found == [("A", 1), (None, 2), ("d", 4)]

    def test_rows_that_others_point_at_are_named_with_their_holder(self, database: Address, source):
        given(
            database,
            PEOPLE,
            FOUR,
            "CREATE TABLE orders (id INT PRIMARY KEY, person INT, CONSTRAINT by_person FOREIGN KEY (person)"
            " REFERENCES t (id))",
            "INSERT INTO orders VALUES (1, 3), (2, 2), (3, 3)",
        )
        with pytest.raises(TargetProblem, match=r"orders \(by_person\) point at rows that would go, id 2; 3"):
            synced(database, source("1,one\n4,x\n"), "id", "name")
        assert rows_of(database, "SELECT name FROM t WHERE id = 4") == [("four",)]
        assert synced(database, source("2,two\n3,three\n4,x\n"), "id", "name") == Tally(0, 1, 0, 0, 2)

    def test_a_cascade_that_leads_back_to_the_table_changes_nothing(self, database: Address, source):
        given(
            database,
            "CREATE TABLE t (id INT PRIMARY KEY, boss INT, FOREIGN KEY (boss) REFERENCES t (id) ON DELETE CASCADE)",
            "INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2)",
        )
        with pytest.raises(TargetProblem, match=r"took others with them|rows? to delete where there"):
            synced(database, source("3,2\n"), "id", "boss")
        assert len(rows_of(database)) == 3

    def test_a_key_that_a_deleted_row_frees_can_be_taken(self, database: Address, source):
        given(
            database,
            "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) UNIQUE)",
            "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        )
        assert synced(database, source("2,a\n4,c\n"), "id", "name", key="PRIMARY") == Tally(loaded=1, replaced=1)
        assert rows_of(database) == [(2, "a"), (4, "c")]
        with pytest.raises(TargetProblem, match=r"does not take a change.*Duplicate entry 'c'"):
            synced(database, source("2,c\n4,a\n"), "id", "name", key="PRIMARY")

    def test_numbers_generated_and_invisible_columns_stay_the_servers(self, database: Address, source):
        given(
            database,
            "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, sku VARCHAR(9) NOT NULL UNIQUE, price INT,"
            " twice INT AS (price * 2) STORED, half INT AS (price / 2), note VARCHAR(9) DEFAULT 'new'"
            " INVISIBLE, CHECK (twice < 100), CHECK (note <> 'bad'))",
            "INSERT INTO t (n, sku, price, note) VALUES (5, 'a', 1, 'x'), (6, 'b', 2, 'y'), (9, 'c', 3, 'z')",
        )
        assert synced(database, source("b,20\na,1\nd,4\n"), "sku", "price") == Tally(1, 1, 0, 0, 1)
        found = rows_of(database, "SELECT n, sku, price, twice, half, note FROM t ORDER BY n")
        assert found == [(5, "a", 1, 2, 1, "x"), (6, "b", 20, 40, 10, "y"), (10, "d", 4, 8, 2, "new")]
        with pytest.raises(TargetProblem, match="does not take a change"):
            synced(database, source("b,50\na,1\nd,4\n"), "sku", "price")

    def test_triggers_fire_once_for_each_row_that_is_written(self, database: Address, source):
        given(
            database,
            PEOPLE,
            FOUR,
            "CREATE TABLE log (did VARCHAR(9), id INT)",
            *(
                f"CREATE TRIGGER on_{event} AFTER {event} ON t FOR EACH ROW"
                f" INSERT INTO log VALUES ('{event}', {row}.id)"
                for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD"))
            ),
        )
        synced(database, source("1,one\n2,TWO\n5,five\n"), "id", "name")
        found = rows_of(database, "SELECT * FROM log ORDER BY id")
        assert found == [("UPDATE", 2), ("DELETE", 3), ("DELETE", 4), ("INSERT", 5)]

    @pytest.mark.parametrize(
        ("mode", "options", "why"),
        [
            ("sync", {"on_error": "reject"}, "A rejected row is missing from the file"),
            ("sync", {"stop_if": "deleted>much"}, "is no limit of what an import may change"),
            ("append", {"stop_if": "deleted>1"}, "does not compare the file with the table"),
            ("upsert", {"missing": "keep"}, "deletes no rows that the file lacks"),
        ],
    )
    def test_options_that_contradict_each_other_are_refused(self, database: Address, source, mode, options, why):
        given(database, PEOPLE)
        with pytest.raises(Problem, match=why):
            planned(database, source("1,1\n"), mode, "id", "name", **options)


class TestMark:
    """Rows that the file lacks are marked instead of deleted, once."""

    SHELF = "INSERT INTO t (id, name) VALUES (1, 'one'), (2, 'two'), (3, 'three')"

    @pytest.mark.parametrize(
        ("column", "mark", "first", "second"),
        [
            ("gone TINYINT(1) NOT NULL DEFAULT 0", "gone", 1, 0),
            ("active BOOL DEFAULT TRUE", "active:0", 0, 1),
            ("`st:ate` ENUM('on', 'off') NOT NULL DEFAULT 'on'", "`st:ate`:OFF", "off", "on"),
            ("note VARCHAR(20)", "note:it's: \\", "it's: \\", None),
        ],
    )
    def test_the_value_stands_in_the_column_until_the_row_comes_back(
        self, database: Address, source, column, mark, first, second
    ):
        given(database, f"CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9), {column})", self.SHELF)
        options = {**ANY, "missing": f"mark={mark}"}
        load = planned(database, source("2,two\n3,THREE\n"), "sync", "id", "name", **options).stage()
        tally, compared = compared_by(load)
        assert tally == Tally(replaced=1, unchanged=1)
        assert compared == Compared(changed=1, unchanged=1, missing=1, marked=1, columns={"name": 1})
        assert rows_of(database) == [(1, "one", first), (2, "two", second), (3, "THREE", second)]
        load = planned(database, source("1,one\n3,THREE\n"), "sync", "id", "name", **options).stage()
        tally, compared = compared_by(load)
        assert (tally, compared.missing, compared.marked) == (Tally(replaced=1, unchanged=1), 1, 1)
        assert list(compared.columns.values()) == [1]
        assert rows_of(database) == [(1, "one", second), (2, "two", first), (3, "THREE", second)]

    @pytest.mark.parametrize("column", ["gone DATE", "gone DATETIME(3)", "gone TIMESTAMP NULL"])
    def test_a_column_of_dates_gets_the_present_time_once(self, database: Address, source, column):
        given(database, f"CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9), {column})", self.SHELF)
        given(database, "INSERT INTO t VALUES (4, 'old', '2020-01-01')")
        for _ in range(2):
            synced(database, source("1,one\n"), "id", "name", missing="mark=gone")
        year = "SELECT id, YEAR(gone) = YEAR(NOW()) FROM t ORDER BY id"
        assert rows_of(database, year) == [(1, None), (2, 1), (3, 1), (4, 0)]
        assert synced(database, source("1,one\n2,two\n4,old\n"), "id", "name", missing="mark=gone") == Tally(
            0, 2, 0, 0, 1
        )
        assert rows_of(database, year) == [(1, None), (2, None), (3, 1), (4, None)]

    def test_limits_of_deleted_rows_hold_for_them(self, database: Address, source):
        given(database, "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9), gone INT DEFAULT 0)", self.SHELF)
        with pytest.raises(TooManyChanges, match=r"3 rows \(100.0%\) would be marked as missing.*deleted>10%"):
            synced(database, source(""), "id", "name", missing="mark=gone", stop_if="")
        assert rows_of(database, "SELECT SUM(gone) FROM t") == [(0,)]

    @pytest.mark.parametrize(
        ("mark", "why"),
        [
            ("absent", "has no column absent"),
            ("name", "The file fills name itself"),
            ("id", "fills id itself"),
            ("shop", "is in the key or the scope"),
            ("twice", "has no default"),
            ("state:ON", "ON is the default of state"),
            ("made", "is the present time in new rows"),
        ],
    )
    def test_a_column_that_cannot_mark_is_refused_before_the_load(self, database: Address, source, mark, why):
        given(
            database,
            "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9), shop INT DEFAULT 3, twice INT AS (id * 2),"
            " state VARCHAR(9) DEFAULT 'on', made TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
        )
        with pytest.raises(Problem, match=why):
            planned(database, source("1,1\n"), "sync", "id", "name", scope="shop = 3", missing=f"mark={mark}")


class TestScope:
    """Rows outside the scope are never touched."""

    GIVEN = (
        "CREATE TABLE t (id INT PRIMARY KEY, shop INT NOT NULL DEFAULT 3, name VARCHAR(20) COLLATE utf8mb4_bin)",
        "INSERT INTO t VALUES (1, 3, 'one'), (2, 3, 'two'), (3, 4, 'three'), (4, 4, 'four')",
    )

    def test_shares_are_those_of_the_scope_and_defaults_count(self, database: Address, source):
        given(database, *self.GIVEN)
        path = source("1,ONE\n5,five\n")
        with pytest.raises(TooManyChanges, match=r"1 row \(50.0%\) would be deleted, where the table has 2 to compare"):
            synced(database, path, "id", "name", scope="shop = 3", stop_if="")
        assert synced(database, path, "id", "name", scope="shop = 3") == Tally(1, 1)
        assert rows_of(database) == [(1, 3, "ONE"), (3, 4, "three"), (4, 4, "four"), (5, 3, "five")]

    def test_each_row_that_would_touch_others_is_named_with_its_line_and_reason(self, database: Address, source):
        given(database, *self.GIVEN)
        path = source("1,3,one\n3,3,moved in\n2,4,moved out\n6,4,new\n4,4,of another\n")
        load = planned(database, path, "sync", "id", "shop", "name", scope="shop=3", chunk_bytes=10**6)
        with pytest.raises(RowsRefused) as refused:
            load.stage()
        assert {row.line: row.reason for row in refused.value.rows} == {
            2: "The row of t with its key (id) is outside the scope: shop=3.",
            3: "It would take the row of t with its key (id) out of the scope: shop=3.",
            4: "It would be a new row outside the scope: shop=3.",
            5: "The row of t with its key (id) is outside the scope: shop=3.",
        }
        columns, options = ("id", "shop", "name"), {"scope": "shop=3", "missing": "keep", "on_error": "reject"}
        load = planned(database, path, "sync", *columns, **options, max_rejects=4).stage(shuffled=True)
        assert load.staged == Tally(1, rejected=4)
        assert load.finish() == Tally(unchanged=1)
        assert len(rows_of(database)) == 4

    def test_a_row_that_others_move_after_it_was_looked_up_stops_the_change(self, database: Address, source):
        given(database, *self.GIVEN)
        load = planned(database, source("1,x\n2,y\n"), "sync", "id", "name", scope="shop = 3", **ANY).stage()
        given(database, "UPDATE t SET shop = 4 WHERE id = 1")
        with pytest.raises(TargetProblem, match="1 row of the file would touch rows outside the scope now"):
            load.finish()
        assert rows_of(database, "SELECT name FROM t WHERE id < 3") == [("one",), ("two",)]

    @pytest.mark.parametrize("event", ["INSERT", "UPDATE"])
    def test_a_trigger_that_moves_a_row_out_of_the_scope_is_taken_back(self, database: Address, source, event):
        given(database, *self.GIVEN, f"CREATE TRIGGER away BEFORE {event} ON t FOR EACH ROW SET NEW.shop = 9")
        load = planned(database, source("1,ONE\n2,two\n7,x\n"), "sync", "id", "name", scope="shop = 3").stage()
        with pytest.raises(TargetProblem, match="1 row would be outside the scope after the change"):
            load.finish()
        assert [shop for _, shop, _ in rows_of(database)] == [3, 3, 4, 4]

    def test_only_mode_sync_has_one(self, database: Address, source):
        given(database, *self.GIVEN)
        with pytest.raises(Problem, match="so it has no scope"):
            planned(database, source("1,1\n"), "update", "id", "name", scope="shop = 3")
        with pytest.raises(Problem, match="has price, which is no column of t"):
            planned(database, source("1,1\n"), "sync", "id", "name", scope="price = 3")
