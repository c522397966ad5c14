"""Two hosts of workers and a web host that share their databases, Redis and the store: every row arrives once.

By default few rows, on one server, and a host that is killed; `python -m tests.faults.hosts` tries the rest.
"""

import os
import subprocess
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from tests.faults.hosts.installation import LEASE, Installation, installation
from tests.stack import wait_until
from tests.targets import TestServer

MEGABYTES = int(os.environ.get("MEGABYTES", "0"))
SERVERS = ["mariadb", "mysql"] if MEGABYTES else ["mariadb"]
TABLE = "CREATE TABLE t (n INT NOT NULL, word VARCHAR(60) NOT NULL)"  # without a key: a row that came twice would stay
BAD = 1000  # each such row is too long for its column


def can_isolate() -> bool:
    """Whether this account may give processes a host name and mounts of their own."""
    return subprocess.run(["unshare", "--uts", "--mount", "true"], capture_output=True).returncode == 0


def rows() -> list[str]:
    count = MEGABYTES * 20_000 or 100_000
    return [
        f"{n},{'x' * 99 if n % BAD == 0 else f'a word of row {n} in the file of many'}" for n in range(1, count + 1)
    ]


@pytest.mark.skipif(not can_isolate(), reason="only an account that may unshare can run several hosts here")
@pytest.mark.parametrize("server", SERVERS, indirect=True)
def test_two_hosts_load_what_a_third_received(server: TestServer, tmp_path: Path):
    lines = rows()
    with server.fresh_database() as own, server.fresh_database() as target:
        with connect(target) as connection:
            execute(connection, TABLE)
        with installation(tmp_path, own, target, **LEASE) as running:
            running.upload("\n".join(["n,word", *lines, ""]).encode(), "t.csv", killed=MEGABYTES > 0)
            running.import_it(chunk_bytes=MEGABYTES * 2**14 or 2**15)
            running.both_load()
            running.hosts[0].kill()
            if MEGABYTES:
                lose_the_store(running)
            assert running.ended() == ("succeeded", 1, len(lines) - len(lines) // BAD, len(lines) // BAD)
            assert running.rejects().splitlines() == ["n,word", *lines[BAD - 1 :: BAD]]
            assert [name for name in running.hosts[1].files() if "keys" not in name] == []
        assert_exact(target, len(lines))


def lose_the_store(running: Installation) -> None:
    """Stop the store until a chunk has asked for it in vain, and start it again."""
    running.store.stop()
    asked = "SELECT 1 FROM importer_chunk WHERE JSON_VALUE(problem, '$.kind') = 'StoreAway'"
    wait_until(lambda: running.read(asked), what="a chunk that misses the store")
    running.store.start()


def assert_exact(target: Address, count: int) -> None:
    """Each row of the file but the bad ones is in the table, once."""
    good = [n for n in range(1, count + 1) if n % BAD]
    with connect(target) as connection:
        assert fetch_all(connection, "SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM t") == [
            (len(good), len(good), sum(good))
        ]
