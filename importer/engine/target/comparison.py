"""The SQL that compares a staging table with its table by one key: marks each staged row, counts them, writes what
differs.

Values are compared as the server stores them: keys by the column's collation, all else byte by byte.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.column_types import Family
from importer.engine.schema.dependencies import TableDependencies
from importer.engine.schema.table import Column, Table
from importer.engine.target import write_modes
from importer.engine.target.staging import (
    CHUNK,
    KEY,
    RANGE,
    ROW,
    STATE,
    Staged,
    kept_by,
    numbering_clauses,
    place_clauses,
    staging_name,
)

# Rows that are read stay locked until the end of the transaction: what was compared is what is changed.
ISOLATION = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
_TEXTS = (Family.CHARACTER, Family.ENUM, Family.SET)


class State(IntEnum):
    """What a staged row is to the table; the numbers stand in the column STATE.

    SAME: equal to the row with its key. NEW: no row has its key. CHANGED: the row with its key differs. REPEATED: a
    later row of the file has its key, too, and counts instead. MISSING: a row of the table that the file does not have,
    which is staged only if rows were left out (load/finish/left_out.py).
    """

    SAME, NEW, CHANGED, REPEATED, MISSING = range(5)


# The chunk of such rows, behind all others.
_NO_CHUNK = 2**32 - 1


@dataclass(frozen=True)
class Asked:
    """What is asked for of a comparison: the options of these names."""

    key: str = ""
    scope: str = ""
    missing: str = write_modes.DELETE
    stop_if: str = ""
    preview: bool = False
    undo: str = "none"
    refuses_repeats: bool = False


def plan_comparison(
    job: str, mode: str, table: Table, dependencies: TableDependencies, columns: Sequence[str], asked: Asked
) -> Staged:
    """The statements for a mode that compares; `columns` are those that the import fills."""
    key = write_modes.matching_key(mode, table, columns, asked.key)
    changed = write_modes.updated_columns(table, dependencies, columns, (key,))
    stage, target = quote_table(table.schema, staging_name(job)), quote_table(table.schema, table.name)
    scope, scoped_by = "", tuple[str, ...]()
    if asked.scope:
        from importer.engine.target.scope import read_scope

        scope, scoped_by = read_scope(asked.scope, table)
    differences = tuple(difference_of(table.column(name)) for name in changed)
    marking = None
    if mode == "sync" and asked.missing not in (write_modes.DELETE, write_modes.KEEP):
        from importer.engine.target.marking import read_marking

        marking = read_marking(asked.missing, table, columns, (*key.columns, *scoped_by))
        changed, differences = (*changed, marking.column), (*differences, marking.marked)
    places = place_clauses() if asked.refuses_repeats else []
    alter = numbering_clauses(table, dependencies, [*_comparing_clauses(table, columns, scoped_by), *places])
    staged = Staged(
        mode=mode,
        on_duplicate="fail",
        table=table.name,
        table_digest=table.digest,
        make=(f"CREATE TABLE {stage} LIKE {target}", f"ALTER TABLE {stage} {alter}"),
        finish="",
        numbered=True,
        # Built at the end, sorted: cheaper than row by row.
        settle=(f"ALTER TABLE {stage} ADD KEY {KEY} ({', '.join(map(quote_name, key.columns))})",),
        columns=tuple(columns),
        keys=(key.columns,),
        changed=changed,
        differences=differences,
        stored=(
            *(_stored_form(table.column(name)).format(f"t.{quote_name(name)}") for name in columns),
            *([f"({marking.marked})"] if marking else ()),
        ),
        deletes=mode == "sync" and asked.missing == write_modes.DELETE,
        marking=marking,
        scope=scope,
        scoped_by=scoped_by,
        stop_if=asked.stop_if,
        preview=asked.preview,
        refuses_repeats=asked.refuses_repeats,
        **kept_by(job, table, asked.undo),
    )
    return replace(staged, finish=Comparison(stage, target, staged).script)


def again(schema: str, job: str, staged: Staged, *, preview: bool, as_seen: bool) -> Staged:
    """The statements that compare the staged rows once more, and change the table unless it is a preview."""
    asked = replace(staged, preview=preview, as_seen=as_seen)
    return replace(asked, finish=Comparison.of(schema, job, asked).script)


def _comparing_clauses(table: Table, columns: Sequence[str], scoped_by: Sequence[str]) -> list[str]:
    """ALTER TABLE clauses for the State, and for rows without values in the columns that are not filled.

    Those of the scope keep their defaults, which new rows will have.
    """
    filled = {name.lower() for name in columns} | {
        name.lower() for name in scoped_by if not table.column(name).required
    }
    others = [each for each in table.columns if each.name.lower() not in filled and not each.auto_increment]
    return [
        f"ADD COLUMN {STATE} TINYINT UNSIGNED NOT NULL DEFAULT {State.SAME:d}",
        f"ADD COLUMN {RANGE} LONGTEXT CHARACTER SET ascii NULL",
        *(f"DROP COLUMN {quote_name(each.name)}" for each in others if each.generated),
        *(f"MODIFY {quote_name(each.name)} {each.type} NULL" for each in others if not each.generated),
    ]


def difference_of(column: Column, one: str = "t", other: str = "s") -> str:
    """The condition under which the column of the row `one` and that of the row `other` are stored differently."""
    name, form = quote_name(column.name), _stored_form(column)
    return f"NOT ({form.format(f'{one}.{name}')} <=> {form.format(f'{other}.{name}')})"


def _stored_form(column: Column) -> str:
    """SQL for the value of {} as it is stored."""
    type_ = column.column_type
    if type_.has_epoch:
        return "UNIX_TIMESTAMP({})"  # Two moments of the hour that a clock repeats look the same.
    if type_.family in _TEXTS:
        return "CAST({} AS BINARY)"
    if type_.family is Family.JSON:
        return "CAST(CAST({} AS CHAR) AS BINARY)"
    if type_.family is Family.FLOATING:
        return "({} + 0E0)"  # A FLOAT is shown with fewer digits than it has.
    return "HEX({})" if type_.family in (Family.OTHER, Family.GEOMETRY) else "{}"


@dataclass(frozen=True)
class Comparison:
    """The statements about one staging table; `stage` and `target` are quoted names, `staged` is of the plan.

    `stages_missing`: the rows that the file does not have are staged, too (stage_missing()).
    """

    stage: str
    target: str
    staged: Staged
    stages_missing: bool = False

    @classmethod
    def of(cls, schema: str, job: str, staged: Staged) -> "Comparison":
        return cls(quote_table(schema, staging_name(job)), quote_table(schema, staged.table), staged)

    @property
    def script(self) -> str:
        """The statements that compare, and those that change the table, for people."""
        if self.staged.preview:
            return self.mark
        deleting = (self.delete,) if self.staged.deletes else (self.mark_missing,) if self.staged.marking else ()
        inserting = () if self.staged.mode == "update" else (self.insert,)
        return ";\n".join((self.mark, *deleting, *((self.update,) if self.staged.changed else ()), *inserting))

    @property
    def _key(self) -> str:
        return ", ".join(map(quote_name, self.staged.keys[0]))

    @property
    def _on(self) -> str:
        return " AND ".join(f"t.{name} = s.{name}" for name in map(quote_name, self.staged.keys[0]))

    @property
    def _differs(self) -> str:
        return " OR ".join(self.staged.differences) or "FALSE"

    @property
    def _alone(self) -> str:
        """The condition that a row s, joined with its partner t, has none: `=` finds no key with NULL."""
        return f"t.{quote_name(self.staged.keys[0][0])} IS NULL"

    def alone(self, chunk: int) -> str:
        """The rows of a chunk, as CHUNK and ROW, that find no partner."""
        joined = f"{self.stage} AS s LEFT JOIN {self.target} AS t ON {self._on}"
        return f"SELECT s.{CHUNK}, s.{ROW} FROM {joined} WHERE s.{CHUNK} = {chunk} AND {self._alone}"

    def keyless(self, chunk: int) -> str:
        """The rows of a chunk, as CHUNK and ROW, that have no whole key: NULL is none."""
        null = " OR ".join(f"{quote_name(name)} IS NULL" for name in self.staged.keys[0])
        return f"SELECT {CHUNK}, {ROW} FROM {self.stage} WHERE {CHUNK} = {chunk} AND ({null})"

    def rows_of(self, chunk: int) -> str:
        """The rows of a chunk, as ROW, in the file's order."""
        return f"SELECT {ROW} FROM {self.stage} WHERE {CHUNK} = {chunk} ORDER BY {ROW}"

    def leave_out(self, chunk: int, rows: Collection[int]) -> str:
        """Delete these rows of a chunk from the staging table."""
        return f"DELETE FROM {self.stage} WHERE {CHUNK} = {chunk} AND {ROW} IN ({', '.join(map(str, rows))})"

    def outside(self, chunk: int | None = None) -> tuple[str, ...]:
        """Queries for the staged rows, as CHUNK and ROW, that meet a row outside the scope, or would put one there.

        Those whose partner is outside, those that would take it there, and new ones that would be there. Each reads one
        derived table with the columns of the scope alone, of just their types; a server merges it into the query.
        """
        names = self.staged.scoped_by
        changed = {name.lower() for name in self.staged.changed}
        old, new = dict.fromkeys(names, "t"), dict.fromkeys(names, "s")
        where = "TRUE" if chunk is None else f"s.{CHUNK} = {chunk}"
        joined = f"JOIN {self.target} AS t ON {self._on} WHERE {where}"
        return (
            self._outside(joined, old),
            self._outside(joined, {name: "s" if name.lower() in changed else "t" for name in names}),
            self._outside(f"LEFT {joined} AND {self._alone}", new),
        )

    def _outside(self, joined: str, sides: Mapping[str, str]) -> str:
        names = ", ".join(f"{side}.{quote_name(name)}" for name, side in sides.items())
        rows = f"SELECT s.{CHUNK}, s.{ROW}, {names} FROM {self.stage} AS s {joined}"
        return f"SELECT {CHUNK}, {ROW} FROM ({rows}) AS r WHERE ({self.staged.scope}) IS NOT TRUE"

    @property
    def repeated(self) -> str:
        """A row if a key is in several staged rows."""
        return f"SELECT 1 FROM {self.stage} GROUP BY {self._key} HAVING COUNT(*) > 1 LIMIT 1"

    @property
    def mark_repeated(self) -> str:
        """Mark all rows of each key but the last in the file."""
        return (
            f"UPDATE {self.stage} AS s JOIN (SELECT {CHUNK} AS chunk_of, {ROW} AS row_of, ROW_NUMBER() OVER"
            f" (PARTITION BY {self._key} ORDER BY {CHUNK} DESC, {ROW} DESC) AS place FROM {self.stage}) AS ranked"
            f" ON s.{CHUNK} = ranked.chunk_of AND s.{ROW} = ranked.row_of"
            f" SET s.{STATE} = {State.REPEATED:d} WHERE ranked.place > 1"
        )

    @property
    def mark(self) -> str:
        """Mark the new and the changed rows; locks the rows that are met where the isolation locks what is read."""
        return (
            f"UPDATE {self.stage} AS s LEFT JOIN {self.target} AS t ON {self._on}"
            f" SET s.{STATE} = IF({self._alone}, {State.NEW:d}, {State.CHANGED:d})"
            f" WHERE s.{STATE} = {State.SAME:d} AND ({self._alone} OR {self._differs})"
        )

    @property
    def count_columns(self) -> str:
        """How many rows are changed, and how many of them differ in each column, in the order of Staged.changed."""
        sums = ", ".join(("COUNT(*)", *(f"COALESCE(SUM({each}), 0)" for each in self.staged.differences)))
        return (
            f"SELECT {sums} FROM {self.stage} AS s STRAIGHT_JOIN {self.target} AS t ON {self._on}"
            f" WHERE s.{STATE} = {State.CHANGED:d} LOCK IN SHARE MODE"
        )

    @property
    def _missing(self) -> str:
        """The condition of the rows t of the scope that no staged row has the key of, but for those without a key.

        Marked ones are none. The table must stand alone in FROM, so that the names in the scope are its columns.
        """
        absent = f"NOT EXISTS (SELECT 1 FROM {self.stage} AS s WHERE {self._on})"
        unmarked = [f"NOT ({self.staged.marking.marked})"] if self.staged.marking else []
        return " AND ".join((self._keyed, absent, *unmarked))

    @property
    def _keyed(self) -> str:
        """The condition that a row t of the table has a whole key, and is in the scope."""
        keyed = [f"t.{quote_name(name)} IS NOT NULL" for name in self.staged.keys[0]]
        return " AND ".join((*keyed, *([f"({self.staged.scope})"] if self.staged.scope else [])))

    @property
    def missing(self) -> str:
        """FROM and WHERE for the rows t of the table that the file does not have."""
        if self.stages_missing:
            return self.partners(State.MISSING, "")
        return f"FROM {self.target} AS t\nWHERE {self._missing}"

    @property
    def ranges(self) -> str:
        """The ranges of the table that chunks have noted, as CHUNK and RANGE."""
        return f"SELECT {CHUNK}, {RANGE} FROM {self.stage} WHERE {RANGE} IS NOT NULL"

    def staged_between(self, first: int, last: int, but: int) -> str:
        """A staged row of any chunk `but` this one whose key, an integer, lies between these."""
        return f"SELECT 1 FROM {self.stage} WHERE {self._key} BETWEEN {first} AND {last} AND {CHUNK} <> {but} LIMIT 1"

    def stage_missing(self, condition: str) -> str:
        """Stage the rows of the table whose {key} meets the condition and has no staged row."""
        names = [quote_name(name) for name in self.staged.columns]
        absent = f"NOT EXISTS (SELECT 1 FROM {self.stage} AS s WHERE {self._on})"
        return (
            f"INSERT INTO {self.stage} ({', '.join(names)}, {CHUNK}, {ROW}, {STATE}) SELECT"
            f" {', '.join(f't.{name}' for name in names)}, {_NO_CHUNK}, UUID_SHORT(), {State.MISSING:d}"
            f" FROM {self.target} AS t WHERE {condition.format(key=f't.{self._key}')} AND {absent}"
        )

    @property
    def count_missing(self) -> str:
        return f"SELECT COUNT(*) {self.missing} LOCK IN SHARE MODE"

    @property
    def count_keyed(self) -> str:
        """How many rows of the scope have a whole key; a fifth of count_missing's work."""
        return f"SELECT COUNT(*) FROM {self.target} AS t WHERE {self._keyed} LOCK IN SHARE MODE"

    @property
    def mark_missing(self) -> str:
        """Mark the rows that the file does not have."""
        marking = self.staged.marking
        assert marking
        value = f"t.{quote_name(marking.column)} = {marking.value}"
        return f"UPDATE {self.target} AS t SET {value}\nWHERE {self._missing}"

    @property
    def delete(self) -> str:
        """Delete the rows that the file does not have."""
        return f"DELETE t {self.missing}"

    @property
    def insert(self) -> str:
        """Insert the new rows, in the file's order."""
        names = ", ".join(map(quote_name, self.staged.columns))
        return (
            f"INSERT INTO {self.target} ({names})\nSELECT {names} FROM {self.stage} AS s\nWHERE s.{STATE} ="
            f" {State.NEW:d} ORDER BY {CHUNK}, {ROW}"
        )

    def rows(self, kind: str) -> str:
        """FROM and WHERE for the rows of a kind, once they are marked: s of new ones, t of missing ones, else both."""
        if kind == "missing":
            return self.missing
        joined = f" STRAIGHT_JOIN {self.target} AS t ON {self._on}" if kind == "changed" else ""
        state = State.CHANGED if kind == "changed" else State.NEW
        return f"FROM {self.stage} AS s{joined} WHERE s.{STATE} = {state:d}"

    def partners(self, state: State, forced: str) -> str:
        """FROM and WHERE for the rows t of the table that have the key of a staged row of this state.

        `forced` is an index hint for the table.
        """
        return (
            f"FROM {self.stage} AS s STRAIGHT_JOIN {self.target} AS t{forced} ON {self._on} WHERE s.{STATE} = {state:d}"
        )

    def first(self, kind: str, rows: int) -> str:
        """The first rows of a kind: the columns of the file as they are there, or, of changed ones, old and new."""
        sides = {"new": "s", "changed": "ts", "missing": "t"}[kind]
        names = ", ".join(f"{side}.{quote_name(name)}" for side in sides for name in self.staged.columns)
        order = "" if kind == "missing" else f" ORDER BY s.{CHUNK}, s.{ROW}"
        return f"SELECT {names} {self.rows(kind)}{order} LIMIT {rows}"

    @property
    def update(self) -> str:
        """Give the changed rows their values, and those that are marked no mark."""
        marking = self.staged.marking
        names = [name for name in self.staged.changed if not (marking and name == marking.column)]
        sets = [f"t.{name} = s.{name}" for name in map(quote_name, names)]
        if marking:
            own = f"t.{quote_name(marking.column)}"
            sets.append(f"{own} = IF({marking.marked}, DEFAULT({own}), {own})")
        values = ", ".join(sets)
        return (
            f"UPDATE {self.stage} AS s STRAIGHT_JOIN {self.target} AS t ON {self._on}\nSET {values}"
            f"\nWHERE s.{STATE} = {State.CHANGED:d}"
        )
