"""Measures the gain of loading a shuffled file in the order of its key, and the cost of the sort.

    python -m bench.sorting --rows 1500000 --buffer-pool 128M --runs 3
    python -m bench.sorting --server mysql://root@127.0.0.1:3306/ --rows 1500000

Three ways alternate: the shuffled file unsorted (`keep`), sorted first (`key`), and the file in order (`ordered`), the
best possible result of sorting. The engine alone loads the chunks in two sessions. Without `--server`, private
servers are started with the buffer pool of `--buffer-pool`. Reported: seconds of the load and of the sort, the sort's
processor seconds and peak memory in MB, the server's processor time and the bytes that it wrote.
"""

import argparse
import json
import multiprocessing
import random
import resource
import statistics
import tempfile
import time
import uuid
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.client import peak_mb
from bench.meter import ServerMeter
from bench.servers import Server, servers_to_measure
from bench.workloads import NODES
from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import connect, execute
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.options import Options
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.table import read_table
from importer.engine.sorting.external_sort import SortInput, sort_records
from importer.engine.sorting.original_positions import places_of
from importer.engine.sorting.sort_key import SortKey
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ChunkRange, Position, scan
from importer.engine.source.profile.profile import Profile, profile_file

(TABLE,) = NODES.tables
SESSIONS = 2
WAYS = ("keep", "key", "ordered")
SEED = 20261120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", action="append", default=[])
    parser.add_argument("--rows", type=int, default=1_500_000)
    parser.add_argument("--buffer-pool", default="128M", help="buffer pool of private servers")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        ordered, shuffled = Path(folder) / "ordered.csv", Path(folder) / "shuffled.csv"
        TABLE.write(ordered, arguments.rows)
        shuffle(ordered, shuffled)
        options = [f"--innodb-buffer-pool-size={arguments.buffer_pool}"]
        with servers_to_measure(arguments.server, Path(folder) / "servers", options) as servers:
            for server in servers:
                figures = measure(server, ordered, shuffled, arguments.runs)
                print(json.dumps({"server": server.name, "rows": arguments.rows, **figures}, indent=2))


def shuffle(ordered: Path, shuffled: Path) -> None:
    """Write the header and the records of `ordered` in random order to `shuffled`."""
    with ordered.open("rb") as file:
        header, rows = file.readline(), file.readlines()
    random.Random(SEED).shuffle(rows)
    shuffled.write_bytes(header + b"".join(rows))


def measure(server: Server, ordered: Path, shuffled: Path, runs: int) -> dict[str, Any]:
    runs_of: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    for _ in range(runs):
        for way in WAYS:
            runs_of[way].append(run(server, ordered if way == "ordered" else shuffled, way))
    total = {way: [each["sort"] + each["load"] for each in runs_of[way]] for way in WAYS}
    ratios = [keep / key for keep, key in zip(total["keep"], total["key"], strict=True)]
    return {"runs": runs_of, "gain": round(statistics.median(ratios), 2)}


def run(server: Server, path: Path, way: str) -> dict[str, Any]:
    """Load the file into a new table; return seconds and costs."""
    with connect(server.address) as connection:
        ledger.create(connection)
        execute(connection, f"DROP TABLE IF EXISTS {TABLE.name}")
        execute(connection, TABLE.create_sql())
        table = read_table(connection, server.address.database, TABLE.name)
        variables = read_server(connection, server.address)
    profile = profile_file(path)
    options = Options(sort="key" if way == "key" else "keep")
    size = profile.size - profile.data_offset
    plan = make_plan(PlanningContext(size, profile.dialect, table, TABLE.mapping, options, variables))
    sort = {"sort": 0.0}
    if plan.sorted_by:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            path, sort = pool.submit(sorted_copy, path, profile, plan.sorted_by).result()
    job = str(uuid.uuid4())
    with open_source(path) as fd:
        begin = Position(profile.data_offset, profile.data_line)
        sizes, end = ChunkSizes(2**22), path.stat().st_size
        chunks = list(scan(fd, profile.dialect, sizes, begin, end=end))

    def load(chunk: ChunkRange) -> None:
        load_chunk(
            ChunkLoad(job, 1, path, server.address, profile.dialect, plan, chunk, options=options), LoadCallbacks()
        )

    begun = time.perf_counter()
    with ServerMeter(server) as meter, ThreadPoolExecutor(SESSIONS) as threads:
        list(threads.map(load, chunks))
    seconds = time.perf_counter() - begun
    cost = meter.cost.as_json() if meter.cost else {}
    return {**sort, "load": round(seconds, 2), **cost}


def sorted_copy(path: Path, profile: Profile, key: SortKey) -> tuple[Path, dict[str, float]]:
    """Sort a copy of the file; return its path and the cost. Runs in a process of its own."""
    copy, begun = path.with_suffix(".sorted"), time.perf_counter()
    with open_source(path) as fd, copy.open("wb") as out, places_of(copy).open("wb") as places:
        source = SortInput(fd, profile.dialect, profile.data_offset, profile.data_line, profile.size)
        sort_records(source, key, out, places, path.parent)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cost = {
        "sort": round(time.perf_counter() - begun, 2),
        "sort_cpu": round(used.ru_utime + used.ru_stime, 2),
        "sort_peak_mb": round(peak_mb(), 1),
    }
    return copy, cost


if __name__ == "__main__":
    main()
