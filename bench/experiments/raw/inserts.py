"""Ways of plain INSERTs: rows per statement and per commit, statements around them, INSERT DELAYED."""

from collections.abc import Sequence

import MySQLdb

from bench import plain_inserts
from bench.experiments.raw.target import Run, StatementTarget, connected
from bench.plain_inserts import CsvRows
from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute, fetch_all

INSTEAD = "Use INSERTs of many rows or LOAD DATA, which are faster and report their errors."


def insert(rows_per_statement: int, commit_every: int, *, first: Sequence[str] = (), last: Sequence[str] = ()) -> Run:
    """A way of plain INSERTs of `rows_per_statement` rows, with a commit after `commit_every` statements (0: one at the
    end).

    `first` and `last`: statements before and after all INSERTs, in the same session; they may contain {table}.
    """

    def run(target: StatementTarget) -> int:
        with connected(target) as connection:
            connection.autocommit(False)
            _run_all(connection, target, first)
            plain_inserts.insert(connection, _rows(target), rows_per_statement, commit_every, lambda: None)
            _run_all(connection, target, last)
        return target.own.rows

    return run


def insert_delayed(target: StatementTarget) -> int:
    """Single INSERT DELAYEDs. Raises TargetProblem with the server's answer where it has them no more.

    MySQL runs them as INSERT, with a warning; MariaDB refuses them for InnoDB (manuals, INSERT DELAYED).
    """
    own, rows = target.own, _rows(target, "INSERT DELAYED")
    with connected(target) as connection:
        connection.autocommit(False)
        if answer := _answer(connection, rows):
            raise TargetProblem(f"The server answers INSERT DELAYED with {answer}.", own.name, INSTEAD)
        connection.autocommit(True)
        plain_inserts.insert(connection, rows, 1, 1, lambda: None)
    return own.rows


def _answer(connection: Connection, rows: CsvRows) -> str:
    """The server's error or warning for the first row, which is rolled back; "" if there is neither."""
    first = next(plain_inserts.statements(rows, 1))
    try:
        execute(connection, *first)
    except MySQLdb.Error as error:
        return f"error {error.args[0]}, {str(error.args[1]).rstrip('.')}"
    warnings = fetch_all(connection, "SHOW WARNINGS")
    connection.rollback()
    return f"warning {warnings[0][1]}, {str(warnings[0][2]).rstrip('.')}" if warnings else ""


def _run_all(connection: Connection, target: StatementTarget, statements: Sequence[str]) -> None:
    for each in statements:
        execute(connection, each.format(table=target.own.name))


def _rows(target: StatementTarget, verb: str = "INSERT") -> CsvRows:
    own = target.own
    return CsvRows(str(own.path), ",", own.rows, own.name, own.table.names, own.table.hexadecimal, verb)
