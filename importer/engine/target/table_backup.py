"""The table that mode replace has put aside: its size, its way back, and its end."""

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.mysql.quoting import quote_name
from importer.engine.target import staging
from importer.engine.target.staging import existing_tables

# For a table that somebody reads without end: better tried again later than everybody waiting behind the RENAME.
RENAME_WAIT = 30  # seconds


def restore(connection: Connection, schema: str, job: str, table: str) -> str:
    """Give a replaced table its name back, in one instant; the name under which the job's own table is kept now.

    Raises TargetProblem if the old table is not there any more.
    """
    old, undone = staging.backup_name(job), staging.undone_name(job)
    there = existing_tables(connection, schema, [old, table])
    if there != {old, table}:
        missing = old if old not in there else table
        raise TargetProblem(
            f"There is no table {schema}.{missing} any more.", advice="The old table was restored or dropped already."
        )
    execute(connection, f"SET SESSION lock_wait_timeout = {RENAME_WAIT}")
    names = [f"{quote_name(schema)}.{quote_name(name)}" for name in (table, undone, old, table)]
    execute(connection, "RENAME TABLE {} TO {}, {} TO {}".format(*names))
    return undone


def drop(connection: Connection, schema: str, name: str) -> None:
    """Drop a table that a job has kept."""
    execute(connection, f"DROP TABLE IF EXISTS {quote_name(schema)}.{quote_name(name)}")


def size(connection: Connection, schema: str, name: str) -> tuple[int, int] | None:
    """Rows (the server's estimate) and bytes of a kept table; None if it is not there."""
    found = fetch_all(
        connection,
        "SELECT TABLE_ROWS, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES"
        " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
        (schema, name),
    )
    return (int(found[0][0] or 0), int(found[0][1] or 0)) if found else None
