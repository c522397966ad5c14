"""Measures the cost of bad rows: the same file without any, with a few at random lines, with half of its rows bad.

    python -m bench.rejects --server mysql://root@127.0.0.1:3306/ --rows 2000000 --runs 3

The files alternate on the same server and table: scan, load with rejects, ledger and checks in two processes that run
the engine alone, without Celery. The kind of the bad rows: validation finds `values`; `unnumbered` ones violate a CHECK
of the table, which the server reports without a row number. `rate` is relative to the clean file (1.0). In every run
the rejected and loaded rows must add up. Prints one JSON document to stdout and each figure to stderr at once.
"""

import argparse
import json
import multiprocessing
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.servers import DATABASE, address_of
from bench.workloads import NODES
from bench.workloads.table import SEED
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.options import Options
from importer.engine.plan.stored_plan import plan_from_json, plan_to_json
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.table import read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.scanner import Position, ScanPolicy, scan
from importer.engine.source.profile.profile import profile_file

(TABLE,) = NODES.tables
# A field of a row of nodes (by its number) and a value that every server refuses there.
BAD_VALUES = ((3, "three"), (4, "2013-02-30 10:00:00"), (7, "x" * 300), (6, "99999999999999999999"))
BAD_VERSION = (3, "-1")
OPTIONS = Options(on_error="reject", parallelism=2)


def main() -> None:
    arguments = _arguments()
    address = replace(address_of(arguments.server), database=DATABASE)
    with connect(replace(address, database="")) as connection:
        execute(connection, f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as name:
        folder = Path(name)
        # In a separate process, whose memory is not counted.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            files = pool.submit(_write, folder, arguments.rows).result()
        print(json.dumps(_compare(address, files, arguments.rows, arguments.runs), indent=2))


def _write(folder: Path, rows: int) -> dict[str, tuple[Path, int]]:
    """Write the files; return path and number of bad rows by the name of the file."""
    files = {"clean": (folder / "clean.csv", 0)}
    TABLE.write(files["clean"][0], rows)
    for count in (1000, rows // 2):
        for kind in ("values", "unnumbered"):
            path = folder / f"{kind} {count}.csv"
            _spoil(files["clean"][0], path, rows, count, kind)
            files[f"{count:,} {kind}"] = path, count
    return files


def _compare(address: Address, files: dict[str, tuple[Path, int]], rows: int, runs: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {name: [] for name in files}
    memory = dict.fromkeys(files, 0)
    for number in range(runs + 1):  # the first round warms up and is not counted
        for name, (path, bad) in files.items():
            took, peak = _import(address, path, rows, bad)
            memory[name] = max(memory[name], peak)
            print(f"run {number}: {name}: {took:.2f} s, {rows / took:,.0f} rows/s, {peak} MB", file=sys.stderr)
            if number:
                seconds[name].append(took)
    clean = statistics.median(seconds["clean"])
    return {
        name: {
            "seconds": [round(each, 2) for each in took],
            "rate": round(clean / statistics.median(took), 2),
            "peak_mb": memory[name],
        }
        for name, took in seconds.items()
    }


def _import(address: Address, path: Path, rows: int, bad: int) -> tuple[float, int]:
    """Load one file; return the seconds and the peak memory (MB) of a process."""
    _make_table(address)
    folder = path.with_suffix(".rejects")
    folder.mkdir()
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_warm_up, range(2)))
        begun = time.perf_counter()
        loads = [pool.submit(_load, work) for work in _works(address, path, folder)]
        done = [load.result() for load in loads]
        took = time.perf_counter() - begun
    tallies, peak = [tally for tally, _ in done], max(_peak(), *(peak for _, peak in done))
    rejected, loaded = (sum(getattr(each, name) for each in tallies) for name in ("rejected", "loaded"))
    assert (rejected, loaded) == (bad, rows - bad), (rejected, loaded)
    shutil.rmtree(folder)
    return took, peak


def _make_table(address: Address) -> None:
    with connect(address) as connection:
        execute(connection, f"DROP TABLE IF EXISTS {TABLE.name}, millrace_ledger")
        execute(connection, TABLE.create_sql())
        execute(connection, f"ALTER TABLE {TABLE.name} ADD CHECK (version >= 0)")


def _works(address: Address, path: Path, folder: Path) -> Iterator[ChunkLoad]:
    """Yield the load of each chunk as soon as the scan has found the chunk."""
    profile = profile_file(path)
    with connect(address) as connection:
        table = read_table(connection, DATABASE, TABLE.name)
        server = read_server(connection, address)
    data_bytes = profile.size - profile.data_offset
    plan = make_plan(PlanningContext(data_bytes, profile.dialect, table, TABLE.mapping, OPTIONS, server))
    sent = plan_from_json(plan_to_json(plan))  # a copy from before the scan, which adds state to the plan
    with open_source(path) as fd:
        for chunk in scan(
            fd,
            profile.dialect,
            plan.chunk_sizes,
            Position(profile.data_offset, profile.data_line),
            end=profile.size,
            policy=ScanPolicy(exactness=plan.exactness),
        ):
            yield ChunkLoad("bench", 1, path, address, profile.dialect, sent, chunk, options=OPTIONS, rejects=folder)


def _load(work: ChunkLoad) -> tuple[Tally, int]:
    return load_chunk(work, LoadCallbacks()).tally, _peak()


def _warm_up(_: int) -> None:
    """Occupy a process of the pool until the other one has started."""
    time.sleep(0.5)


def _peak() -> int:
    """The peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _spoil(clean: Path, path: Path, rows: int, count: int, kind: str) -> None:
    chance = random.Random(SEED)
    bad = set(chance.sample(range(rows), count))
    with clean.open() as source, path.open("w") as out:
        out.write(source.readline())
        for number, line in enumerate(source):
            if number in bad:
                fields = line.rstrip("\n").split(",")
                position, value = chance.choice(BAD_VALUES) if kind == "values" else BAD_VERSION
                fields[position] = value
                out.write(",".join(fields) + "\n")
            else:
                out.write(line)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="mysql://USER:PASSWORD@HOST:PORT/")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
