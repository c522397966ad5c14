"""Ways that read and write a table that is there: one row after another, or all of it."""

import time
from collections.abc import Iterator

from bench.experiments.raw.target import Run, StatementTarget, connected
from importer.engine.mysql.connection import fetch_all

# Limits: the number of statements, and the seconds after which no new one begins.
MOST_POINTS, POINT_SECONDS = 1000, 5.0


def single_row_statements(sql: str) -> Run:
    """A way that runs a statement for one row after another, each with its own commit; returns the number of
    statements.

    `sql` may contain {table}, {number} (the number of an existing row) and {above} (a number greater than any row's).
    """

    def run(target: StatementTarget) -> int:
        own, begun, done = target.own, time.monotonic(), 0
        with connected(target) as connection:
            for number in _spread(own.rows):
                fetch_all(connection, sql.format(table=own.name, number=number, above=own.rows + 1 + done))
                done += 1
                if time.monotonic() - begun > POINT_SECONDS:
                    break
        return done

    return run


def whole_table(sql: str) -> Run:
    """A way of one statement that reads the whole table, which `sql` has as {table}; returns the rows of the table."""

    def run(target: StatementTarget) -> int:
        with connected(target) as connection:
            fetch_all(connection, sql.format(table=target.own.name))
        return target.own.rows

    return run


def _spread(rows: int) -> Iterator[int]:
    """Yield at most MOST_POINTS different row numbers from the whole table, in an order that defeats caches."""
    count = min(rows, MOST_POINTS)
    step = max(1, rows // count)
    yield from (1 + (number * 7919 % count) * step for number in range(count))
