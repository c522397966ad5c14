"""A real stack of processes, and a job to disturb."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest
from django.db import connections

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.jobs.lifecycle import planned_rows
from importer.models import Chunk, ImportJob
from tests.engine.loads import rows_of
from tests.faults import trying as labs
from tests.faults.keyless import Keyless, planned, write_rows
from tests.importer.steps import import_of
from tests.stack import Stack, wait_until
from tests.targets import target_with

ROWS = 100_000
COLUMNS = "n INT NOT NULL, word VARCHAR(40) NOT NULL, amount DECIMAL(12,2), at DATETIME"
TABLES = {"keyed": f"{COLUMNS}, PRIMARY KEY (n)", "unkeyed": COLUMNS, "numbers": "n INT"}
# Small chunks, so that there is always one in flight to disturb.
CHUNK_BYTES = 128 * 1024


@pytest.fixture(scope="session")
def many_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "many rows.csv"
    with path.open("w") as out:
        out.write("n,word,amount,at\n")
        for n in range(ROWS):
            out.write(
                f'{n},"wörd ""{n % 977}"", and more",{n % 5000}.25,2024-{n % 12 + 1:02}-{n % 28 + 1:02} 10:00:00\n'
            )
    return path


class Disturbed:
    """A running import of many rows, and what must hold of it at its end."""

    def __init__(self, job: ImportJob, address: Address) -> None:
        self.job = job
        self.address = address

    def loaded(self) -> int:
        return Chunk.objects.filter(job=self.job, status=Chunk.Status.LOADED).count()

    def over(self) -> bool:
        return ImportJob.objects.get(pk=self.job.pk).ended

    def in_the_middle(self) -> None:
        """Return when some chunks are loaded, one is loading, and some are still to come."""
        wait_until(lambda: self.loaded() >= 3 and self._status(Chunk.Status.LOADING), what="a job in its middle")
        assert self.loaded() < self.job.chunks.count() or not ImportJob.objects.get(pk=self.job.pk).scan_finished

    def ends_well(self) -> None:
        """Exactly the rows of an undisturbed load, balanced, and no connection left behind."""
        wait_until(lambda: ImportJob.objects.get(pk=self.job.pk).ended, seconds=120, what="the job's end")
        job = ImportJob.objects.get(pk=self.job.pk)
        assert (job.status, job.problem) == (ImportJob.Status.SUCCEEDED, {})
        assert job.balanced
        assert self.contents() == expected_contents()
        with connect(self.address) as connection:
            assert ledger.rows_by_chunk(connection, str(job.key)) == planned_rows(job)
        self.no_connection_is_left()

    def contents(self) -> tuple:
        sql = "SELECT COUNT(*), COUNT(DISTINCT n), SUM(n), SUM(CRC32(word)), SUM(amount), MIN(at), MAX(at) FROM {}"
        row = rows_of(self.address, sql.format(self.job.table_name))[0]
        return tuple(int(value) for value in row[:5]) + tuple(str(value) for value in row[5:])

    def no_connection_is_left(self) -> None:
        def idle() -> bool:
            with connect(self.address) as connection:
                sql = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = %s AND ID <> CONNECTION_ID()"
                return fetch_all(connection, sql, (self.address.database,))[0][0] == 0

        wait_until(idle, what="no connection left on the target")

    def _status(self, status: str) -> bool:
        return Chunk.objects.filter(job=self.job, status=status).exists()


D = TypeVar("D", bound=Disturbed)


@cache
def expected_contents() -> tuple:
    words = [crc32(f'wörd "{n}", and more'.encode()) for n in range(977)]
    return (
        ROWS,
        ROWS,
        sum(range(ROWS)),
        sum(words[n % 977] for n in range(ROWS)),
        int(sum((n % 5000) + 0.25 for n in range(ROWS))),
        "2024-01-01 10:00:00",
        "2024-12-28 10:00:00",
    )


def created(address: Address, path: Path, table: str, **options: object) -> ImportJob:
    """An import of the file into a new one of TABLES, not started."""
    target = target_with(
        address, f"CREATE TABLE {table} ({TABLES[table]}) CHARACTER SET utf8mb4", name=address.database
    )
    return import_of(path, target, table, options=Options(**{"chunk_bytes": CHUNK_BYTES, "parallelism": 2, **options}))


@contextmanager
def under_way(started: D) -> Iterator[D]:
    """The import runs, and is over before the next test."""
    commands.start(started.job.pk)
    yield started
    wait_until(started.over, what="the job's end before the next test")
    connections.close_all()


@pytest.fixture
def disturbed(stack: Stack, database: Address, many_rows: Path, transactional_db) -> Iterator[Disturbed]:
    """A job under way on each server, into a table without a key: a row that came twice would stay."""
    with under_way(Disturbed(created(database, many_rows, "unkeyed"), database)) as running:
        yield running


@pytest.fixture(scope="session")
def shuffled_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "shuffled.csv"
    write_rows(path)
    return path


@pytest.fixture
def keyless(stack: Stack, database: Address, shuffled_rows: Path, transactional_db) -> Iterator[Keyless]:
    """An import on each server, not started, into a table whose keys will be off during the load."""
    made = planned(database, shuffled_rows)
    yield made
    wait_until(lambda: made.now().ended, what="the job's end before the next test")
    connections.close_all()


@pytest.fixture
def trying(stack: Stack, database: Address, shuffled_rows: Path, transactional_db) -> Iterator[labs.Trying]:
    """A lab on each server, not started."""
    made = labs.planned(database, shuffled_rows)
    yield made
    wait_until(lambda: made.now().ended, seconds=180, what="the lab's end before the next test")
    connections.close_all()
