"""Compares the processor seconds of two hosts of workers with those of one, for the same file and server.

`python -m tests.faults.hosts cost` loads MEGABYTES (300) in ROUNDS (3) on each of SERVERS (mariadb): by one host and
by two with the same number of slots in all, two and four, in the next round in the reverse order. Counted are all
processes of the workers (parents and children) from before an import is started until its end is seen, so also their
idle time between; not counted are the start of the workers, the web server, beat, the database, Redis and the store.
Each arrangement starts its hosts again and loads the file twice: first by processes that have loaded nothing yet, then
by the same ones.
"""

import os
from pathlib import Path
from statistics import median

import pytest

from tests.engine.loads import run_sql
from tests.faults.hosts.installation import Installation, installation
from tests.faults.test_hosts import TABLE
from tests.targets import TestServer

MEGABYTES = int(os.environ.get("MEGABYTES") or 300)
ROUNDS = int(os.environ.get("ROUNDS") or 3)
CHUNK_BYTES = int(os.environ.get("CHUNK_BYTES") or 4 * 2**20)
SERVERS = os.environ.get("SERVERS", "mariadb").split(",")
# The slots of each host.
ARRANGEMENTS = {
    "one host, 2 slots": [2],
    "two hosts, 1 slot each": [1, 1],
    "one host, 4 slots": [4],
    "two hosts, 2 slots each": [2, 2],
}


@pytest.mark.parametrize("server", SERVERS, indirect=True)
def test_hosts_cost(server: TestServer, tmp_path: Path):
    rows = MEGABYTES * 25_000
    data = "n,word\n" + "".join(f"{n},a word of row {n} in the file of many\n" for n in range(1, rows + 1))
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in ARRANGEMENTS}
    with server.fresh_database() as own, server.fresh_database() as target, installation(tmp_path, own, target) as all:
        all.upload(data.encode(), "t.csv", killed=False)
        hosts = list(all.hosts)
        for host in hosts:
            host.stop()
        for number in range(ROUNDS):
            for name in list(ARRANGEMENTS)[:: -1 if number % 2 else 1]:
                all.hosts = hosts[: len(ARRANGEMENTS[name])]
                for host, slots in zip(all.hosts, ARRANGEMENTS[name], strict=True):
                    host.slots = slots
                measured[name].append(_loads(all, rows))
                print(f"round {number + 1}, {name}: {measured[name][-1]} s", flush=True)
    for place, which in enumerate(("first import", "later import")):
        for name, seconds in measured.items():
            print(f"{which}, {name}: {median(each[place] for each in seconds) / rows * 1e6:.3f} s for a million rows")


def _loads(running: Installation, rows: int) -> tuple[float, float]:
    """The seconds of the first and of a later import, by hosts that are started now and stopped at the end."""
    for host in running.hosts:
        host.start()
    try:
        return _load(running, rows), _load(running, rows)
    finally:
        for host in running.hosts:
            host.stop()


def _load(running: Installation, rows: int) -> float:
    run_sql(running.target, "DROP TABLE IF EXISTS t", TABLE)
    running.await_workers()
    before = sum(host.processor_seconds() for host in running.hosts)
    running.import_it(CHUNK_BYTES)
    ended = running.ended()
    assert ended[:3] == ("succeeded", 1, rows), ended
    return round(sum(host.processor_seconds() for host in running.hosts) - before, 2)
