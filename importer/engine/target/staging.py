"""Plans and creates the staging table: chunks load into it, and one finishing step moves its rows to the target table.

The job's key is part of its name, so that no two jobs share a staging table.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.mysql.connection import Connection, execute
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.dependencies import TableDependencies, read_checks
from importer.engine.schema.indexes import KeyDefinition, definition_besides_keys, drop_statement
from importer.engine.schema.table import Column, Table, read_digest, read_table
from importer.engine.target import write_modes

# Columns with the position of a staged row in the file: its chunk, and a number that grows within the chunk. They are
# in the SET clause of every chunk's statement; the loading session has the variable. UUID_SHORT() grows by one for each
# row on both servers, without the warning that MySQL gives for `@n := @n + 1` (server-behaviour.md, Modes).
CHUNK = "millrace_chunk"
ROW = "millrace_row"
NUMBERING = (f"{CHUNK} = @{CHUNK}", f"{ROW} = UUID_SHORT()")

# Where a staged row is in the file, if a key that the file has twice stops the import.
LINE, FILE = "millrace_line", "millrace_file"
PLACES = (GeneratedColumn(LINE, "line"), GeneratedColumn(FILE, "file"))
PLACE_COLUMNS = tuple(
    Column(each.column, type_, nullable=True, default=None, auto_increment=False, generated=False)
    for each, type_ in zip(PLACES, ("bigint unsigned", "text"), strict=True)
)

# What a staged row is to the table, in the modes that compare them (comparison.py), and the key that it is found by. A
# row of each chunk that has left rows out has the range of the table that it was compared with (finish/left_out.py).
STATE = "millrace_state"
RANGE = "millrace_range"
KEY = "millrace_key"

# ER_CHECK_CONSTRAINT_NOT_FOUND (MySQL).
CHECK_NOT_FOUND = 3940

# The column of the invisible primary key that MySQL gives to a table without one (sql_generate_invisible_primary_key).
OWN_KEY = "my_row_id"


@dataclass(frozen=True)
class Marking:
    """The `column` that marks rows, the expression that it gets, and the condition that a row t of the table has it."""

    column: str
    value: str
    marked: str


@dataclass(frozen=True)
class Staged:
    """The statements that create a staging table and bring its rows into the target table. Stored with the plan.

    `table` is the target table, `table_digest` its Table.digest when planned, "" if it does not exist yet. `make`
    creates the staging table; `finish` moves its rows or renames it. `old` is the name of the table backup in mode
    replace, or of the table of the kept rows, else "". `numbered`: rows have their position in the file. `settle` gives
    a staging table that is not InnoDB, or is compared, its keys before `finish`; each statement may be repeated.
    `later` are the names of the keys that it gets only at the end. `definition` is that of the table that mode replace
    replaces, from the moment when the staging table was made like it (with_definition()). `columns` are those that an
    import fills that is numbered or keeps rows, `keys` the columns of each key on which its rows may clash; in a mode
    that compares or keeps rows, of the one key that rows are found by. A mode that compares sets the columns `changed`
    where one of the `differences` is true (comparison.py); `stored` is SQL for what the table has in each of `columns`,
    and whether it is marked. `deletes`: it deletes the rows that the file does not have, or with `marking` marks them
    (marking.py). `scope` is the condition of the rows that it may touch, "" for all, with the columns `scoped_by`
    (scope.py). `stop_if` are the limits beyond which it changes nothing (plan/guards.py); with `preview` it never
    changes anything, and with `as_seen` it changes what an earlier comparison has shown, whatever the limits, or
    nothing (load/finish/seen.py). `refuses_repeats`: a key that the file has twice stops it (finish/repeats.py). `kept`
    are the columns of the rows that it keeps beside the table, so that its change can be taken back (kept_rows.py);
    empty if it keeps none.
    """

    mode: str
    on_duplicate: str
    table: str
    table_digest: str
    make: tuple[str, ...]
    finish: str
    old: str = ""
    numbered: bool = False
    settle: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    definition: str = ""
    columns: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()
    changed: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    deletes: bool = False
    marking: Marking | None = None
    scope: str = ""
    scoped_by: tuple[str, ...] = ()
    stop_if: str = ""
    preview: bool = False
    as_seen: bool = False
    kept: tuple[str, ...] = ()
    refuses_repeats: bool = False

    @property
    def compares(self) -> bool:
        """Whether the staged rows are compared with those of the table: of an upsert only if it keeps rows."""
        return write_modes.compares(self.mode, keeps=bool(self.kept))


def staging_name(job: str) -> str:
    """The staging table's name for the job's key, a UUID."""
    return f"millrace_stage_{job.replace('-', '')}"


def backup_name(job: str) -> str:
    """The name of the table backup: the table that the job replaced."""
    return f"millrace_old_{job.replace('-', '')}"


def undone_name(job: str) -> str:
    """The name that the job's table gets when the table backup is restored."""
    return f"millrace_undone_{job.replace('-', '')}"


def names_of_job(job: str) -> tuple[str, ...]:
    """The names of all tables that an import with a staging table may make next to its table."""
    return staging_name(job), backup_name(job), undone_name(job)


@dataclass(frozen=True)
class StagingTable:
    """The form of the staging table during the load.

    `create` is its CREATE TABLE in mode create, `without` the keys that it gets only at the end in mode replace.
    `nullable` is the AUTO_INCREMENT column in which it keeps NULL, because the target table gives the numbers, "" if
    none. `with_places`: its rows say where they are in the file.
    """

    create: str = ""
    without: Sequence[KeyDefinition] = ()
    nullable: str = ""
    with_places: bool = False


def kept_by(job: str, table: Table, undo: str) -> dict[str, Any]:
    """The fields of Staged about rows that are kept, if `undo` asks for that."""
    columns = tuple(each.name for each in table.fillable_columns)
    return {"old": backup_name(job), "kept": columns} if undo == "keep" else {}


def plan_staging(
    job: str,
    mode: str,
    on_duplicate: str,
    table: Table,
    dependencies: TableDependencies,
    columns: Sequence[str],
    staging_table: StagingTable,
) -> Staged:
    """The statements for a mode with a staging table; `columns` are those that the import fills."""
    create, without = staging_table.create, staging_table.without
    stage, target = quote_table(table.schema, staging_name(job)), quote_table(table.schema, table.name)
    numbered = write_modes.numbers_rows(mode, on_duplicate)
    make: tuple[str, ...]
    if mode == "create":
        make, finish = (create,), f"RENAME TABLE {stage} TO {target}"
    elif mode == "replace":
        off = (drop_statement(table.schema, staging_name(job), without),) if without else ()
        make = (f"CREATE TABLE {stage} LIKE {target}", *off)
        finish = f"RENAME TABLE {target} TO {quote_table(table.schema, backup_name(job))}, {stage} TO {target}"
    else:
        nullable = staging_table.nullable
        clauses = [*_without_slow_keys(table, nullable), *_with_nullable(table, dependencies, nullable)]
        places = place_clauses() if staging_table.with_places else []
        alter = numbering_clauses(table, dependencies, places) if numbered else ", ".join(clauses)
        make = (f"CREATE TABLE {stage} LIKE {target}", *([f"ALTER TABLE {stage} {alter}"] if alter else []))
        finish = _merge(mode, on_duplicate, table, dependencies, stage, target, columns)
    settle: tuple[str, ...] = ()
    if table.engine != "InnoDB":
        make += (f"ALTER TABLE {stage} DISABLE KEYS",)
        # Flushed, so that a crash does not damage it.
        settle = (f"ALTER TABLE {stage} ENABLE KEYS", f"FLUSH TABLES {stage}")
    return Staged(
        mode=mode,
        on_duplicate=on_duplicate,
        table=table.name,
        table_digest="" if mode == "create" else table.digest,
        make=make,
        finish=finish,
        old=backup_name(job) if mode == "replace" else "",
        numbered=numbered,
        settle=settle,
        later=tuple(each.name for each in without),
        columns=tuple(columns) if numbered else (),
        keys=tuple(key.columns for key in write_modes.clashing_keys(table, columns)) if numbered else (),
        refuses_repeats=staging_table.with_places,
    )


def _without_slow_keys(table: Table, nullable: str) -> list[str]:
    """ALTER TABLE clauses that drop the keys that refuse no row: staged rows are read once, in sequence.

    A column that stays AUTO_INCREMENT must keep its key (manual, Using AUTO_INCREMENT).
    """
    numbered = {column.name for column in table.columns if column.auto_increment and column.name != nullable}
    slow = [key for key in table.keys if not key.unique and key.columns[0] not in numbered]
    return [f"DROP KEY {quote_name(key.name)}" for key in slow]


def _with_nullable(table: Table, dependencies: TableDependencies, nullable: str) -> list[str]:
    """ALTER TABLE clauses that let an AUTO_INCREMENT column have NULL and no number of its own.

    A primary key with that column becomes a unique key, which refuses the same rows. A server may demand a primary key
    of every table (sql_require_primary_key), so a column with numbers is added for one; not where the table has
    partitions, whose columns would have to be in it.
    """
    if not nullable:
        return []
    parts = with_null(table.column(nullable))
    if nullable in table.primary_key:
        parts += ["DROP PRIMARY KEY", f"ADD UNIQUE KEY ({', '.join(map(quote_name, table.primary_key))})"]
        if not dependencies.partitioned:
            parts += [f"ADD COLUMN {ROW} BIGINT UNSIGNED NOT NULL AUTO_INCREMENT", f"ADD PRIMARY KEY ({ROW})"]
    return parts


def with_null(column: Column) -> list[str]:
    """ALTER TABLE clauses that let an AUTO_INCREMENT column have NULL.

    MySQL does not change the column of its own primary key, but drops it (manual, Generated Invisible Primary Keys).
    """
    name = quote_name(column.name)
    definition = f"{name} {column.type} NULL"
    return [f"DROP COLUMN {name}", f"ADD COLUMN {definition}"] if column.name == OWN_KEY else [f"MODIFY {definition}"]


def numbering_clauses(table: Table, dependencies: TableDependencies, more: Sequence[str] = ()) -> str:
    """ALTER TABLE clauses that drop all keys, so that no row is refused, and add a primary key in the file's order.

    `more` are further clauses.
    """
    parts = ["DROP PRIMARY KEY" if key.name == "PRIMARY" else f"DROP KEY {quote_name(key.name)}" for key in table.keys]
    # Nullable, because 0 and NULL of the file must reach the target unchanged: the target assigns the numbers.
    parts += [clause for each in table.columns if each.auto_increment for clause in with_null(each)]
    parts += [f"ADD COLUMN {CHUNK} INT UNSIGNED NOT NULL", f"ADD COLUMN {ROW} BIGINT UNSIGNED NOT NULL"]
    parts += [f"ADD PRIMARY KEY ({CHUNK}, {ROW})", *more]
    return ", ".join(parts) + (" REMOVE PARTITIONING" if dependencies.partitioned else "")


def place_clauses() -> list[str]:
    """ALTER TABLE clauses for the columns that say where a row is in the file."""
    return [
        f"ADD COLUMN {each.name} {each.type}{' CHARACTER SET utf8mb4' if each.column_type.has_charset else ''} NULL"
        for each in PLACE_COLUMNS
    ]


def _merge(
    mode: str,
    on_duplicate: str,
    table: Table,
    dependencies: TableDependencies,
    stage: str,
    target: str,
    columns: Sequence[str],
) -> str:
    names = ", ".join(quote_name(column) for column in columns)
    word = "REPLACE" if on_duplicate == "replace" else "INSERT"
    sql = f"{word} INTO {target} ({names})\nSELECT {names} FROM {stage} AS staged"
    if not write_modes.numbers_rows(mode, on_duplicate):
        return sql
    sql += f"\nORDER BY {CHUNK}, {ROW}"
    if word == "REPLACE":
        return sql
    keys = write_modes.clashing_keys(table, columns)
    changed = write_modes.updated_columns(table, dependencies, columns, keys) if mode == "upsert" else ()
    if changed:
        updates = ", ".join(f"{quote_name(column)} = staged.{quote_name(column)}" for column in changed)
    else:  # A column set to itself leaves the existing row unchanged; other errors than duplicates are still raised.
        first = quote_name(columns[0])
        updates = f"{first} = {target}.{first}"
    return f"{sql}\nON DUPLICATE KEY UPDATE {updates}"


def with_definition(connection: Connection, schema: str, staged: Staged) -> Staged:
    """`staged` of mode replace with the present definition of its table, to read once, before create().

    Sets the session's sql_mode, with which create() must not run.
    """
    return replace(staged, definition=definition_besides_keys(connection, schema, staged.table))


def create(connection: Connection, schema: str, job: str, staged: Staged) -> str:
    """Create the staging table, or complete it, and return its Table.digest. Never removes anything that exists.

    Each statement does all or nothing and fails harmlessly the second time, so a worker that was considered dead may
    repeat them while chunks load. Raises the server's errors, such as 1142 for a missing privilege.
    """
    for number, statement in enumerate(staged.make):
        if number and staged.compares:
            _drop_blind_checks(connection, schema, staging_name(job), staged.columns)
        execute_again(connection, statement)
    return read_digest(connection, schema, staging_name(job))


def execute_again(connection: Connection, statement: str) -> None:
    """Run a statement that makes a part of the staging table, which may be there already."""
    try:
        execute(connection, statement)
    except MySQLdb.Error as error:
        if error.args[0] not in (
            *(ER.TABLE_EXISTS_ERROR, ER.DUP_FIELDNAME, ER.CANT_DROP_FIELD_OR_KEY),
            *(ER.DUP_KEYNAME, CHECK_NOT_FOUND),
        ):
            raise


def _drop_blind_checks(connection: Connection, schema: str, stage: str, columns: Sequence[str]) -> None:
    """Drop the CHECKs of a staging table that name columns which the import does not fill.

    They would judge rows by values that the rows of the target table do not have; those are checked when they change.
    """
    filled = {name.lower() for name in columns}
    blind = [
        f"`{each.name.lower()}`"
        for each in read_table(connection, schema, stage).columns
        if each.name.lower() not in filled
    ]
    for name, clause in read_checks(connection, schema, stage):
        if any(each in clause.lower() for each in blind):
            execute_again(connection, f"ALTER TABLE {quote_table(schema, stage)} DROP CONSTRAINT {quote_name(name)}")


def number_rows(connection: Connection, chunk: int) -> None:
    """Set the session variable with the chunk's number, which statements with NUMBERING store in each row."""
    execute(connection, f"SET @{CHUNK} = %s", (chunk,))


def note_range(connection: Connection, schema: str, job: str, chunk: int, text: str) -> None:
    """Note the range of the table that the chunk was compared with, in one of its staged rows.

    Raises TargetProblem if none is staged.
    """
    stage = quote_table(schema, staging_name(job))
    if not execute(connection, f"UPDATE {stage} SET {RANGE} = %s WHERE {CHUNK} = %s LIMIT 1", (text, chunk)):
        raise TargetProblem(
            "None of the chunk's rows is staged, so that it could not be noted what it was compared with.",
            where=stage.replace("`", ""),
            advice="The next attempt stages all of its rows.",
            retryable=True,
        )


def take_out(connection: Connection, schema: str, job: str, chunks: Collection[int]) -> None:
    """Delete the staged rows of these chunks."""
    numbers = ", ".join(map(str, chunks))
    execute(connection, f"DELETE FROM {quote_table(schema, staging_name(job))} WHERE {CHUNK} IN ({numbers})")


def drop(connection: Connection, schema: str, job: str) -> bool:
    """Drop the job's staging table; waits for a load that is still open. False: there is none (any more)."""
    try:
        execute(connection, f"DROP TABLE {quote_table(schema, staging_name(job))}")
    except MySQLdb.Error as error:
        if error.args[0] != ER.BAD_TABLE_ERROR:
            raise
        return False
    return True
