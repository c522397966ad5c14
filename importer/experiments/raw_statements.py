"""Ways without an import: plain statements, table copies, added keys, and reads and writes of single rows."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from importer.engine.feed.feed import BLOCK
from importer.engine.mysql.connection import FEED_NAME, Address, Connection, connect, connect_loader, execute, fetch_all
from importer.experiments import plain_inserts
from importer.experiments.workloads.table import WorkloadTable

# Limits for reads and writes of single rows: their number, and the seconds after which no new one begins.
MOST_POINTS, POINT_SECONDS = 1000, 5.0


@dataclass(frozen=True)
class TrialTable:
    """A scratch table: the workload's table that it is made like, its quoted name, and the file with its rows."""

    table: WorkloadTable
    name: str
    path: Path
    rows: int


@dataclass(frozen=True)
class StatementTarget:
    """Where a way works: the server and the tables, of which the last one is the measured one (`own`).

    `on_connection` gets the id of each connection, so that a cancel can kill it; it raises Cancelled if the way must
    not begin.
    """

    address: Address
    tables: tuple[TrialTable, ...]
    on_connection: Callable[[int], None]

    @property
    def own(self) -> TrialTable:
        return self.tables[-1]


def insert(rows_per_statement: int, commit_every: int) -> Callable[[StatementTarget], int]:
    """A way of plain INSERTs of `rows_per_statement` rows, with a commit after `commit_every` statements (0: one at the
    end).
    """

    def run(target: StatementTarget) -> int:
        own = target.own
        rows = plain_inserts.CsvRows(str(own.path), ",", own.rows, own.name, own.table.names, own.table.hexadecimal)
        with _connected(target) as connection:
            connection.autocommit(False)
            plain_inserts.insert(connection, rows, rows_per_statement, commit_every, lambda: None)
        return own.rows

    return run


def load(target: StatementTarget) -> int:
    """Load the whole file with one LOAD DATA LOCAL. Returns the number of rows."""
    load_file(target.address, target.own, target.on_connection)
    return target.own.rows


def load_file(address: Address, into: TrialTable, on_connection: Callable[[int], None]) -> None:
    """Load the file of a scratch table with LOAD DATA LOCAL, and commit. Raises TargetProblem."""
    with connect_loader(address) as connection, into.path.open("rb") as file:
        on_connection(connection.thread_id())
        connection.feed = iter(lambda: file.read(BLOCK), b"")
        execute(connection, into.table.load_sql(FEED_NAME, into=into.name))
        if connection.feed_error:
            raise connection.feed_error
        connection.commit()


def copy(target: StatementTarget) -> int:
    """Copy the last but one table, which is filled, into the last one by INSERT ... SELECT. Returns the rows copied."""
    with _connected(target) as connection:
        _copy(connection, target)
    return target.own.rows


def copy_then_add(definitions: Sequence[str]) -> Callable[[StatementTarget], int]:
    """A way that copies as copy() does and then adds keys one by one. `definitions`: as CREATE TABLE has them."""

    def run(target: StatementTarget) -> int:
        with _connected(target) as connection:
            _copy(connection, target)
            _add(connection, target, definitions)
        return target.own.rows

    return run


def add(definitions: Sequence[str]) -> Callable[[StatementTarget], int]:
    """A way that adds keys to the last table, which is filled. `definitions`: as CREATE TABLE has them."""

    def run(target: StatementTarget) -> int:
        with _connected(target) as connection:
            _add(connection, target, definitions)
        return target.own.rows

    return run


def single_row_statements(sql: str) -> Callable[[StatementTarget], int]:
    """A way that runs a statement for one row after another, each with its own commit; returns the number of
    statements.

    `sql` may contain {table}, {number} (the number of an existing row) and {above} (a number greater than any row's).
    """

    def run(target: StatementTarget) -> int:
        own, begun, done = target.own, time.monotonic(), 0
        with _connected(target) as connection:
            for number in _spread(own.rows):
                fetch_all(connection, sql.format(table=own.name, number=number, above=own.rows + 1 + done))
                done += 1
                if time.monotonic() - begun > POINT_SECONDS:
                    break
        return done

    return run


def create_sql(own: TrialTable, target: StatementTarget, *, keys: bool, engine: str) -> str:
    """The CREATE TABLE of a scratch table; its foreign keys refer to the scratch tables of the parents."""
    return _in_scratch_tables(own.table.create_sql(name=own.name, keys=keys, engine=engine), target)


def _spread(rows: int) -> Iterator[int]:
    """Yield at most MOST_POINTS different row numbers from the whole table, in an order that defeats caches."""
    count = min(rows, MOST_POINTS)
    step = max(1, rows // count)
    yield from (1 + (number * 7919 % count) * step for number in range(count))


def _copy(connection: Connection, target: StatementTarget) -> None:
    columns = ", ".join(target.own.table.names)
    source = target.tables[-2].name
    execute(connection, f"INSERT INTO {target.own.name} ({columns}) SELECT {columns} FROM {source}")


def _add(connection: Connection, target: StatementTarget, definitions: Sequence[str]) -> None:
    for each in definitions:
        execute(connection, f"ALTER TABLE {target.own.name} ADD {_in_scratch_tables(each, target)}")


def _in_scratch_tables(sql: str, target: StatementTarget) -> str:
    """The SQL with foreign keys to scratch tables, and without their names, which must be unique in a schema."""
    for each in target.tables:
        sql = sql.replace(f"REFERENCES {each.table.name} ", f"REFERENCES {each.name} ")
    return re.sub(r"CONSTRAINT \w+ (?=FOREIGN KEY)", "", sql)


@contextmanager
def _connected(target: StatementTarget) -> Iterator[Connection]:
    with connect(target.address) as connection:
        target.on_connection(connection.thread_id())
        execute(connection, "SET SESSION time_zone = '+00:00'")
        yield connection
