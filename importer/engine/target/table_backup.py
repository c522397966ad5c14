"""Restores, measures and drops the table backup: the old table that mode replace keeps."""

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.mysql.quoting import quote_table
from importer.engine.schema.dependencies import read_dependencies
from importer.engine.schema.table import existing_tables
from importer.engine.target import staging, write_modes

# Seconds that RENAME TABLE waits for sessions that read the table. All other sessions wait behind the RENAME, so it
# gives up and is tried again later.
RENAME_WAIT = 30


def restore(connection: Connection, schema: str, job: str, table: str) -> str:
    """Rename the table backup back to `table`, atomically; returns the new name of the table that the job had loaded.

    Raises TargetProblem if one of the two tables no longer exists, or has foreign keys or triggers, or foreign keys to
    it: they would follow it to its new name.
    """
    old, undone = staging.backup_name(job), staging.undone_name(job)
    existing = existing_tables(connection, schema, [old, table])
    if existing != {old, table}:
        missing = old if old not in existing else table
        raise TargetProblem(
            f"There is no table {schema}.{missing} any more.", advice="The old table was restored or dropped already."
        )
    for name in (table, old):
        write_modes.check_swap(name, read_dependencies(connection, schema, name), "Drop them before the restore.")
    execute(connection, f"SET SESSION lock_wait_timeout = {RENAME_WAIT}")
    names = [quote_table(schema, name) for name in (table, undone, old, table)]
    execute(connection, "RENAME TABLE {} TO {}, {} TO {}".format(*names))
    return undone


def drop(connection: Connection, schema: str, name: str) -> None:
    """Drop the table if it exists."""
    execute(connection, f"DROP TABLE IF EXISTS {quote_table(schema, name)}")


def counted_size(connection: Connection, schema: str, name: str) -> int:
    """Bytes of a table that has just been filled: without ANALYZE the server still tells those of an empty one."""
    fetch_all(connection, f"ANALYZE NO_WRITE_TO_BINLOG TABLE {quote_table(schema, name)}")
    return (size(connection, schema, name) or (0, 0))[1]


def size(connection: Connection, schema: str, name: str) -> tuple[int, int] | None:
    """Rows (the server's estimate) and bytes of the table; None if it does not exist."""
    rows = fetch_all(
        connection,
        "SELECT TABLE_ROWS, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES"
        " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
        (schema, name),
    )
    return (int(rows[0][0] or 0), int(rows[0][1] or 0)) if rows else None
