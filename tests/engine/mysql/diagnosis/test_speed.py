"""Servers, lines and tables that make a load slow, made as such: the cause that is named first, and none on others."""

import re
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bench.relay import Link, linked
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.mysql.diagnosis.cause import Evidence, Explanation
from importer.engine.mysql.diagnosis.counters import Counters
from importer.engine.mysql.diagnosis.diagnose import diagnose
from importer.engine.mysql.diagnosis.facts import Facts, Recent
from importer.engine.mysql.diagnosis.snapshot import Snapshot, read_snapshot
from tests.engine.loads import load_file, run_sql
from tests.engine.mysql.diagnosis.scene import Scene, setting
from tests.stack import wait_until
from tests.targets import UNSYNCED, PreparedMariaDB

pytestmark = pytest.mark.both_servers

SMALL_LOG = {"mariadb": ("innodb_log_file_size", 16 * 2**20), "mysql": ("innodb_redo_log_capacity", 8 * 2**20)}


def explained(snapshot: Snapshot, before: Counters | None = None, **facts) -> list[Explanation]:
    return diagnose(Evidence(Facts(status="loading", schema="d", table="t", **facts), snapshot, before))


@contextmanager
def filled(address: Address) -> Iterator[None]:
    """In this context a connection adds rows with random keys to a table."""
    run_sql(
        address,
        "CREATE TABLE digits (n INT)",
        f"INSERT INTO digits VALUES {', '.join(f'({n})' for n in range(64))}",
        "CREATE TABLE random (id CHAR(36) PRIMARY KEY, filling CHAR(150), KEY (filling))",
    )
    ends = threading.Event()

    def fill() -> None:
        with connect(address) as connection:
            while not ends.is_set():
                execute(connection, "INSERT INTO random SELECT UUID(), SHA2(RAND(), 512) FROM digits a, digits b")

    filling = threading.Thread(target=fill)
    filling.start()
    try:
        yield
    finally:
        ends.set()
        filling.join()


def first_seen(look: Callable[[], Snapshot], cause: str) -> Explanation:
    """The first explanation, as soon as it is of this cause: counters are compared with those of an earlier look."""
    looks, found = [look()], []

    def named() -> bool:
        looks.append(look())
        found[:] = explained(looks[-1], looks[-3 if len(looks) > 2 else -2].counters)
        return bool(found) and found[0].cause == cause

    wait_until(named, 60, cause)
    return found[0]


def test_the_redo_log_is_full(on_table: Scene, server):
    with setting(on_table, *SMALL_LOG[server.flavour]), filled(on_table.address):
        first = first_seen(on_table.snapshot, "redo_log")
    if server.flavour == "mysql":
        assert first.sql == f"SET GLOBAL innodb_redo_log_capacity = {2 * 2**30};"
    else:
        assert (first.sql, "my.cnf under [mysqld]: innodb_log_file_size = 2G;" in first.advice) == ("", True)
    assert not first.waits


@pytest.fixture(scope="module")
def small_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """MariaDB with a small buffer pool; MySQL changes its own only in steps of 128 MiB."""
    server = PreparedMariaDB(tmp_path_factory.mktemp("pool"), options=(*UNSYNCED, "--innodb-buffer-pool-size=8M"))
    server.start()
    yield Address("127.0.0.1", server.port, "root", "", "test_pool")
    server.stop()


def test_the_buffer_pool_is_too_small(small_pool: Address):
    run_sql(replace(small_pool, database="mysql"), "CREATE DATABASE test_pool")
    with connect(small_pool) as watch, filled(small_pool):
        first = first_seen(lambda: read_snapshot(watch), "buffer_pool")
    assert "the buffer pool has 8 MiB" in first.evidence
    half = int(re.fullmatch(r"SET GLOBAL innodb_buffer_pool_size = (\d+);", first.sql)[1])
    with connect(small_pool) as watch:
        seen = read_snapshot(watch)
    assert seen.local
    # What is advised is no larger than what a server on this machine has room for, and larger than what it has.
    read = replace(seen.counters, pages_read=10**6, rows_written=10, at=seen.counters.at + 1)
    before = replace(read, pages_read=0, rows_written=0, at=seen.counters.at)
    large = replace(seen, counters=read, variables={**seen.variables, "innodb_buffer_pool_size": str(half)})
    assert [(each.cause, each.sql) for each in explained(large, before)] == [("buffer_pool", "")]


def test_a_larger_redo_log_than_the_present_one_is_advised(on_table: Scene, server):
    seen, capacity = on_table.snapshot(), 8 * 2**30
    name = SMALL_LOG[server.flavour][0]
    full = replace(
        seen.counters, redo_written=10**9, redo_age=capacity, redo_capacity=capacity, at=seen.counters.at + 1
    )
    before = replace(full, redo_written=0, at=seen.counters.at)
    large = replace(seen, counters=full, variables={**seen.variables, name: str(capacity)})
    (first,) = explained(large, before)
    assert (first.cause, first.sql or first.advice.rpartition(": ")[2]) == (
        "redo_log",
        f"SET GLOBAL {name} = {2 * capacity};" if server.flavour == "mysql" else f"{name} = 16G; then restart it.",
    )


@pytest.fixture(scope="module")
def slow_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """MariaDB with a binary log, on a disk that confirms a write after 300 ms: connecting takes less."""
    folder = tmp_path_factory.mktemp("disk")
    library = folder / "slow_sync.so"
    source = Path(__file__).with_name("slow_sync.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    options = ("--log-bin", "--server-id=1", "--sync-binlog=1", "--binlog-format=ROW")
    server = PreparedMariaDB(folder / "server", options=options)
    server.prepare()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LD_PRELOAD", str(library))
        server.start()
    address = Address("127.0.0.1", server.port, "root", "", "test_disk")
    run_sql(replace(address, database="mysql"), "CREATE DATABASE test_disk")
    yield address
    server.stop()


def recent(address: Address, folder: Path, rows: int, chunk_bytes: int) -> Recent:
    """The figures of a load of this many rows."""
    run_sql(address, "CREATE TABLE IF NOT EXISTS t (n INT PRIMARY KEY, word VARCHAR(100))")
    path = folder / "rows.csv"
    path.write_text("".join(f"{n},{'x' * 90}\n" for n in range(rows)))
    with connect(address) as connection:
        ledger.create(connection)
    outcomes = load_file(address, path, ["n", "word"], chunk_bytes=chunk_bytes).outcomes
    phases: Counter = Counter()
    for each in outcomes:
        phases.update(each.timings)
    return Recent(len(outcomes), path.stat().st_size, rows, dict(phases))


def test_commits_wait_for_the_disk(slow_disk: Address, tmp_path: Path):
    figures = recent(slow_disk, tmp_path, 400, 10_000)
    with connect(slow_disk) as watch:
        (first,) = explained(read_snapshot(watch), recent=figures)
    assert first.cause == "commit"
    assert "innodb_flush_log_at_trx_commit = 1, sync_binlog = 1" in first.evidence
    assert "The binary log gets each row once more." in first.evidence


def test_a_commit_waits_for_a_replica(slow_disk: Address):
    run_sql(slow_disk, "CREATE TABLE waiting (n INT)", "SET GLOBAL rpl_semi_sync_master_timeout = 60000")
    run_sql(slow_disk, "SET GLOBAL rpl_semi_sync_master_enabled = 1")
    numbers: list[int] = []

    def insert() -> None:
        with connect(slow_disk) as own:
            numbers.append(own.thread_id())
            execute(own, "INSERT INTO waiting VALUES (1)")

    inserting = threading.Thread(target=insert)
    inserting.start()
    try:
        with connect(slow_disk) as watch:
            look = lambda: explained(read_snapshot(watch), connections=tuple(numbers))  # noqa: E731
            wait_until(look, 20, "a commit that waits")
            (first,) = look()
    finally:
        run_sql(slow_disk, "SET GLOBAL rpl_semi_sync_master_enabled = 0")
        inserting.join()
    assert first.cause == "semi_sync"


def test_the_line_carries_no_more(on_table: Scene, tmp_path: Path):
    execute(on_table.root, "DROP TABLE t")
    with connect(on_table.address) as connection:
        ledger.create(connection)
    with linked(on_table.address, Link(round_trip=0.002, rate=1e6)) as far:
        figures = recent(far, tmp_path, 15_000, 300_000)
    # What a probe would measure on this line now; another one, before or after, depends on what else the machine does.
    measured = figures.bytes / figures.phases["load"]
    (first,) = explained(on_table.snapshot(), recent=figures, network=measured)
    assert first.cause == "network"


def test_the_worker_computes_all_the_time(on_table: Scene):
    assert [each.cause for each in explained(on_table.snapshot(), busy=0.93)] == ["worker"]
    assert explained(on_table.snapshot(), busy=0.4) == []


def test_an_undisturbed_load_has_no_cause(on_table: Scene, tmp_path: Path):
    execute(on_table.root, "DROP TABLE t")
    before = on_table.snapshot().counters
    figures = recent(on_table.address, tmp_path, 120_000, 3_000_000)
    assert explained(on_table.snapshot(), before, recent=figures) == []
    # The same load into a table with a trigger is named as such, as nothing else is.
    (first,) = explained(on_table.snapshot(), before, recent=figures, work=("1 trigger",))
    assert first.cause == "table_work"
