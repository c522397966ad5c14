"""How much an INSERT statement may hold."""

from importer.engine.errors import TargetProblem
from importer.engine.load.methods.inserts.insert_sql import Template
from importer.engine.mysql.connection import LoaderConnection, fetch_all

# Of max_allowed_packet, for the records of a statement: it is longer than they are.
SHARE = 4


def rows_of(connection: LoaderConnection, made: Template, rows: int) -> int:
    """How many rows a statement has: of a traced one no more than the server's list of warnings is long.

    Each traced row has one warning, MySQL adds one for each `:=` (server-behaviour.md), and some are left for what is
    wrong.
    """
    if not made.traced:
        return rows
    shown = int(fetch_all(connection, "SELECT @@SESSION.max_error_count")[0][0])
    return max(1, min(rows, shown // 4))


def max_allowed_packet(connection: LoaderConnection) -> int:
    """The longest statement that the server takes, in bytes (manual, Server System Variables)."""
    return int(fetch_all(connection, "SELECT @@SESSION.max_allowed_packet")[0][0])


def too_large(largest: int) -> TargetProblem:
    """About a row that no statement can hold."""
    return TargetProblem(
        f"A row is larger than the server's max_allowed_packet ({largest:,} bytes).",
        advice=f"SET GLOBAL max_allowed_packet = {min(2**30, 4 * largest)}; or a method that loads files.",
    )
