"""The modes that compare, against a plain model of them, with random tables and files."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import partial

import pytest

from importer.engine.errors import NotAsSeen, Previewed, RowsRefused, TargetProblem
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.finish import finish
from importer.engine.load.outcome import Compared, Seen, Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.target import comparison
from tests.engine.load.test_update import compared_by
from tests.engine.staged import Import, given, planned, rows_of

pytestmark = pytest.mark.both_servers

KEYS = {
    "n": "n INT",
    "word": "word VARCHAR(9) COLLATE utf8mb4_general_ci",
    "n, word, day": "n INT, word VARCHAR(9) COLLATE utf8mb4_general_ci, day DATE",
}
VALUES = {
    "text": (None, "", "a", "A", "a ", "ä"),
    "number": (None, 0, 1, -1),
    "price": (Decimal("0.00"), Decimal("1.00"), Decimal("1.50")),
    "gone": (0, 1, 2),
}
# The column that marks: never in the file. With 2 another program marks for itself.
GONE = "gone"
# The third column of values has a default in the modes that insert, and none in the one that does not.
COLUMNS = "text VARCHAR(9) COLLATE utf8mb4_general_ci, number INT, price DECIMAL(6,2) NOT NULL"

DEFAULT = {"text": None, "number": None, "price": Decimal("9.99"), GONE: 0}
Row = dict[str, object]
# Conditions, and the same in Python: true only, not NULL.
SCOPES: dict[str, Callable[[Row], bool]] = {
    "": lambda row: True,
    "WHERE number >= 0": lambda row: row["number"] is not None and row["number"] >= 0,
    "`number` IS NULL OR (text in ('a', 'ä'))": lambda row: (
        row["number"] is None or str(row["text"]).lower().rstrip() in ("a", "ä")
    ),
    "price < 1.5 and NOT coalesce(text, 'x') LIKE 'A%'": lambda row: (
        row["price"] < Decimal("1.50") and not str(row["text"] or "").lower().startswith(("a", "ä"))
    ),
}


def folded(row: Row, key: list[str]) -> tuple[object, ...]:
    """The key as its collation compares it."""
    return tuple(value.lower() if isinstance(value := row[name], str) else value for name in key)


@dataclass
class Case:
    """A table, a file with rows for some of its columns, and whether foreign keys point at the table."""

    mode: str
    missing_rows: str
    key: list[str]
    table: list[Row]
    columns: list[str]
    file: list[Row]
    referenced: list[Row] | None
    scope: str = ""

    @classmethod
    def of(cls, mode: str, seed: int) -> "Case":
        dice = random.Random(f"{mode} {seed}")
        key = dice.choice(list(KEYS)).split(", ")

        def a_key() -> Row:
            choice = {
                "n": dice.randrange(12),
                "word": dice.choice("abcdABCDE"),
                "day": f"2024-01-0{dice.randint(1, 2)}",
            }
            return {name: choice[name] for name in key}

        values = {name: partial(dice.choice, each) for name, each in VALUES.items()}
        table: dict[tuple[object, ...], Row] = {}
        for _ in range(dice.randrange(14)):
            row = {**a_key(), **{name: value() for name, value in values.items()}}
            table.setdefault(folded(row, key), row)
        filled = [name for name in values if name != GONE and dice.random() < 0.7] or ["text"]
        file = []
        for _ in range(dice.randrange(20)):
            row = {**a_key(), **{name: values[name]() for name in filled}}
            old = table.get(folded(row, key))
            if old and dice.random() < 0.4:
                row |= {name: old[name] for name in (*key, *filled)}
            file.append(row)
        rows = list(table.values())
        referenced = dice.sample(rows, min(len(rows), 2)) if dice.random() < 0.4 else None
        missing = dice.choice(["delete", "keep", "mark=gone"]) if mode == "sync" else "delete"
        scope = dice.choice(list(SCOPES)) if mode == "sync" and dice.random() < 0.6 else ""
        return cls(mode, missing, key, rows, [*key, *filled], file, referenced, scope)

    @property
    def last(self) -> dict[tuple[object, ...], Row]:
        """The last row of each key, of the rows that are taken."""
        return {folded(row, self.key): row for row in self.taken}

    @property
    def taken(self) -> list[Row]:
        return [row for row in self.file if self.fits(row)]

    def fits(self, row: Row) -> bool:
        """Whether the table takes the row: one that is there is changed inside the scope, a new one would be inside."""
        old = next((each for each in self.table if folded(each, self.key) == folded(row, self.key)), None)
        if self.mode == "update":
            return old is not None
        return (old is None or self.inside(old)) and self.inside({**(old or DEFAULT), **row})

    @property
    def repeated(self) -> list[int]:
        """The lines of the rows whose key an earlier row has, of those that are taken."""
        keys = [folded(row, self.key) if self.fits(row) else None for row in self.file]
        return [line for line, key in enumerate(keys, 1) if key and key in keys[: line - 1]]

    def inside(self, row: Row) -> bool:
        return SCOPES[self.scope](row)

    @property
    def missing(self) -> list[Row]:
        """Of the rows in the scope; marked ones are gone."""
        gone = [row for row in self.table if self.marks and row[GONE] == 1]
        rows = (row for row in self.table if self.inside(row) and row not in gone)
        return [row for row in rows if folded(row, self.key) not in self.last]

    @property
    def keep(self) -> bool:
        return self.missing_rows == "keep"

    @property
    def marks(self) -> bool:
        return self.missing_rows == "mark=gone"

    @property
    def deleted(self) -> list[Row]:
        return self.missing if self.mode == "sync" and self.missing_rows == "delete" else []

    @property
    def marked(self) -> list[Row]:
        return self.missing if self.marks else []

    @property
    def held(self) -> bool:
        """Whether a row that would be deleted is pointed at."""
        return any(row in self.deleted for row in self.referenced or ())

    def changed(self, row: Row) -> dict[str, object]:
        """The new values of a row of the table, where the file has others."""
        new = self.last.get(folded(row, self.key), row)
        fixed = self.key if self.referenced is not None else []
        back = {GONE: 0} if self.marks and row[GONE] == 1 and folded(row, self.key) in self.last else {}
        return {name: new[name] for name in self.columns if name not in fixed and new[name] != row[name]} | back

    def compared(self) -> Compared:
        changes = [change for row in self.table if (change := self.changed(row))]
        columns = {name: rows for name in (*self.columns, GONE) if (rows := sum(name in each for each in changes))}
        new, missing = len(self.inserted), len(self.missing) if self.mode == "sync" else 0
        unchanged, repeated = len(self.last) - new - len(changes), len(self.taken) - len(self.last)
        gone = len(self.deleted)
        return Compared(new, len(changes), unchanged, repeated, missing, gone, columns, marked=len(self.marked))

    @property
    def inserted(self) -> list[Row]:
        known = {folded(row, self.key) for row in self.table}
        return [row for key, row in self.last.items() if key not in known]

    def after(self) -> list[Row]:
        there = [{**row, GONE: 1} if row in self.marked else row for row in self.table if row not in self.deleted]
        return [*({**row, **self.changed(row)} for row in there), *({**DEFAULT, **row} for row in self.inserted)]

    def log(self) -> list[tuple[str, str]]:
        """The rows that triggers see: only those that are written."""
        changed = [*filter(self.changed, self.table), *self.marked]
        written = {"insert": self.inserted, "update": changed, "delete": self.deleted}
        return sorted((event, self.name_of(row)) for event, rows in written.items() for row in rows)

    def name_of(self, row: Row) -> str:
        return "-".join(str(value).lower() for value in folded(row, self.key))

    def make(self, database: Address) -> None:
        key = ", ".join(self.key)
        default = "" if self.mode == "update" else " DEFAULT 9.99"
        given(
            database,
            *(f"DROP TABLE IF EXISTS {name}" for name in ("child", "t", "log")),
            "CREATE TABLE log (event VARCHAR(9), name VARCHAR(99))",
            f"CREATE TABLE t ({KEYS[key]}, {COLUMNS}{default}, gone INT NOT NULL DEFAULT 0, PRIMARY KEY ({key}),"
            " KEY (number))",
        )
        with connect(database) as connection:
            self._insert(connection, "t", self.table)
            for event, row in (("insert", "NEW"), ("update", "NEW"), ("delete", "OLD")):
                name = f"CONCAT_WS('-', {', '.join(f'LOWER({row}.{each})' for each in self.key)})"
                execute(
                    connection,
                    f"CREATE TRIGGER t_{event} AFTER {event} ON t FOR EACH ROW"
                    f" INSERT INTO log VALUES ('{event}', {name})",
                )
            if self.referenced is not None:
                execute(
                    connection,
                    f"CREATE TABLE child ({KEYS[key]}, FOREIGN KEY ({key}) REFERENCES t ({key}) ON UPDATE CASCADE)",
                )
                self._insert(connection, "child", [{name: row[name] for name in self.key} for row in self.referenced])
            connection.commit()

    @staticmethod
    def _insert(connection, table: str, rows: list[Row]) -> None:
        for row in rows:
            places = ", ".join(["%s"] * len(row))
            execute(connection, f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", list(row.values()))


def load_of(case: Case, database: Address, source, **options: object) -> Import:
    """The import of the case's file, as planned."""
    lines = (",".join("NA" if row[name] is None else f'"{row[name]}"' for name in case.columns) for row in case.file)
    mapping = [ColumnMapping(name, ("NA",)) for name in case.columns]
    asked = {"scope": case.scope, "missing": case.missing_rows}
    asked |= {"stop_if": "deleted>100%"} if case.mode == "sync" else {}
    asked |= {"on_error": "reject"} if case.mode == "update" or case.keep else {}
    path = source("".join(f"{each}\n" for each in lines))
    return planned(database, path, case.mode, *mapping, **asked, **options)


def previewed(load: Import) -> tuple[Compared, Seen]:
    """What a preview tells, without the rows that it shows."""
    told: list[tuple[Compared, Seen]] = []
    with pytest.raises(Previewed):
        finish(load.work(), LoadCallbacks(on_compared=lambda *each: told.append(each)))
    compared, seen = told[0]
    assert [len(rows) for rows in compared.first.values()] == [
        min(10, count) for count in (compared.new, compared.changed, compared.missing)
    ]
    return replace(compared, first={}), seen


def applied(load: Import, seen: Seen) -> Tally:
    """Change the table from the rows that a preview has staged, as it has shown it."""
    assert load.plan.staged
    staged = comparison.again(load.plan.schema, load.job, load.plan.staged, preview=False, as_seen=True)
    load.plan = replace(load.plan, staged=staged)
    return finish(replace(load.work(attempt=2), seen=seen), LoadCallbacks())


def disturbed(case: Case, database: Address, dice: random.Random) -> bool:
    """Let somebody else change, delete or add a row, and tell whether it is one that the file is compared with."""
    row = dice.choice(case.table)
    key = " AND ".join(f"{name} = '{row[name]}'" for name in case.key)
    matters = folded(row, case.key) in case.last or (case.mode == "sync" and not case.keep)
    column = dice.choice(list(VALUES))
    given(database, f"UPDATE t SET {column} = {7 if column == 'text' else 8} WHERE {key}")
    return matters and column in case.columns


def stored(database: Address) -> list[str]:
    return sorted(map(repr, rows_of(database, "SELECT * FROM t")))


def shown(case: Case) -> list[str]:
    def value(name: str, row: Row) -> object:
        return date.fromisoformat(str(row[name])) if name == "day" else row[name]

    return sorted(repr(tuple(value(name, row) for name in (*case.key, *VALUES))) for row in case.after())


@pytest.mark.one_of("lot")
@pytest.mark.parametrize("lot", range(4))
@pytest.mark.parametrize("mode", ["update", "sync"])
def test_table_counts_and_triggers_are_those_of_the_model(database: Address, source, mode: str, lot: int):
    for seed in range(lot * 10, lot * 10 + 10):
        case = Case.of(mode, seed)
        case.make(database)
        before = stored(database)
        refused = [at for at, row in enumerate(case.file, 1) if not case.fits(row)]
        if refused and mode == "sync" and not case.keep:
            with pytest.raises(RowsRefused) as stopped:
                load_of(case, database, source, chunk_bytes=10**6).stage()
            assert [row.line for row in stopped.value.rows] == refused, seed
            case.file = case.taken
        preview = load_of(case, database, source, preview=True).stage(shuffled=True)
        told = previewed(preview)
        assert (told[0], stored(database)) == (case.compared(), before), seed
        assert previewed(preview) == told, seed
        if again := case.repeated:
            with pytest.raises(RowsRefused, match="has the same key") as stopped:
                load_of(case, database, source, on_duplicate="fail").stage(shuffled=True).finish()
            assert [row.line for row in stopped.value.rows] == again, seed
            assert stored(database) == before, seed
        load = load_of(case, database, source).stage(shuffled=True)
        assert load.staged == Tally(len(case.taken), rejected=len(case.file) - len(case.taken)), seed
        if case.held:
            with pytest.raises(TargetProblem, match="point at rows that would go"):
                load.finish()
            assert stored(database) == before, seed
            continue
        tally, compared = compared_by(load)
        assert compared == case.compared(), seed
        assert tally == Tally(compared.new, compared.changed, compared.repeated, 0, compared.unchanged), seed
        assert load.finish(attempt=2) == tally, seed
        assert stored(database) == shown(case), seed
        assert sorted(rows_of(database, "SELECT event, name FROM log")) == case.log(), seed


@pytest.mark.one_of("lot")
@pytest.mark.parametrize("lot", range(4))
@pytest.mark.parametrize("mode", ["update", "sync"])
def test_what_a_preview_has_shown_is_applied_unless_the_table_has_changed(
    database: Address, source, mode: str, lot: int
):
    for seed in range(lot * 10, lot * 10 + 10):
        case = Case.of(mode, seed)
        if case.held or not case.table:
            continue
        case.file = case.taken
        case.make(database)
        preview = load_of(case, database, source, preview=True).stage(shuffled=True)
        compared, seen = previewed(preview)
        dice = random.Random(seed)
        matters = not (case.scope or case.marks) and dice.random() < 0.6 and disturbed(case, database, dice)
        before = stored(database)
        if matters:
            with pytest.raises(NotAsSeen, match=r"t has changed since the file was compared with it: "):
                applied(preview, seen)
            assert stored(database) == before, seed
            continue
        tally = applied(preview, seen)
        assert tally == Tally(compared.new, compared.changed, compared.repeated, 0, compared.unchanged), seed
        assert applied(preview, seen) == tally, seed
