"""Two hosts of workers and a web host that share their databases, Redis and the store: every row arrives once.

By default few rows, on one server, with a host that is killed and a store that stops for a moment. `python -m
tests.faults.hosts` tries 300 MB on each server, with a web host that is killed in mid-upload and a store away for 20 s.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from tests.engine.loads import rows_of, run_sql
from tests.faults.hosts.installation import LEASE, Installation, installation
from tests.faults.hosts.network import can_isolate, network
from tests.stack import wait_until
from tests.targets import TestServer
from tests.web_site import Place

MEGABYTES = int(os.environ.get("MEGABYTES", "0"))
STORE_SECONDS = 20 if MEGABYTES else 0
SERVERS = ["mariadb", "mysql"] if MEGABYTES else ["mariadb"]
TABLE = "CREATE TABLE t (n INT NOT NULL, word VARCHAR(60) NOT NULL)"  # without a key: a row that came twice would stay
BAD = 1000  # each such row is too long for its column


def rows() -> list[str]:
    count = MEGABYTES * 20_000 or 50_000
    return [
        f"{n},{'x' * 99 if n % BAD == 0 else f'a word of row {n} in the file of many'}" for n in range(1, count + 1)
    ]


isolated = pytest.mark.skipif(not can_isolate(), reason="only root can run several hosts here (unshare, ip netns)")


@isolated
def test_a_host_reaches_the_bridge_and_nothing_else_and_all_of_it_is_removed():
    with suppress(ZeroDivisionError), network(("one", "two")) as net, ExitStack() as listening:
        bridge = listening.enter_context(socket.create_server((net.address, 0))).getsockname()
        here = listening.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()
        one, two = net.places["one"], net.places["two"]
        assert reaches(one, *bridge)
        assert not reaches(one, *here)
        listening.enter_context(listener_at(two, bridge[1]))
        assert reaches(two, two.address, bridge[1])
        assert not reaches(one, two.address, bridge[1])
        raise ZeroDivisionError  # as a test that fails
    known = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    known += subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    assert f"mr{os.getpid()}" not in known


def reaches(host: Place, address: str, port: int) -> bool:
    """Whether a process of the host can connect."""
    connect = f"import socket; socket.create_connection(({address!r}, {port}), timeout=1)"
    return subprocess.run([*host.inside, sys.executable, "-c", connect], capture_output=True).returncode == 0


@contextmanager
def listener_at(host: Place, port: int) -> Iterator[None]:
    """A server on the host."""
    code = f"import socket; s = socket.create_server(({host.address!r}, {port})); print(flush=True); s.accept()"
    with subprocess.Popen([*host.inside, sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            process.stdout.readline()
            yield
        finally:
            process.kill()


@isolated
@pytest.mark.parametrize("server", SERVERS, indirect=True)
def test_two_hosts_load_what_a_third_received(server: TestServer, tmp_path: Path):
    lines = rows()
    with server.fresh_database() as own, server.fresh_database() as target:
        run_sql(target, TABLE)
        with installation(tmp_path, own, target, **LEASE) as running:
            running.upload("\n".join(["n,word", *lines, ""]).encode(), "t.csv", killed=MEGABYTES > 0)
            running.import_it(chunk_bytes=MEGABYTES * 2**14 or 2**15)
            running.both_load()
            running.hosts[0].kill()
            lose_the_store(running)
            assert running.ended() == ("succeeded", 1, len(lines) - len(lines) // BAD, len(lines) // BAD)
            assert running.rejects().splitlines() == ["n,word", *lines[BAD - 1 :: BAD]]
            assert [name for name in running.hosts[1].files() if "keys" not in name] == []
        assert_exact(target, len(lines))


def lose_the_store(running: Installation) -> None:
    """Stop the store for STORE_SECONDS, and until a chunk has failed to reach it; then start it again."""
    until = time.monotonic() + STORE_SECONDS
    running.store.stop()
    asked = "SELECT 1 FROM importer_chunk WHERE JSON_VALUE(problem, '$.kind') = 'StoreAway'"
    wait_until(lambda: running.read(asked) and time.monotonic() > until, what="a chunk that misses the store")
    running.store.start()


def assert_exact(target: Address, count: int) -> None:
    """Each row of the file but the bad ones is in the table, once."""
    good = [n for n in range(1, count + 1) if n % BAD]
    assert rows_of(target, "SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM t") == [(len(good), len(good), sum(good))]
