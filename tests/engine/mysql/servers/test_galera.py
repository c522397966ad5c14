"""A node of a Galera cluster: a real one, of a MariaDB with the library of galera-4."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger, verify
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.options import Options
from importer.engine.preflight.check import check
from importer.management.processes.private_servers import free_port
from tests.engine.loads import five_chunks, rows_of, run_sql, works
from tests.targets import PreparedMariaDB

LIBRARIES = [Path("/usr/lib/galera/libgalera_smm.so"), Path("/usr/lib64/galera-4/libgalera_smm.so")]
LIBRARY = next((each for each in LIBRARIES if each.exists()), None)
pytestmark = pytest.mark.skipif(not LIBRARY, reason="galera-4 is not installed")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    own = f"tcp://127.0.0.1:{free_port()}"
    options = (
        "--wsrep-on=ON",
        f"--wsrep-provider={LIBRARY}",
        "--wsrep-cluster-address=gcomm://",
        "--wsrep-node-address=127.0.0.1",
        f"--wsrep-provider-options=gmcast.listen_addr={own}",
        "--wsrep-sst-method=rsync",
        "--binlog-format=ROW",
        "--innodb-autoinc-lock-mode=2",
    )
    server = PreparedMariaDB(tmp_path_factory.mktemp("galera"), options=options)
    server.start()
    yield Address("127.0.0.1", server.port, "root", "", "mysql")
    server.stop()


@pytest.fixture
def shop(node: Address) -> Iterator[Address]:
    run_sql(node, "CREATE DATABASE shop")
    yield replace(node, database="shop")
    run_sql(node, "DROP DATABASE shop")


@contextmanager
def setting(node: Address, name: str, value: str, before: str) -> Iterator[None]:
    with connect(node) as connection:
        execute(connection, f"SET GLOBAL {name} = {value}")
        try:
            yield
        finally:
            execute(connection, f"SET GLOBAL {name} = {before}")


def test_a_node_is_told_and_passes_the_check(shop: Address):
    with connect(shop) as connection:
        server = read_server(connection, shop)
    assert server.also == ("Galera Cluster",)
    findings = {each.name: each for each in check(shop)}
    assert [name for name, each in findings.items() if each.status == "fail"] == []
    assert findings["cluster"].status == "warn"
    assert "1213" in findings["cluster"].message


def test_every_row_arrives_once(shop: Address, tmp_path: Path):
    chunk_loads = five_chunks(shop, tmp_path, Options())
    for each in [*chunk_loads, chunk_loads[2]]:
        load_chunk(replace(each, first=False) if each is chunk_loads[2] else each, LoadCallbacks())
    assert rows_of(shop, "SELECT n FROM t ORDER BY n") == [(n,) for n in range(10)]
    assert rows_of(shop, f"SELECT COUNT(*) FROM {ledger.TABLE}") == [(5,)]
    with connect(shop) as connection:
        assert verify.missing_chunks(connection, "here", "job-1", dict.fromkeys(range(5), 2)) == set()


def test_the_verification_waits_for_the_commits_of_other_nodes(shop: Address):
    with connect(shop) as connection:
        verify.see_all_commits(connection)
        assert fetch_all(connection, "SELECT @@SESSION.wsrep_sync_wait") == [(1,)]


def test_a_node_that_takes_no_statements_rejects_no_row(shop: Address, node: Address, tmp_path: Path):
    """Error 1047 comes for every statement. It is no refusal of LOAD DATA LOCAL, and about no row."""
    first, second, *_ = five_chunks(shop, tmp_path, Options(on_error="reject", max_rejects=100))
    load_chunk(first, LoadCallbacks())

    def leave(_sent: int) -> None:
        run_sql(node, "SET GLOBAL wsrep_reject_queries = ALL")

    try:
        with pytest.raises(TargetProblem, match="has left its cluster") as refused:
            load_chunk(second, LoadCallbacks(on_sent=leave))
    finally:
        run_sql(node, "SET GLOBAL wsrep_reject_queries = NONE")
    assert refused.value.retryable
    assert rows_of(shop, "SELECT n FROM t ORDER BY n") == [(0,), (1,)]
    load_chunk(second, LoadCallbacks())
    assert rows_of(shop, "SELECT n FROM t ORDER BY n") == [(0,), (1,), (2,), (3,)]


def test_a_node_that_splits_a_load_is_refused(shop: Address, node: Address, source):
    run_sql(shop, "CREATE TABLE t (n INT)")
    path = source("1\n")
    with (
        setting(node, "wsrep_load_data_splitting", "ON", "OFF"),
        pytest.raises(TargetProblem, match="every 10,000 rows"),
    ):
        works(shop, path, ["n"])
