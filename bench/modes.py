"""Compares the write modes that use a staging table with mode append, on one server, table and file.

    python -m bench.modes --server mysql://root@127.0.0.1:3306/ --rows 500000 --runs 3

The modes alternate (A B C A B C ...). The engine alone loads the chunks in two sessions, without the application; the
time is from the creation of the staging table to the end of the finishing step, without the scan. `full` starts with
the rows already in the table.
"""

import argparse
import json
import statistics
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from bench.servers import DATABASE, address_of
from bench.workloads import NODES
from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.finish import FinishingStep, finish
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.table import read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ChunkRange, Position, scan
from importer.engine.source.profile.profile import profile_file
from importer.engine.target import staging

(TABLE,) = NODES.tables
SESSIONS = 2
MODES = (("append", "", False), ("atomic", "", False), ("replace", "", True), ("upsert", "", True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    address = address_of(arguments.server)
    with connect(replace(address, database="")) as connection:
        execute(connection, f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        path = Path(folder) / "nodes.csv"
        TABLE.write(path, arguments.rows)
        seconds: dict[str, list[float]] = {mode: [] for mode, _, _ in MODES}
        for number in range(arguments.runs + 1):  # the first round warms up and is not counted
            for mode, on_duplicate, full in MODES:
                taken = run(address, path, Options(mode=mode, on_duplicate=on_duplicate), full)
                if number:
                    seconds[mode].append(taken)
    ratios = {
        mode: round(statistics.median(a / b for a, b in zip(taken, seconds["append"], strict=True)), 2)
        for mode, taken in seconds.items()
    }
    print(json.dumps({"rows": arguments.rows, "seconds": seconds, "times_append": ratios}, indent=2))


def run(address: Address, path: Path, options: Options, full: bool) -> float:
    """Seconds for the whole file into a new table, or with `full` into one that already has all rows."""
    with connect(address) as connection:
        ledger.create(connection)
        for table in _leftovers(connection):
            execute(connection, f"DROP TABLE {table}")
        execute(connection, TABLE.create_sql())
    if full:
        load_whole(address, path, Options())
    return load_whole(address, path, options)[0]


def load_whole(address: Address, path: Path, options: Options) -> tuple[float, str, ImportPlan]:
    """Load the file into its table by the engine alone: the seconds, the key of the import, and its plan."""
    job, profile = str(uuid.uuid4()), profile_file(path)
    with connect(address) as connection:
        table = read_table(connection, address.database, TABLE.name)
        server = read_server(connection, address)
    size = profile.size - profile.data_offset
    plan = make_plan(PlanningContext(size, profile.dialect, table, TABLE.mapping, options, server, job=job))
    with open_source(path) as fd:
        begin = Position(profile.data_offset, profile.data_line)
        sizes = ChunkSizes(min(plan.chunk_bytes, 2**22))
        chunks = list(scan(fd, profile.dialect, sizes, begin, end=profile.size))
    begun = time.perf_counter()
    if plan.staged:
        with connect(address) as connection:
            plan = replace(plan, table_digest=staging.create(connection, plan.schema, job, plan.staged))

    def load(chunk: ChunkRange) -> None:
        load_chunk(ChunkLoad(job, 1, path, address, profile.dialect, plan, chunk, options=options), LoadCallbacks())

    with ThreadPoolExecutor(SESSIONS) as pool:
        list(pool.map(load, chunks))
    if plan.staged:
        finish(FinishingStep(job, 1, address, plan, sum(chunk.rows for chunk in chunks)), LoadCallbacks())
        with connect(address) as connection:
            staging.drop(connection, plan.schema, job)
    return time.perf_counter() - begun, job, plan


def _leftovers(connection: Connection) -> list[str]:
    return [row[0] for row in fetch_all(connection, "SHOW TABLES") if row[0] != ledger.TABLE]


if __name__ == "__main__":
    main()
