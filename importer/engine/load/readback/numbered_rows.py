"""Finds the rows of a chunk by the numbers that the server gave them, where no key of the file finds them.

The transaction sees the table as it was at its start, and its own rows. An AUTO_INCREMENT column gives each new row a
higher number than any row has (manual, AUTO_INCREMENT Handling in InnoDB). So the rows with higher numbers than the
table had at the start are those of this transaction, in the order in which they were sent. Rows that others insert at
the same time may have numbers between them; they are not seen.
"""

from importer.engine.load.readback.expected_rows import Values, fetch_bytes, from_table, selected_columns
from importer.engine.mysql.connection import Connection, execute
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.readback import Readback

_BEFORE = "@millrace_before"


def begin(connection: Connection, readback: Readback, *, locked: bool) -> None:
    """Begin the transaction and remember the highest number of the table.

    `locked`: this session has locked the table, so that nobody else inserts rows; a START TRANSACTION would release it.
    """
    if not locked:
        execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        execute(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
    number = quote_name(readback.numbered_by)
    # Not in the SET: there, the servers lock what they read, and with it the end of the table.
    ((highest,),) = fetch_bytes(connection, f"SELECT COALESCE(MAX({number}), 0) {from_table(readback)}")
    execute(connection, f"SET {_BEFORE} = {int(highest or 0)}")


def from_new_rows(readback: Readback, behind: str = _BEFORE) -> str:
    """FROM and WHERE clause that select the rows of this transaction, or those behind a number."""
    return f"{from_table(readback)} WHERE {quote_name(readback.numbered_by)} > {behind}"


def from_last_statement(connection: Connection, readback: Readback) -> str:
    """FROM and WHERE clause that select the rows that the last statement with new rows has inserted.

    LAST_INSERT_ID() is the number of its first row (manual, Information Functions; tried with LOAD DATA). That excludes
    the rows that others inserted since the start of the transaction, which are as slow to read as one's own.
    """
    ((first,),) = fetch_bytes(connection, "SELECT LAST_INSERT_ID()")
    return f"{from_new_rows(readback)} AND {quote_name(readback.numbered_by)} >= {int(first or 0)}"


class StoredRows:
    """The rows of this transaction, as expected_rows.stored_values() has them, in the order in which they were sent."""

    def __init__(self, connection: Connection, readback: Readback) -> None:
        self._connection, self._readback = connection, readback
        self._last = _BEFORE

    def following(self, count: int) -> list[Values]:
        """The next `count` rows; fewer at the end."""
        number = quote_name(self._readback.numbered_by)
        selected = selected_columns(self._readback)
        sql = f"SELECT {number}, {selected} {from_new_rows(self._readback, self._last)} ORDER BY {number} LIMIT {count}"
        rows = list(fetch_bytes(self._connection, sql))
        if rows:
            self._last = (rows[-1][0] or b"0").decode()
        return [row[1:] for row in rows]
