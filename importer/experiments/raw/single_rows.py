"""Ways of one statement after another for single rows: reads, INSERTs, UPDATEs, DELETEs."""

import time
from collections.abc import Iterator

from importer.engine.mysql.connection import fetch_all
from importer.experiments.raw.target import Run, StatementTarget, connected

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


def _spread(rows: int) -> Iterator[int]:
    """Yield at most MOST_POINTS different row numbers from the whole table, in an order that defeats caches."""
    count = min(rows, MOST_POINTS)
    step = max(1, rows // count)
    yield from (1 + (number * 7919 % count) * step for number in range(count))
