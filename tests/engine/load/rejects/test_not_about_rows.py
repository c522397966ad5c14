"""Errors of the server in the middle of a load: no row is blamed for them, and nothing is kept."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.management.processes.private_databases import PrivateMariaDB
from tests.engine.loads import REJECT, loads_so_far, rows_of, run_sql, works
from tests.targets import UNSYNCED, TestServer

pytestmark = pytest.mark.both_servers

# Of a file, a storage engine, memory, the binary log, a lock, the account, a trigger's own account.
NUMBERS = [3, 28, 126, 1026, 1034, 1436, 1534, 1598, 1412, 1226, 1449, 1878, 3015]


@pytest.mark.parametrize("number", NUMBERS)
def test_they_end_the_load_although_other_rows_go_in(database: Address, tmp_path: Path, source, number: int):
    run_sql(
        database,
        "CREATE TABLE t (n INT PRIMARY KEY)",
        "CREATE TRIGGER fails BEFORE INSERT ON t FOR EACH ROW IF NEW.n = 7 THEN"
        f" SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = {number}, MESSAGE_TEXT = 'no room for it'; END IF",
    )
    [work] = works(database, source("".join(f"{n}\n" for n in range(20))), ["n"], REJECT)
    before = loads_so_far(database)
    with pytest.raises(TargetProblem) as caught:
        load_chunk(work, LoadCallbacks())
    assert str(caught.value.__cause__.args[0]) == str(number), caught.value
    assert loads_so_far(database) == before + 1
    assert rows_of(database) == []
    assert not list((tmp_path / "rejects").iterdir())


@pytest.fixture(scope="module")
def logging_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestServer]:
    """A MariaDB with a binary log, which writes nearly all of a transaction for it to a file in tmpdir."""
    folder = tmp_path_factory.mktemp("logging")
    options = (*UNSYNCED, "--log-bin", "--server-id=1", "--binlog-format=ROW", "--binlog-cache-size=4096")
    server = PrivateMariaDB(folder, options=(*options, "--innodb-log-file-size=4M"))
    server.start()
    address = Address("127.0.0.1", server.port, "root", "", "mysql")
    yield TestServer("mariadb", address, start=server.start, stop=server.stop, kill=server.kill)
    server.stop()


@pytest.mark.parametrize("on_error", ["stop", "reject"])
@pytest.mark.parametrize("method", ["load_data_local", "insert"])
def test_a_full_tmpdir_of_a_server_with_a_binary_log(logging_server: TestServer, source, on_error: str, method: str):
    """The table is compressed, so that the file in tmpdir is the one that becomes too large."""
    with ExitStack() as opened:
        database = opened.enter_context(logging_server.fresh_database())
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, word TEXT) ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=1")
        path = source("".join(f"{n},{'x' * 8000}\n" for n in range(4000)))
        options = Options(on_error=on_error, method=method)
        [work] = works(database, path, ["n", "word"], options, chunk_bytes=2**26)
        opened.enter_context(logging_server.without_room(database.database))
        with pytest.raises(TargetProblem, match=r"Error writing file '.*/tmp/.*' .*\(error 3\)") as caught:
            load_chunk(work, LoadCallbacks())
        assert "Make room in the server's tmpdir" in caught.value.advice
        assert rows_of(database, "SELECT COUNT(*) FROM t") == [(0,)]
