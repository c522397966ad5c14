"""Rows that the table has already are left out of the staging table, and the outcome is that of staging all of them."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, Thread

import MySQLdb
import pytest
from MySQLdb.constants import ER

from importer.engine.errors import NotAsSeen, RowsChangedSince, RowsRefused
from importer.engine.load import ledger, seal
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.finish import finish
from importer.engine.load.finish.left_out import take_out
from importer.engine.load.outcome import Compared, Seen
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.mysql.quoting import quote_text
from importer.engine.target import comparison, staging
from tests.engine.load.test_update import compared_by
from tests.engine.staged import Import, given, planned, rows_of
from tests.stack import wait_until

pytestmark = pytest.mark.both_servers

MAKE = (
    "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), price DECIMAL(8,2), day DATE NOT NULL, at TIMESTAMP NULL,"
    " other INT NOT NULL DEFAULT 7)"
)
COLUMNS = ("id", "name", "price", "day", "at")
NAMES = ("screw", "Schraube ä", "", "a,b", 'with "quotes"')
ANY = {"stop_if": "deleted>100%", "time_zone": "+00:00", "undo": "keep"}
Row = tuple[str, ...]


@dataclass
class Case:
    """Rows of a table and of a file, by id; most of the file's are as in the table."""

    table: dict[int, Row]
    file: dict[int, Row]

    @classmethod
    def of(cls, seed: int, new: bool) -> "Case":
        dice = random.Random(seed)

        def values() -> Row:
            day = f"2024-0{dice.randint(1, 9)}-1{dice.randrange(10)}"
            price = f"{dice.randrange(-99, 9999)}.{dice.randrange(100):02}"
            return dice.choice(NAMES), price, day, f"{day} 0{dice.randrange(10)}:00:00"

        ids = sorted(dice.sample(range(-50, 400), dice.randrange(40, 160)))
        table = {number: values() for number in ids}
        file = {number: row for number, row in table.items() if dice.random() > dice.choice((0, 0.03, 0.2))}
        for number in dice.sample(sorted(file), len(file) // dice.choice((8, 30))):
            at, row = dice.randrange(4), values()
            file[number] = (*file[number][:at], row[at], *file[number][at + 1 :])
        for number in dice.sample(range(-60, 420), 6 if new else 0):
            file.setdefault(number, values())
        return cls(table, file)

    def make(self, database: Address) -> None:
        rows = [f"({', '.join((str(number), *map(quote_text, row)))})" for number, row in self.table.items()]
        given(
            database,
            "DROP TABLE IF EXISTS t",
            MAKE,
            "SET time_zone = '+00:00'",
            f"INSERT INTO t ({', '.join(COLUMNS)}) VALUES {', '.join(rows)}",
        )

    def text(self, order: list[int] | None = None) -> str:
        def line(number: int) -> str:
            name, *others = self.file[number]
            return ",".join((str(number), '"' + name.replace('"', '""') + '"', *others)) + "\n"

        return "".join(map(line, order or sorted(self.file)))

    def compared(self, mode: str) -> Compared:
        both = [(self.table[number], row) for number, row in self.file.items() if number in self.table]
        changed = [(old, new) for old, new in both if old != new]
        counts = {name: sum(old[at] != new[at] for old, new in changed) for at, name in enumerate(COLUMNS[1:])}
        missing = len(self.table.keys() - self.file.keys()) if mode == "sync" else 0
        return Compared(
            new=len(self.file.keys() - self.table.keys()),
            changed=len(changed),
            unchanged=len(both) - len(changed),
            missing=missing,
            deleted=missing,
            columns={name: number for name, number in counts.items() if number},
        )

    def after(self, mode: str) -> dict[int, Row]:
        return self.file if mode == "sync" else {**self.table, **self.file}


def stored(database: Address) -> dict[int, Row]:
    with connect(database) as connection:
        execute(connection, "SET time_zone = '+00:00'")
        connection.query(f"SELECT {', '.join(COLUMNS)} FROM t")
        rows = connection.store_result().fetch_row(0)
    return {int(number): tuple(map(str, row)) for number, *row in rows}


def staged_again(load: Import, chunks: frozenset[int]) -> None:
    """Stage these chunks again, as a worker does."""
    take_out(load.address, load.plan.schema, load.job, chunks)
    with connect(load.address) as connection:
        seal.require_agreement(connection, load.job, "")
    load.load(attempt=2)
    with connect(load.address) as connection:
        seal.require_agreement(connection, load.job, "")
        load.staged_rows = ledger.read_total(connection, load.job).loaded


def ranges_of(load: Import) -> list[tuple[int, int, list[int]]]:
    """The first and the last key, and the missing ones, of the chunks that have left rows out."""
    stage = staging.staging_name(load.job)
    noted = rows_of(load.address, f"SELECT {staging.RANGE} FROM {stage} WHERE {staging.RANGE} IS NOT NULL")
    return [(each["first"], each["last"], each["missing"]) for (text,) in noted if (each := json.loads(text))]


@pytest.mark.parametrize("mode", ["sync", "update"])
@pytest.mark.parametrize("seed", range(12))
def test_the_outcome_is_that_of_staging_all_rows(database: Address, source, mode: str, seed: int):
    case = Case.of(seed, new=mode == "sync")
    case.make(database)
    load = planned(database, source(case.text()), mode, *COLUMNS, **{**ANY, "chunk_bytes": 1000}).stage(shuffled=True)
    assert load.staged.unchanged > len(case.file) / 3
    tally, compared = compared_by(load)
    expected = case.compared(mode)
    assert compared == expected
    assert (tally.loaded, tally.replaced, tally.unchanged + load.staged.unchanged) == (
        expected.new,
        expected.changed,
        expected.unchanged,
    )
    assert stored(database) == case.after(mode)


@pytest.mark.parametrize("order", ["descending", "mixed", "halves"])
def test_a_file_whose_keys_do_not_ascend_is_staged_or_staged_again(database: Address, source, order: str):
    case = Case.of(3, new=True)
    case.make(database)
    numbers = sorted(case.file, reverse=order == "descending")
    if order == "mixed":
        random.Random(1).shuffle(numbers)
    if order == "halves":  # The chunks ascend, and reach into each other's ranges.
        numbers = numbers[::2] + numbers[1::2]
    path = source(case.text(numbers))
    load = planned(database, path, "sync", *COLUMNS, **{**ANY, "chunk_bytes": 1000}).stage()
    assert bool(load.staged.unchanged) == (order == "halves")
    if order == "halves":
        with pytest.raises(RowsChangedSince) as changed:
            load.finish()
        staged_again(load, changed.value.chunks)
    assert compared_by(load)[1] == case.compared("sync")
    assert stored(database) == case.file


OTHERS = {
    "an equal row changes": "UPDATE t SET name = 'other' WHERE id = {equal}",
    "an equal row goes": "DELETE FROM t WHERE id = {equal}",
    "a row comes": "INSERT INTO t VALUES ({free}, 'new', 1, '2024-01-01', NULL, 1)",
    "a missing row goes": "DELETE FROM t WHERE id = {missing}",
    "two rows exchange their keys": "UPDATE t SET id = CASE id WHEN {equal} THEN {free} ELSE id END WHERE id = {equal}",
}


@pytest.mark.parametrize("mode", ["sync", "update"])
@pytest.mark.parametrize("change", OTHERS)
def test_a_row_that_others_change_meanwhile_is_compared_again(database: Address, source, mode: str, change: str):
    case = Case.of(5, new=False)
    case.make(database)
    load = planned(database, source(case.text()), mode, *COLUMNS, **{**ANY, "chunk_bytes": 1000}).stage()
    first, last, missing = next(each for each in ranges_of(load) if each[2])
    within = range(first + 1, last)
    places = {
        "equal": next(each for each in within if case.table.get(each, 0) == case.file.get(each, 1)),
        "free": next(each for each in within if each not in case.table),
        "missing": missing[0],
    }
    given(database, OTHERS[change].format(**places))
    changed = stored(database)
    with pytest.raises(RowsChangedSince) as others:
        load.finish()
    assert len(others.value.chunks) == 1
    assert stored(database) == changed
    if mode == "update" and places["equal"] not in changed:
        with pytest.raises(RowsRefused, match=f"No row of t has its key.*value '{places['equal']}'"):
            staged_again(load, others.value.chunks)
        return
    staged_again(load, others.value.chunks)
    assert compared_by(load)[1] == Case(changed, case.file).compared(mode)
    assert stored(database) == Case(changed, case.file).after(mode)


@contextmanager
def suppress_deadlock() -> Iterator[None]:
    """The log of the changes is a table, too, for which two transactions may wait."""
    try:
        yield
    except MySQLdb.OperationalError as error:
        if error.args[0] != ER.LOCK_DEADLOCK:
            raise


class Others(Thread):
    """Another program, which changes a row of the table at a time until it is stopped."""

    def __init__(self, database: Address, ids: list[int]) -> None:
        super().__init__()
        self.database, self.ids, self.stop, self.changes = database, ids, Event(), 0

    def run(self) -> None:
        dice = random.Random(2)
        with connect(self.database) as connection:
            while not self.stop.wait(0.001):
                with suppress_deadlock():
                    execute(connection, f"UPDATE t SET name = 'theirs' WHERE id = {dice.choice(self.ids)}")
                    self.changes += 1


@contextmanager
def others_write(database: Address, ids: list[int]) -> Iterator[Others]:
    others = Others(database, ids)
    others.start()
    try:
        yield others
    finally:
        others.stop.set()
        others.join()


def test_no_change_is_overlooked_while_others_write_all_the_time(database: Address, source):
    """A trigger logs each change: a row that is not as in the file was changed by the others after the import."""
    case = Case.of(5, new=False)
    case.make(database)
    given(
        database,
        "CREATE TABLE log (seq BIGINT AUTO_INCREMENT PRIMARY KEY, id INT, name VARCHAR(20))",
        "CREATE TRIGGER logged AFTER UPDATE ON t FOR EACH ROW INSERT INTO log (id, name) VALUES (NEW.id, NEW.name)",
    )
    load = planned(database, source(case.text()), "sync", *COLUMNS, **{**ANY, "chunk_bytes": 1000})
    again = 0
    with others_write(database, sorted(case.file)) as others:
        load.stage()
        wait_until(lambda: others.changes > 100)
        while again <= len(load.chunks()):
            try:
                load.finish()
                break
            except RowsChangedSince as changed:
                staged_again(load, changed.chunks)
                again += 1
    assert again
    ((begun,),) = rows_of(database, "SELECT MIN(seq) FROM log WHERE name <> 'theirs'")
    after = {number for (number,) in rows_of(database, f"SELECT DISTINCT id FROM log WHERE seq > {begun}")}
    now = stored(database)
    assert now.keys() == case.file.keys()
    differing = {number for number, row in now.items() if row != case.file[number]}
    assert differing <= after


def test_a_change_in_a_column_that_the_file_does_not_have_matters_not(database: Address, source):
    case = Case.of(5, new=False)
    case.make(database)
    load = planned(database, source(case.text()), "sync", *COLUMNS, **{**ANY, "chunk_bytes": 1000}).stage()
    given(database, "UPDATE t SET other = 8")
    assert load.finish().unchanged + load.staged.unchanged == case.compared("sync").unchanged
    assert stored(database) == case.file
    assert rows_of(database, "SELECT DISTINCT other FROM t ORDER BY 1")[-1] == (8,)


def test_what_was_seen_is_not_applied_once_an_equal_row_has_changed(database: Address, source):
    case = Case.of(5, new=False)
    case.make(database)
    options = {**ANY, "chunk_bytes": 1000, "stop_if": "deleted>0"}
    load = planned(database, source(case.text()), "sync", *COLUMNS, **options).stage()
    first, last, _ = ranges_of(load)[0]
    equal = next(each for each in range(first + 1, last) if case.table.get(each, 0) == case.file.get(each, 1))
    given(database, f"UPDATE t SET name = 'other' WHERE id = {equal}")
    staged = comparison.again(load.plan.schema, load.job, load.plan.staged, preview=False, as_seen=True)
    load.plan = replace(load.plan, staged=staged)
    with pytest.raises(NotAsSeen, match="at least one row is another one"):
        finish(replace(load.work(), seen=Seen(())), LoadCallbacks())


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ({"scope": "id > 0"}, COLUMNS),
        ({"missing": "keep"}, COLUMNS),
        ({"missing": "mark=other"}, COLUMNS),
        ({"on_duplicate": "fail"}, COLUMNS),
        ({"time_zone": "Europe/Berlin"}, COLUMNS),
    ],
)
def test_where_equal_rows_could_not_be_told_all_are_staged(database: Address, source, options: dict, columns):
    case = Case.of(5, new=False)
    case.make(database)
    assert planned(database, source(case.text()), "sync", *columns, **{**ANY, **options}).plan.left_out_by is None
    assert planned(database, source(case.text()), "sync", *columns, **ANY).plan.left_out_by
