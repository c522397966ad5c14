"""Helpers that load a whole file into table t, chunk by chunk, and read the results."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.outcome import Outcome, Tally
from importer.engine.load.readback import numbered_rows
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.plan.options import Options
from importer.engine.plan.readback import Readback
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.table import read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import FILE_BEGIN, Position, ScanPolicy, scan
from importer.engine.source.dialect import RFC4180, Dialect

HEADERLESS = replace(RFC4180, header=False)


@dataclass(frozen=True)
class Unchecked(Options):
    """Options of a load without checks of values: the server alone finds what is wrong."""


REJECT = Unchecked(on_error="reject")


@dataclass(frozen=True)
class Loaded:
    """The outcomes of all chunks, and the folder of their reject files."""

    outcomes: list[Outcome]
    folder: Path

    @property
    def tally(self) -> Tally:
        return Tally(*(sum(getattr(each.tally, name) for each in self.outcomes) for name in Tally.__dataclass_fields__))

    @property
    def explained(self) -> list[list[str]]:
        """The rows of the CSV of reasons: line, byte offset, column, value, code, reason."""
        parts = [path.read_text("utf-8") for path in sorted(self.folder.glob("*.csv"))]
        return [row for part in parts for row in csv.reader(part.splitlines(keepends=True))]

    @property
    def lines(self) -> list[int]:
        return [int(row[0]) for row in self.explained]

    @property
    def raw(self) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("*.rejects")))

    @property
    def reasons(self) -> Counter:
        counts: Counter = Counter()
        for outcome in self.outcomes:
            counts.update({(each.code, each.column, each.reason): each.rows for each in outcome.reasons})
        return counts


def given_table(address: Address, columns: str) -> None:
    """Make the table t of these columns, in place of an earlier one."""
    run_sql(address, "DROP TABLE IF EXISTS t", f"CREATE TABLE t ({columns}) CHARACTER SET utf8mb4")


def run_sql(address: Address, *statements: str) -> None:
    with connect(address) as connection:
        for statement in statements:
            execute(connection, statement)


def rows_of(address: Address, sql: str = "SELECT * FROM t") -> list[tuple]:
    with connect(address) as connection:
        return fetch_all(connection, sql)


def with_files(server: Server, folder: Path) -> Server:
    """The server with a folder for files: MySQL allows only the configured one, MariaDB any."""
    return server if server.shared_folder else replace(server, files_dir=str(folder))


def works(
    address: Address,
    path: Path,
    mapping: Sequence[ColumnMapping | str] = (),
    options: Options = REJECT,
    *,
    dialect: Dialect = HEADERLESS,
    chunk_bytes: int = 2**20,
    fillings: Sequence[GeneratedColumn] = (),
    begin: Position = FILE_BEGIN,
    job: str = "job-1",
) -> list[ChunkLoad]:
    """The ChunkLoad of every chunk; rejects go into the folder `rejects` next to the file.

    The fields go into the columns of the mapping, or into all columns of the table in their order.
    """
    size = path.stat().st_size
    with connect(address) as connection:
        table = read_table(connection, address.database, "t")
        fields = [ColumnMapping(each) if isinstance(each, str) else each for each in mapping or table.column_names]
        server = with_files(read_server(connection, address), path.parent)
        plan = make_plan(PlanningContext(size, dialect, table, fields, options, server, fillings))
    if isinstance(options, Unchecked):
        plan = replace(plan, exactness=None)
    folder = path.parent / "rejects"
    folder.mkdir(exist_ok=True)
    policy = ScanPolicy(tolerate=options.on_error == "reject", exactness=plan.exactness)
    with open_source(path) as fd:
        chunks = list(scan(fd, dialect, ChunkSizes(chunk_bytes), begin, end=size, policy=policy))
    return [
        ChunkLoad(job, 1, path, address, dialect, plan, chunk, options=options, rejects=folder, first=not chunk.number)
        for chunk in chunks
    ]


def five_chunks(address: Address, folder: Path, options: Options) -> list[ChunkLoad]:
    """The ChunkLoads of five chunks of two rows each, for a table t with a primary key."""
    run_sql(address, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(9))")
    path = folder / "five.csv"
    path.write_text("".join(f"{n},word {n}\n" for n in range(10)))
    chunk_loads = works(address, path, ["n", "word"], options, chunk_bytes=18)
    assert len(chunk_loads) == 5
    return chunk_loads


def load_file(address: Address, path: Path, mapping: Sequence[ColumnMapping | str], *args, **kwargs) -> Loaded:
    """Load every chunk of the file in order; the arguments are those of works()."""
    outcomes = [load_chunk(work, LoadCallbacks()) for work in works(address, path, mapping, *args, **kwargs)]
    return Loaded(outcomes, path.parent / "rejects")


def load_bytes(address: Address, tmp_path: Path, data: bytes, mapping: Sequence[ColumnMapping | str], *args, **kwargs):
    path = tmp_path / "data.csv"
    path.write_bytes(data)
    return load_file(address, path, mapping, *args, **kwargs)


@contextmanager
def account_with(address: Address, *rights: str, of_server: str = "") -> Iterator[Address]:
    """The database for an account that has only these privileges on it, and this one of the server."""
    account = "'only_few'@'127.0.0.1'"
    grants = [f"GRANT {right} ON `{address.database}`.* TO {account}" for right in rights]
    grants += [f"GRANT {of_server} ON *.* TO {account}"] if of_server else []
    run_sql(address, f"CREATE USER {account} IDENTIFIED BY 'secret'", *grants)
    try:
        yield replace(address, user="only_few", password="secret")
    finally:
        run_sql(address, f"DROP USER {account}")


def inserted_at_each_begin(monkeypatch: pytest.MonkeyPatch, address: Address, statement: str) -> list[int]:
    """Another connection runs the statement whenever a load has begun to number its rows: one item each time."""
    begin, begun = numbered_rows.begin, []

    def begin_and_insert(connection: Connection, readback: Readback, *, locked: bool) -> None:
        begin(connection, readback, locked=locked)
        run_sql(address, statement)
        begun.append(1)

    monkeypatch.setattr(numbered_rows, "begin", begin_and_insert)
    return begun


@contextmanager
def counting_loads(address: Address) -> Iterator[list[int]]:
    """Count the LOAD DATA statements of one load without those of its planning: the list's only item, at the end."""
    start, counted = loads_so_far(address), [0]
    with connect(address) as connection:
        read_server(connection, address)
    planned = loads_so_far(address)
    yield counted
    counted[0] = loads_so_far(address) - planned - (planned - start)


def loads_so_far(address: Address) -> int:
    """The number of LOAD DATA statements that the server has run."""
    return int(rows_of(address, "SHOW GLOBAL STATUS LIKE 'Com_load'")[0][1])
