"""The target's server has no room any more: nothing stays in part, and room is all that a retry needs."""

from collections.abc import Iterator
from pathlib import Path

import MySQLdb
import pytest

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of, run
from tests.stack import wait_until
from tests.targets import UNSYNCED, PreparedMariaDB, saved_target

pytestmark = [
    pytest.mark.usefixtures("no_workers"),
    pytest.mark.django_db(transaction=True),
    pytest.mark.needs_database_server,
]

ROWS = 8_000
# All tables are in one file, which stops growing.
SMALL = ("--innodb-file-per-table=0", "--innodb-data-file-path=ibdata1:12M:autoextend:max:36M")


@pytest.fixture(scope="module")
def small_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    server = PreparedMariaDB(tmp_path_factory.mktemp("small"), options=(*UNSYNCED, *SMALL))
    server.start()
    address = Address("127.0.0.1", server.port, "root", "", "shop")
    run_sql(Address("127.0.0.1", server.port, "root", "", "mysql"), "CREATE DATABASE shop")
    yield address
    server.stop()


def fill(connection: Connection) -> None:
    """Insert rows until the server refuses them."""
    while True:
        execute(connection, "INSERT INTO ballast (word) SELECT REPEAT('x', 250) FROM seq_1_to_1000")


@pytest.fixture
def full(small_server: Address) -> Address:
    """The server, filled by a table that can be dropped."""
    with connect(small_server) as connection:
        ledger.create(connection)
        execute(connection, "CREATE OR REPLACE TABLE t (n INT PRIMARY KEY, word VARCHAR(500))")
        execute(connection, "CREATE OR REPLACE TABLE ballast (n INT AUTO_INCREMENT PRIMARY KEY, word CHAR(250))")
        # Twice: what an earlier test dropped is free only after it is purged.
        for _ in range(2):
            with pytest.raises(MySQLdb.OperationalError, match="1114"):
                fill(connection)
            wait_until(lambda: nothing_to_purge(connection), what="the end of the purge")
    return small_server


def nothing_to_purge(connection: Connection) -> bool:
    return int(fetch_all(connection, "SHOW GLOBAL STATUS LIKE 'Innodb_history_list_length'")[0][1]) == 0


def make_room(address: Address) -> None:
    """Drop the table that fills the server; the space is free a little later."""
    with connect(address) as connection:
        execute(connection, "DROP TABLE ballast")
        free = "SELECT DATA_FREE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't'"
        wait_until(lambda: fetch_all(connection, free)[0][0] > 12_000_000, what="room in the server's file")


@pytest.mark.parametrize("mode", ["append", "atomic", "replace"])
def test_nothing_stays_in_part_and_a_retry_with_room_loads_the_rest(full: Address, mode: str, tmp_path: Path):
    path = tmp_path / "words.csv"
    path.write_text("n,word\n" + "".join(f"{n},{'word ' * 90}{n}\n" for n in range(ROWS)))
    options = Options(mode=mode, chunk_bytes=1_000_000, parallelism=2, indexes="keep")
    job = run(import_of(path, saved_target(full), options=options))
    assert job.status == ImportJob.Status.FAILED
    assert "is full" in job.problem["what"]
    assert "Make room" in job.problem["advice"]
    assert rows_of(full, "SELECT COUNT(*) FROM t") == [(job.loaded_rows,)]
    make_room(full)
    commands.retry(job.pk)
    job = run(job)
    assert (job.status, job.problem) == (ImportJob.Status.SUCCEEDED, {})
    assert rows_of(full, "SELECT COUNT(*) FROM t") == [(ROWS,)]
