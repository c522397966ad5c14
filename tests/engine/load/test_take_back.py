"""What an import with undo has changed, taken back, against a plain model, with random tables, files and hands."""

import random
from dataclasses import replace

import pytest

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.target.staging import backup_name, staging_name
from importer.engine.target.take_back import TakenBack, take_back
from tests.engine.load.test_second_load import VALUES, Case, Row, folded
from tests.engine.staged import Import, given, planned, rows_of

pytestmark = pytest.mark.both_servers

ANY = {"stop_if": "deleted>100%"}
PEOPLE = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), seen INT NOT NULL DEFAULT 7)"
FOUR = "INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3), (4, 'four', 4)"

Keyed = dict[tuple[object, ...], Row]


def undone(load: Import, overwrite: bool = False) -> TakenBack:
    return take_back(load.address, load.plan.schema, load.job, load.plan.staged, overwrite, lambda _: None)


def kept(load: Import) -> list[tuple]:
    return rows_of(load.address, f"SELECT * FROM {backup_name(load.job)} ORDER BY millrace_row")


def text_of(case: Case) -> str:
    """The file of a case."""
    rows = (["NA" if row[name] is None else f'"{row[name]}"' for name in case.columns] for row in case.file)
    return "".join(f"{','.join(row)}\n" for row in rows)


def rows_by_key(database: Address, case: Case) -> Keyed:
    names = [*case.key, *VALUES]
    rows = [dict(zip(names, row, strict=True)) for row in rows_of(database, f"SELECT {', '.join(names)} FROM t")]
    return {folded(row, case.key): row for row in rows}


def meddled(database: Address, case: Case, dice: random.Random) -> None:
    """What others do to the table: they change, delete and insert rows."""
    where = " AND ".join(f"{name} = %s" for name in case.key)
    held = {folded(row, case.key) for row in case.referenced or ()}
    gone = [row for row in case.table if dice.random() < 0.2]
    with connect(database) as connection:
        for key, row in rows_by_key(database, case).items():
            values = [row[name] for name in case.key]
            if dice.random() < 0.25:
                column = dice.choice(list(VALUES))
                value = dice.choice([each for each in VALUES[column] if column != "price" or each is not None])
                execute(connection, f"UPDATE t SET {column} = %s WHERE {where}", [value, *values])
            elif dice.random() < 0.1 and not any(str(each).lower() in map(str, key) for one in held for each in one):
                execute(connection, f"DELETE FROM t WHERE {where}", values)
        for row in gone:
            again = row | {"number": dice.choice([row["number"], 7])}
            places = ", ".join(["%s"] * len(again))
            execute(connection, f"INSERT IGNORE INTO t ({', '.join(again)}) VALUES ({places})", list(again.values()))
        connection.commit()


def expected(before: Keyed, written: Keyed, now: Keyed, overwrite: bool) -> tuple[Keyed, set[tuple[object, ...]]]:
    """The rows after the change was taken back, and the keys of those that others have changed."""
    after, others = dict(now), set()
    for key in {*before, *written}:
        old, new, present = before.get(key), written.get(key), now.get(key)
        if old == new:
            continue
        if old and new:
            columns = [name for name in old if old[name] != new[name]]
            foreign = not present or any(present[name] not in (new[name], old[name]) for name in columns)
            back = {**(present or old), **{name: old[name] for name in columns}}
        else:
            foreign = present is not None and present != (new or old)
            back = old
        if foreign:
            others.add(key)
        if not foreign or overwrite:
            after[key] = back
    return {key: row for key, row in after.items() if row is not None}, others


@pytest.mark.one_of("lot")
@pytest.mark.parametrize("lot", range(4))
@pytest.mark.parametrize("mode", ["update", "sync", "upsert"])
def test_the_table_is_as_it_was_but_for_what_others_have_changed(database: Address, source, mode: str, lot: int):
    for seed in range(lot * 10, lot * 10 + 10):
        case = Case.of("sync" if mode == "upsert" else mode, seed)
        if mode == "upsert":
            case = replace(case, missing_rows="keep", scope="")
        case.file = case.taken
        case.make(database)
        if case.held:
            continue
        before = rows_by_key(database, case)
        mapping = [ColumnMapping(name, ("NA",)) for name in case.columns]
        options = {**ANY, "scope": case.scope, "missing": case.missing_rows} if mode == "sync" else {}
        load = planned(database, source(text_of(case)), mode, *mapping, undo="keep", **options)
        tally = load.stage(shuffled=True).finish()
        compared = case.compared()
        assert tally == Tally(compared.new, compared.changed, compared.repeated, 0, compared.unchanged), seed
        written = rows_by_key(database, case)
        assert len(kept(load)) == 2 * (compared.changed + compared.marked) + compared.new + compared.deleted, seed
        dice = random.Random(f"others {mode} {seed}")
        overwrite = dice.random() < 0.3
        if dice.random() < 0.7:
            meddled(database, case, dice)
        now = rows_by_key(database, case)
        after, others = expected(before, written, now, overwrite)
        told = undone(load, overwrite)
        assert rows_by_key(database, case) == after, seed
        assert told.by_others == len(others), seed
        assert {tuple(map(str.lower, key)) for key in told.first} == {tuple(map(str, key)) for key in others}, seed
        given(database, "DELETE FROM log")
        assert undone(load, overwrite) == told, seed
        assert rows_of(database, "SELECT * FROM log") == [], seed


class TestAtomic:
    def test_added_rows_go_again_and_numbers_of_others_stay(self, database: Address, source):
        given(
            database,
            "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(9))",
            "INSERT INTO t (word) VALUES ('a'), ('b')",
        )
        load = planned(database, source("x\ny\nz\n"), "atomic", "word", undo="keep").stage()
        assert load.finish() == load.finish(attempt=2) == Tally(loaded=3)
        given(database, "INSERT INTO t (word) VALUES ('later')", "UPDATE t SET word = 'Y' WHERE word = 'y'")
        assert len(kept(load)) == 3
        told = undone(load)
        number = str(rows_of(database, "SELECT n FROM t WHERE word = 'Y'")[0][0])
        assert told == TakenBack(new=2, by_others=1, key=("n",), first=((number,),))
        assert [word for _, word in rows_of(database)] == ["a", "b", "Y", "later"]
        again = planned(database, source("x\n"), "atomic", "word", undo="keep").stage()
        again.finish()
        assert undone(again, overwrite=True) == TakenBack(new=1, key=("n",))

    def test_rows_of_other_sessions_between_the_numbers_are_not_kept(self, database: Address, source):
        given(database, "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(9))")
        lines = "".join(f"w{number}\n" for number in range(3000))
        load = planned(database, source(lines), "atomic", "word", undo="keep", chunk_bytes=10000).stage()
        with connect(database) as other:
            other.autocommit(False)
            execute(other, "INSERT INTO t (n, word) VALUES (5000, 'open')")
            load.finish()
            other.commit()
        assert len(kept(load)) == 3000
        assert undone(load).new == 3000
        assert rows_of(database) == [(5000, "open")]

    def test_rows_with_a_key_of_the_file(self, database: Address, source):
        given(database, PEOPLE, FOUR)
        load = planned(database, source("5,five\n6,six\n"), "atomic", "id", "name", undo="keep").stage()
        load.finish()
        assert undone(load) == TakenBack(new=2, key=("id",))
        assert len(rows_of(database)) == 4

    def test_a_table_without_a_key_is_refused_before_the_load(self, database: Address, source):
        given(database, "CREATE TABLE t (id INT UNIQUE, name VARCHAR(20))")
        with pytest.raises(Problem, match="needs an AUTO_INCREMENT column, or a primary or unique key"):
            planned(database, source("1,a\n"), "atomic", "id", "name", undo="keep")


class TestExactness:
    def test_every_type_and_what_the_server_fills_come_back(self, database: Address, source):
        mariadb = "MariaDB" in rows_of(database, "SELECT VERSION()")[0][0]
        own = "UUID()" if mariadb else "JSON_OBJECT('a', 1.0)"
        given(
            database,
            "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, sku VARCHAR(9) NOT NULL UNIQUE, price INT,"
            " twice INT AS (price * 2) STORED, half INT AS (price / 2), note VARCHAR(9) DEFAULT 'new' INVISIBLE,"
            " seen TIMESTAMP(6) NOT NULL DEFAULT '2020-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP(6),"
            " f FLOAT, d DOUBLE, c CHAR(5), e ENUM('a','B'), s SET('x','y'), b VARBINARY(9), bits BIT(9), y YEAR,"
            f" day DATE, te TEXT, u {'UUID' if mariadb else 'JSON'}, g GEOMETRY, CHECK (twice < 100))",
            "SET sql_mode = ''",
            "INSERT INTO t (n, sku, price, note, f, d, c, e, s, b, bits, y, day, te, u, g) VALUES"
            + ", ".join(
                f"({n}, '{sku}', {n}, 'x', 0.1, 1e-300, 'a', {e}, 'x,y', X'00ff20', b'101', 2000, '{day}', 'te ',"
                f" {own}, ST_GeomFromText('POINT(1 2)'))"
                for n, sku, e, day in (
                    (5, "a", "'B'", "0000-00-00"),
                    (6, "b", "''", "2024-01-01"),
                    (9, "c", "1", "0000-00-00"),
                )
            ),
        )
        before = rows_of(database, "SELECT *, note FROM t ORDER BY n")
        load = planned(database, source("B,20\na,5\nd,4\n"), "sync", "sku", "price", key="sku", undo="keep", **ANY)
        assert load.stage().finish() == Tally(1, 1, 0, 0, 1)
        assert undone(load) == TakenBack(changed=1, deleted=1, new=1, key=("sku",))
        assert rows_of(database, "SELECT *, note FROM t ORDER BY n") == before

    def test_a_stop_at_a_limit_and_a_preview_keep_nothing(self, database: Address, source):
        given(database, PEOPLE, FOUR)
        load = planned(database, source("1,x\n"), "sync", "id", "name", undo="keep").stage()
        with pytest.raises(Problem, match="more than deleted>10% allows"):
            load.finish()
        assert kept(load) == []
        assert load.tables() >= {staging_name(load.job), backup_name(load.job)}


class TestRefused:
    @pytest.mark.parametrize(
        ("statement", "why"),
        [
            ("DROP TABLE t", "There is no table .*t any more"),
            ("ALTER TABLE t ADD COLUMN other INT", "The columns of .*t are not those"),
            ("DROP TABLE {kept}", "There is no table .*millrace_old_.* any more"),
            ("ALTER TABLE t DROP PRIMARY KEY", "t has no unique key \\(id\\) any more"),
            (
                "CREATE TABLE orders (p INT, CONSTRAINT by_p FOREIGN KEY (p) REFERENCES t (id)) AS SELECT 5 AS p",
                "does not take its old rows back.*by_p",
            ),
        ],
    )
    def test_what_is_in_the_way_is_named_and_nothing_changes(self, database: Address, source, statement, why):
        given(database, PEOPLE, FOUR)
        load = planned(database, source("1,x\n5,five\n"), "sync", "id", "name", undo="keep", **ANY).stage()
        load.finish()
        after = rows_of(database)
        given(database, statement.format(kept=backup_name(load.job)))
        with pytest.raises(TargetProblem, match=why):
            undone(load)
        if statement != "DROP TABLE t":
            assert [row[:3] for row in rows_of(database)] == after

    @pytest.mark.parametrize(
        ("mode", "options", "why"),
        [
            ("append", {}, "Mode append keeps no single rows"),
            ("replace", {}, "Mode replace keeps no single rows"),
            ("atomic", {"on_duplicate": "skip"}, "do not tell what on_duplicate skip has done"),
        ],
    )
    def test_modes_that_keep_no_rows(self, database: Address, source, mode, options, why):
        given(database, PEOPLE)
        with pytest.raises(Problem, match=why):
            planned(database, source("1,1\n"), mode, "id", "name", undo="keep", **options)
