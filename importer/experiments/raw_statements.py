"""Ways that are no import of ours: single statements, table copies, keys put on, reads and writes of single rows."""

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

# Reads and writes of single rows: at most so many, and no new one after so many seconds.
MOST_POINTS, POINT_SECONDS = 1000, 5.0


@dataclass(frozen=True)
class TrialTable:
    """A scratch table: the workload's that it is made as, its quoted name, and the file with its `rows` rows."""

    table: WorkloadTable
    name: str
    path: Path
    rows: int


@dataclass(frozen=True)
class StatementTarget:
    """Where a way works: the server, the tables (its own is the last one), and who is told of the connection's id,
    to end what runs on it. `on_connection` raises Cancelled if it must not even begin.
    """

    address: Address
    tables: tuple[TrialTable, ...]
    on_connection: Callable[[int], None]

    @property
    def own(self) -> TrialTable:
        return self.tables[-1]


def insert(rows_per_statement: int, commit_every: int) -> Callable[[StatementTarget], int]:
    """INSERTs of so many rows by a plain script, committed after so many of them (0: once)."""

    def run(place: StatementTarget) -> int:
        own = place.own
        rows = plain_inserts.CsvRows(str(own.path), ",", own.rows, own.name, own.table.names, own.table.hexadecimal)
        with _connected(place) as connection:
            connection.autocommit(False)
            plain_inserts.insert(connection, rows, rows_per_statement, commit_every, lambda: None)
        return own.rows

    return run


def load(place: StatementTarget) -> int:
    """LOAD DATA LOCAL of the whole file in one statement."""
    load_file(place.address, place.own, place.on_connection)
    return place.own.rows


def load_file(address: Address, into: TrialTable, on_connection: Callable[[int], None]) -> None:
    """LOAD DATA LOCAL of the file of a scratch table, and its commit. Raises TargetProblem."""
    with connect_loader(address) as connection, into.path.open("rb") as file:
        on_connection(connection.thread_id())
        connection.feed = iter(lambda: file.read(BLOCK), b"")
        execute(connection, into.table.load_sql(FEED_NAME, into=into.name))
        if connection.feed_error:
            raise connection.feed_error
        connection.commit()


def copy(place: StatementTarget) -> int:
    """INSERT ... SELECT from the filled table before the last one, which has the same columns."""
    with _connected(place) as connection:
        _copy(connection, place)
    return place.own.rows


def copy_then_add(definitions: Sequence[str]) -> Callable[[StatementTarget], int]:
    """The same, and then these keys, one after the other, each as CREATE TABLE has it."""

    def run(place: StatementTarget) -> int:
        with _connected(place) as connection:
            _copy(connection, place)
            _add(connection, place, definitions)
        return place.own.rows

    return run


def add(definitions: Sequence[str]) -> Callable[[StatementTarget], int]:
    """These keys, on the last table, which has its rows."""

    def run(place: StatementTarget) -> int:
        with _connected(place) as connection:
            _add(connection, place, definitions)
        return place.own.rows

    return run


def single_row_statements(sql: str) -> Callable[[StatementTarget], int]:
    """A statement for one row after another, committed each; how many were done.

    It names the {table}, the {number} of a row, or one that no row has {above} them.
    """

    def run(place: StatementTarget) -> int:
        own, begun, done = place.own, time.monotonic(), 0
        with _connected(place) as connection:
            for number in _spread(own.rows):
                fetch_all(connection, sql.format(table=own.name, number=number, above=own.rows + 1 + done))
                done += 1
                if time.monotonic() - begun > POINT_SECONDS:
                    break
        return done

    return run


def create_sql(placed: TrialTable, place: StatementTarget, *, keys: bool, engine: str) -> str:
    """CREATE TABLE of a scratch table; its foreign keys lead to the scratch tables of their parents."""
    return _at_home(placed.table.create_sql(name=placed.name, keys=keys, engine=engine), place)


def _spread(rows: int) -> Iterator[int]:
    """Numbers of rows all over the table, in no order that a cache would like; none twice."""
    count = min(rows, MOST_POINTS)
    step = max(1, rows // count)
    yield from (1 + (number * 7919 % count) * step for number in range(count))


def _copy(connection: Connection, place: StatementTarget) -> None:
    columns = ", ".join(place.own.table.names)
    source = place.tables[-2].name
    execute(connection, f"INSERT INTO {place.own.name} ({columns}) SELECT {columns} FROM {source}")


def _add(connection: Connection, place: StatementTarget, definitions: Sequence[str]) -> None:
    for each in definitions:
        execute(connection, f"ALTER TABLE {place.own.name} ADD {_at_home(each, place)}")


def _at_home(sql: str, place: StatementTarget) -> str:
    """With foreign keys that have no name, of which a schema takes one only, and that lead to scratch tables."""
    for each in place.tables:
        sql = sql.replace(f"REFERENCES {each.table.name} ", f"REFERENCES {each.name} ")
    return re.sub(r"CONSTRAINT \w+ (?=FOREIGN KEY)", "", sql)


@contextmanager
def _connected(place: StatementTarget) -> Iterator[Connection]:
    with connect(place.address) as connection:
        place.on_connection(connection.thread_id())
        execute(connection, "SET SESSION time_zone = '+00:00'")
        yield connection
