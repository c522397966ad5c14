"""The staging table: chunks load into it beside the target, and one finishing step brings its rows where they belong.

It carries the job's key in its name, so that no job ever meets another's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.mysql.quoting import quote_name
from importer.engine.schema.dependencies import TableDependencies
from importer.engine.schema.indexes import KeyDefinition, drop_statement
from importer.engine.schema.table import Table, read_digest
from importer.engine.target import write_modes

# Where a staged row stood in the file: its chunk, and a number that grows within it. `SET` of every chunk's statement;
# the loader session has the variable. UUID_SHORT() counts up by one for each row, on both servers and without the
# warning that MySQL gives for `@n := @n + 1` (server-behaviour.md, Modes).
CHUNK = "millrace_chunk"
ROW = "millrace_row"
NUMBERING = (f"{CHUNK} = @{CHUNK}", f"{ROW} = UUID_SHORT()")


@dataclass(frozen=True)
class Staged:
    """How rows that are loaded aside come into their own table.

    `table` is where they belong, `table_digest` its Table.digest as planned, "" if it is yet to be made. `make` are the
    statements that make the staging table, `finish` is the one that ends it all. `old` is the name under which a
    replaced table is kept, "" if there is none. `numbered`: rows carry their place in the file. `settle` are statements
    that make the staging table what it is to be, before it takes its place; each may be repeated. `engine` is what it
    has until then, "" if that is its own, and `later` are the names of keys that it gets only then.
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
    engine: str = ""
    later: tuple[str, ...] = ()


def staging_name(job: str) -> str:
    """The staging table's name for the job's key, a UUID."""
    return f"millrace_stage_{job.replace('-', '')}"


def backup_name(job: str) -> str:
    """The name under which the job keeps the table that it replaced."""
    return f"millrace_old_{job.replace('-', '')}"


def undone_name(job: str) -> str:
    """The name that the job's own table gets when the old one is restored."""
    return f"millrace_undone_{job.replace('-', '')}"


@dataclass(frozen=True)
class StagingTable:
    """The staging table while it is loaded.

    `create` is the statement that makes it in mode create, `engine` its storage engine, `without` the keys that it does
    not have until the end in mode replace.
    """

    create: str = ""
    engine: str = "InnoDB"
    without: Sequence[KeyDefinition] = ()


def plan_staging(
    job: str,
    mode: str,
    on_duplicate: str,
    table: Table,
    around: TableDependencies,
    columns: Sequence[str],
    staging_table: StagingTable,
) -> Staged:
    """The exact statements for a mode that stages; `columns` are those that the import gives values to."""
    create, engine, without = staging_table.create, staging_table.engine, staging_table.without
    stage, target = _name(table.schema, staging_name(job)), _name(table.schema, table.name)
    numbered = write_modes.numbers_rows(mode, on_duplicate)
    make: tuple[str, ...]
    if mode == "create":
        make, finish = (create,), f"RENAME TABLE {stage} TO {target}"
    elif mode == "replace":
        off = (drop_statement(table.schema, staging_name(job), without),) if without else ()
        make = (f"CREATE TABLE {stage} LIKE {target}", *off)
        finish = f"RENAME TABLE {target} TO {_name(table.schema, backup_name(job))}, {stage} TO {target}"
    else:
        alter = _numbered(table, around) if numbered else _without_slow_keys(table)
        make = (f"CREATE TABLE {stage} LIKE {target}", *([f"ALTER TABLE {stage} {alter}"] if alter else []))
        finish = _merge(mode, on_duplicate, table, stage, target, columns)
    converted = engine != table.engine
    if engine != "InnoDB":
        make += (f"ALTER TABLE {stage} ENGINE={engine}",) if converted else ()
        make += (f"ALTER TABLE {stage} DISABLE KEYS",)
    return Staged(
        mode=mode,
        on_duplicate=on_duplicate,
        table=table.name,
        table_digest="" if mode == "create" else table.digest,
        make=make,
        finish=finish,
        old=backup_name(job) if mode == "replace" else "",
        numbered=numbered,
        settle=_settle(stage, table, engine),
        engine=engine if converted else "",
        later=tuple(each.name for each in without),
    )


def _settle(stage: str, table: Table, engine: str) -> tuple[str, ...]:
    """Out of MyISAM with its keys off; a table that stays such a one is closed, so that a crash leaves it whole."""
    if engine != table.engine:
        return (f"ALTER TABLE {stage} ENGINE={table.engine}, ENABLE KEYS",)
    return () if engine == "InnoDB" else (f"ALTER TABLE {stage} ENABLE KEYS", f"FLUSH TABLES {stage}")


def _without_slow_keys(table: Table) -> str:
    """Without keys that refuse no row: staged rows are read once, from one end to the other.

    A column that the server numbers must keep a key (manual, Using AUTO_INCREMENT).
    """
    numbered = {column.name for column in table.columns if column.auto_increment}
    slow = [key for key in table.keys if not key.unique and key.columns[0] not in numbered]
    return ", ".join(f"DROP KEY {quote_name(key.name)}" for key in slow)


def _numbered(table: Table, around: TableDependencies) -> str:
    """Without the target's keys, so that every row finds room, and in the order of the file."""
    parts = ["DROP PRIMARY KEY" if key.name == "PRIMARY" else f"DROP KEY {quote_name(key.name)}" for key in table.keys]
    # NULL, as 0 and NULL of the file must reach the target as they are, which gives the numbers.
    parts += [f"MODIFY {quote_name(each.name)} {each.type} NULL" for each in table.columns if each.auto_increment]
    parts += [f"ADD COLUMN {CHUNK} INT UNSIGNED NOT NULL", f"ADD COLUMN {ROW} BIGINT UNSIGNED NOT NULL"]
    parts += [f"ADD PRIMARY KEY ({CHUNK}, {ROW})"]
    return ", ".join(parts) + (" REMOVE PARTITIONING" if around.partitioned else "")


def _merge(
    mode: str,
    on_duplicate: str,
    table: Table,
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
    in_keys = {name.lower() for key in keys for name in key.columns}
    changed = [column for column in columns if column.lower() not in in_keys] if mode == "upsert" else []
    if changed:
        updates = ", ".join(f"{quote_name(column)} = staged.{quote_name(column)}" for column in changed)
    else:  # A column set to itself: the row that is there stays as it is, and nothing but duplicates is let pass.
        first = quote_name(columns[0])
        updates = f"{first} = {target}.{first}"
    return f"{sql}\nON DUPLICATE KEY UPDATE {updates}"


def create(connection: Connection, schema: str, job: str, staged: Staged) -> str:
    """Make the staging table, or finish making it; its Table.digest. What is there already is never taken away.

    Each statement either does all or nothing, and says so when it comes second: so a worker that was thought dead may
    repeat all of it while chunks load. Raises what the server says, such as 1142 for a missing right.
    """
    for statement in staged.make:
        try:
            execute(connection, statement)
        except MySQLdb.Error as error:
            if error.args[0] not in (ER.TABLE_EXISTS_ERROR, ER.DUP_FIELDNAME, ER.CANT_DROP_FIELD_OR_KEY):
                raise
    return read_digest(connection, schema, staging_name(job))


def number_rows(connection: Connection, chunk: int) -> None:
    """Give what this session loads its place in the file, for statements with NUMBERING."""
    execute(connection, f"SET @{CHUNK} = %s", (chunk,))


def drop(connection: Connection, schema: str, job: str) -> None:
    """Drop the job's staging table, if it is there; waits for a load that is still open."""
    execute(connection, f"DROP TABLE IF EXISTS {_name(schema, staging_name(job))}")


def existing_tables(connection: Connection, schema: str, names: Sequence[str]) -> set[str]:
    """Which of these tables are there."""
    marks = ", ".join("%s" for _ in names)
    rows = fetch_all(
        connection,
        f"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME IN ({marks})",
        (schema, *names),
    )
    return {name for name in names if name.lower() in {str(row[0]).lower() for row in rows}}


def count_rows(connection: Connection, schema: str, name: str) -> int:
    """The table's rows, counted."""
    return int(fetch_all(connection, f"SELECT COUNT(*) FROM {_name(schema, name)}")[0][0])


def _name(schema: str, table: str) -> str:
    return f"{quote_name(schema)}.{quote_name(table)}"
