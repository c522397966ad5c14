"""Where a raw way works: the server, and the scratch tables that are made for the way."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from bench.workloads.table import TableForm, WorkloadTable
from importer.engine.mysql.connection import Address, Connection, connect, execute

# Most bytes of a MEMORY table: the server refuses further rows (manual, max_heap_table_size).
MOST_MEMORY = 512 * 2**20


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
    not begin. `session`: variables that each connection of the way sets first.
    """

    address: Address
    tables: tuple[TrialTable, ...]
    on_connection: Callable[[int], None]
    session: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def own(self) -> TrialTable:
        return self.tables[-1]


# A raw way: does its task and returns the number of rows or operations. Raises TargetProblem, Problem or MySQLdb.Error.
Run = Callable[[StatementTarget], int]


@contextmanager
def connected(target: StatementTarget) -> Iterator[Connection]:
    """A connection of the way, with its session variables."""
    with connect(target.address) as connection:
        begin_session(connection, target)
        yield connection


def begin_session(connection: Connection, target: StatementTarget) -> None:
    """Register the connection, and set its session variables."""
    target.on_connection(connection.thread_id())
    execute(connection, "SET SESSION time_zone = '+00:00'")
    for name, value in target.session.items():
        execute(connection, f"SET SESSION {name} = {value}")


def create(connection: Connection, own: TrialTable, target: StatementTarget, form: TableForm) -> None:
    """Create a scratch table; its foreign keys refer to the scratch tables of the parents."""
    if form.engine == "MEMORY":
        execute(connection, f"SET SESSION max_heap_table_size = {MOST_MEMORY}")
    execute(connection, in_scratch_tables(own.table.create_sql(name=own.name, form=form), target))


def in_scratch_tables(sql: str, target: StatementTarget) -> str:
    """The SQL with foreign keys to scratch tables, and without their names, which must be unique in a schema."""
    for each in target.tables:
        sql = sql.replace(f"REFERENCES {each.table.name} ", f"REFERENCES {each.name} ")
    return re.sub(r"CONSTRAINT \w+ (?=FOREIGN KEY)", "", sql)
