"""Limits the size of an INSERT statement."""

from importer.engine.errors import TargetProblem
from importer.engine.load.methods.inserts.insert_sql import Template
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.mysql.connection import LoaderConnection, fetch_row

# Records take at most 1/SHARE of max_allowed_packet: the statement is longer than its records.
SHARE = 4


def rows_of(connection: LoaderConnection, template: Template, request: LoadRequest) -> int:
    """The number of rows of a statement, as requested; a traced one has at most a quarter of the server's list of
    warnings.

    Each traced row has one warning, MySQL adds one for each `:=` (server-behaviour.md), and the rest is for errors.
    """
    assert request.rows
    if not template.traced:
        return request.rows
    shown = int(fetch_row(connection, "SELECT @@SESSION.max_error_count")[0])
    return max(1, min(request.rows, shown // 4))


def max_allowed_packet(connection: LoaderConnection) -> int:
    """The longest statement that the server takes, in bytes (manual, Server System Variables)."""
    return int(fetch_row(connection, "SELECT @@SESSION.max_allowed_packet")[0])


def too_large(largest: int) -> TargetProblem:
    """The error about a row that is too large for any statement."""
    return TargetProblem(
        f"A row is larger than the server's max_allowed_packet ({largest:,} bytes).",
        advice=f"SET GLOBAL max_allowed_packet = {min(2**30, 4 * largest)}; or a method that loads files.",
    )
