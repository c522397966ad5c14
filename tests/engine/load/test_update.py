"""Mode update: changes rows that are there, in the file's columns only, and writes only those that differ."""

import pytest

from importer.engine.errors import Problem, RowsRefused, TargetProblem
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.finish import finish
from importer.engine.load.outcome import Compared, Tally
from importer.engine.mysql.connection import Address, connect
from importer.engine.target import staging
from tests.engine.staged import given, planned, rows_of

pytestmark = pytest.mark.both_servers

ARTICLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, price DECIMAL(8,2), seen TIMESTAMP(6) NOT NULL"
    " DEFAULT '2020-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP(6))"
)
THREE = "INSERT INTO t (id, name, price) VALUES (1, 'one', 1), (2, 'two', NULL), (3, 'three', 3)"
OLD = "2020-01-01 00:00:00.000000"


def compared_by(load) -> tuple[Tally, Compared]:
    """The tally of the finishing step, and the comparison that it was told."""
    told: list[Compared] = []
    tally = finish(load.work(), LoadCallbacks(on_compared=lambda compared, _: told.append(compared)))
    return tally, told[0]


class TestUpdate:
    def test_only_rows_that_differ_and_only_columns_of_the_file_are_written(self, database: Address, source):
        given(database, ARTICLES, THREE)
        load = planned(database, source("1,1\n2,2.50\n3,4\n"), "update", "id", "price").stage(shuffled=True)
        tally, compared = compared_by(load)
        assert tally == load.finish(attempt=2) == Tally(replaced=2, unchanged=1)
        assert compared == Compared(changed=2, unchanged=1, columns={"price": 2})
        found = rows_of(database, "SELECT id, name, price, CAST(seen AS CHAR) FROM t ORDER BY id")
        assert [(name, float(price)) for _, name, price, _ in found] == [("one", 1), ("two", 2.5), ("three", 4)]
        assert [seen == OLD for *_, seen in found] == [True, False, False]

    def test_a_row_whose_key_is_unknown_is_refused_with_its_line(self, database: Address, source):
        given(database, ARTICLES, THREE)
        load = planned(database, source("1,9\n7,7\n3,9\n"), "update", "id", "price")
        with pytest.raises(RowsRefused, match=r"No row of t has its key \(id\).*'7'") as refused:
            load.stage()
        assert [row.line for row in refused.value.rows] == [2]
        assert "mode upsert adds them" in refused.value.advice

    def test_rows_whose_key_is_unknown_are_left_out_between_other_bad_rows(self, database: Address, source):
        given(database, ARTICLES, THREE)
        path = source("7,7\n1,x\n2,8\n8,8\n3,9\n\n9,1\n")
        load = planned(database, path, "update", "id", "price", on_error="reject", chunk_bytes=12).stage()
        assert load.staged == Tally(loaded=2, rejected=4) or load.staged == Tally(loaded=2, rejected=5)
        assert load.finish() == Tally(replaced=2)
        assert rows_of(database, "SELECT price FROM t WHERE id > 1 ORDER BY id") == [(8,), (9,)]

    def test_the_last_row_of_a_key_wins_and_the_others_are_skipped(self, database: Address, source):
        given(database, ARTICLES, THREE)
        path = source("1,5\n2,2\n1,6\n1,1\n2,3\n")
        load = planned(database, path, "update", "id", "price", chunk_bytes=8).stage(shuffled=True)
        assert load.finish() == Tally(replaced=1, unchanged=1, skipped=3)
        assert rows_of(database, "SELECT price FROM t WHERE id < 3 ORDER BY id") == [(1,), (3,)]

    @pytest.mark.parametrize("mode", ["update", "sync", "upsert"])
    def test_a_key_that_is_in_the_file_twice_stops_it_where_that_is_asked_for(self, database: Address, source, mode):
        given(
            database,
            "CREATE TABLE t (id INT, sku VARCHAR(9) COLLATE utf8mb4_general_ci, price INT, PRIMARY KEY (id, sku))",
            "INSERT INTO t VALUES (1, 'a', 0), (2, 'b', 0), (3, 'c', 0)",
        )
        path = source('1,a,1\n\n2,"b",3\n1,A,4\n3,c,x\n2,B,6\n1,a,7\n3,c,8\n')
        columns, asked = (
            ("id", "sku", "price"),
            {"on_error": "reject", "missing": "keep" if mode == "sync" else "delete"},
        )
        load = planned(database, path, mode, *columns, **asked, on_duplicate="fail", chunk_bytes=12)
        with pytest.raises(RowsRefused) as refused:
            load.stage(shuffled=True).finish()
        same = [(row.line, row.value, row.reason) for row in refused.value.rows]
        assert same == [
            (4, "1, A", "Line 1 has the same key (id, sku)."),
            (6, "2, B", "Line 3 has the same key (id, sku)."),
            (7, "1, a", "Line 1 has the same key (id, sku)."),
        ]
        assert (refused.value.bad_rows, refused.value.where) == (3, "line 4")
        assert rows_of(database, "SELECT SUM(price) FROM t") == [(0,)]
        last = planned(database, path, mode, *columns, **asked, on_duplicate="last", chunk_bytes=12).stage(
            shuffled=True
        )
        assert last.finish().rows == 6
        assert rows_of(database, "SELECT price FROM t ORDER BY id") == [(7,), (6,), (8,)]
        once = planned(database, source("1,a,9\n2,b,9\n3,c,9\n"), mode, *columns, on_duplicate="fail").stage()
        assert once.finish() == Tally(replaced=3)

    def test_the_last_row_wins_only_where_rows_are_changed(self, database: Address, source):
        given(database, ARTICLES)
        with pytest.raises(Problem, match="changes no rows, so the last one of a key cannot win"):
            planned(database, source("1,1\n"), "append", "id", "price", on_duplicate="last")

    @pytest.mark.parametrize(("key", "columns"), [("", ("sku", "price")), ("sku", ("id", "sku", "price"))])
    def test_rows_are_found_by_the_key_that_the_file_has_or_that_is_named(self, database, source, key, columns):
        given(
            database,
            "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, sku VARCHAR(9) UNIQUE, price INT, name INT NOT NULL)",
            "INSERT INTO t VALUES (1, 'a', 1, 1), (2, 'b', 2, 2), (3, NULL, 3, 3)",
        )
        path = source("B,20\n" if len(columns) == 2 else "2,B,20\n")
        load = planned(database, path, "update", *columns, key=key).stage()
        assert load.finish() == Tally(replaced=1)
        assert rows_of(database) == [(1, "a", 1, 1), (2, "B", 20, 2), (3, None, 3, 3)]

    def test_several_keys_are_a_question(self, database: Address, source):
        given(database, "CREATE TABLE t (id INT, a INT UNIQUE, b INT UNIQUE)")
        with pytest.raises(Problem, match="2 unique keys by which its rows can be found") as raised:
            planned(database, source("1,1,1\n"), "update", "id", "a", "b")
        assert "--key a" in raised.value.advice

    @pytest.mark.parametrize(
        ("columns", "options", "why"),
        [
            (("name", "price"), {}, "needs a primary or unique key"),
            (("id", "price"), {"key": "name"}, "no primary or unique key name"),
            (("id", "price"), {"on_duplicate": "skip"}, "contradicts on_duplicate skip"),
            (("id",), {}, "nothing to change but the key"),
            (("id", "price"), {"verify": "full"}, "cannot be compared with the file"),
        ],
    )
    def test_what_cannot_be_is_refused_before_the_load(self, database: Address, source, columns, options, why):
        given(database, ARTICLES)
        with pytest.raises(Problem, match=why):
            planned(database, source("1,1\n"), "update", *columns, **options)

    def test_a_row_that_went_away_since_it_was_staged_stops_the_change(self, database: Address, source):
        given(database, ARTICLES, THREE)
        load = planned(database, source("1,9\n2,9\n"), "update", "id", "price").stage()
        given(database, "DELETE FROM t WHERE id = 2")
        with pytest.raises(TargetProblem, match="1 row of the file had a row with their key"):
            load.finish()
        assert rows_of(database, "SELECT id, price FROM t") == [(1, 1), (3, 3)]

    def test_every_type_is_compared_as_it_is_stored(self, database: Address, source):
        mariadb = "MariaDB" in rows_of(database, "SELECT VERSION()")[0][0]
        own = "u UUID, i INET6" if mariadb else "u JSON, i GEOMETRY"
        values = (
            "'0b9c0c4e-4f0e-11ee-be56-0242ac120002', '::1'"
            if mariadb
            else "'{\"a\": 1.0}', ST_GeomFromText('POINT(1 2)')"
        )
        given(
            database,
            "CREATE TABLE t (id INT PRIMARY KEY, f FLOAT, d DOUBLE, c CHAR(5), v VARCHAR(9), e ENUM('a','B'),"
            f" s SET('x','y'), b VARBINARY(9), n BIT(9), y YEAR, dt DATETIME(3), ti TIME, te TEXT, ts TIMESTAMP NULL,"
            f" {own})",
            "INSERT INTO t VALUES (1, 0.1, 0.1, 'a', 'v ', 'a', 'x,y', 'b', b'1', 2000, '2024-01-01 01:02:03.004',"
            f" '01:02:03', 'te', '2024-01-01 00:00:00', {values}), (2, {', '.join(['NULL'] * 15)})",
        )
        load = planned(database, source("1,2\n"), "update", "id", "v")
        names = [
            each
            for (each,) in rows_of(
                database,
                "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE"
                " TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't' ORDER BY ORDINAL_POSITION",
            )
        ]
        load = planned(database, source(f"1{',x' * 15}\n"), "update", *names)
        with connect(database) as connection:
            staging.create(connection, load.plan.schema, load.job, load.plan.staged)
        stage, listed = staging.staging_name(load.job), ", ".join(names)
        insert = f"INSERT INTO {stage} ({listed}, millrace_chunk, millrace_row) SELECT {listed}, 0, id FROM t"
        given(database, insert, f"UPDATE {stage} SET v = 'V ', c = 'A', e = 'B', te = 'te ' WHERE id = 1")
        load.staged_rows = 2
        tally, compared = compared_by(load)
        assert tally == Tally(replaced=1, unchanged=1)
        assert compared.columns == {"c": 1, "v": 1, "e": 1, "te": 1}

    def test_checks_on_other_columns_generated_columns_and_triggers(self, database: Address, source):
        given(
            database,
            "CREATE TABLE log (id INT, old INT, new INT)",
            "CREATE TABLE t (id INT PRIMARY KEY, price INT CHECK (price > 0), cost INT NOT NULL DEFAULT 99,"
            " margin INT AS (price - cost), doubled INT AS (price * 2) STORED, KEY (margin),"
            " CONSTRAINT earns CHECK (price >= cost), CONSTRAINT known CHECK (cost IS NOT NULL)) PARTITION BY KEY (id)",
            "INSERT INTO t (id, price, cost) VALUES (1, 10, 5), (2, 10, 5)",
            "CREATE TRIGGER changed AFTER UPDATE ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id, OLD.price,"
            " NEW.price)",
        )
        path = source("1,10\n2,20\n1,0\n")
        load = planned(database, path, "update", "id", "price", on_error="reject", chunk_bytes=5).stage()
        assert load.staged == Tally(loaded=2, rejected=1)
        assert load.finish() == Tally(replaced=1, unchanged=1)
        assert rows_of(database, "SELECT * FROM log") == [(2, 10, 20)]
        assert rows_of(database) == [(1, 10, 5, 5, 20), (2, 20, 5, 15, 40)]
        late = planned(database, source("1,4\n"), "update", "id", "price").stage()
        with pytest.raises(TargetProblem, match="earns"):
            late.finish()
