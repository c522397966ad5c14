"""Compares the processor time of the write modes that use a staging table with that of mode append or upsert.

    python -m bench.modes [--rows 400000] [--runs 3] [--server NAME=mysql://...]

The modes alternate (A B C A B C ...). The engine alone loads the chunks in two sessions, without the application; the
time is that of client and server, from the creation of the staging table to the end of the finishing step, without the
scan. Some modes start with the rows already in the table, and those of a second load with 2 % of them changed.
"""

import argparse
import json
import statistics
import tempfile
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import truediv
from pathlib import Path

from bench.meter import cpu_of
from bench.servers import Server, servers_to_measure
from bench.workloads import NODES
from importer.engine.errors import Previewed
from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.finish import FinishingStep, finish
from importer.engine.load.loader import Loader
from importer.engine.mapping.columns import ColumnMapping
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
CHANGED = 50  # one row in 50 differs


@dataclass(frozen=True)
class Load:
    """A load that is measured, as a share of the load with the name `base`.

    `full`: its table has the rows of the file already; `changed`: of which one in CHANGED differs.
    """

    name: str
    base: str
    options: Options
    full: bool = False
    changed: bool = False


LOADS = (
    Load("append", "append", Options()),
    Load("atomic", "append", Options(mode="atomic")),
    Load("replace", "append", Options(mode="replace"), full=True),
    Load("upsert", "append", Options(mode="upsert"), full=True),
    Load("second upsert", "second upsert", Options(mode="upsert"), full=True, changed=True),
    Load("update", "second upsert", Options(mode="update"), full=True, changed=True),
    Load("sync", "second upsert", Options(mode="sync"), full=True, changed=True),
    Load("preview", "second upsert", Options(mode="sync", preview=True), full=True, changed=True),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", action="append", default=[], metavar="NAME=URL")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--loads", nargs="*", default=[each.name for each in LOADS])
    arguments = parser.parse_args()
    loads = [each for each in LOADS if each.name in arguments.loads]
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        path = Path(folder) / "nodes.csv"
        TABLE.write(path, arguments.rows)
        with servers_to_measure(arguments.server, Path(folder), ["--innodb-buffer-pool-size=1G"]) as servers:
            for server in servers:
                seconds: dict[str, list[float]] = {each.name: [] for each in loads}
                for number in range(arguments.runs + 1):  # the first round warms up and is not counted
                    for each in loads:
                        taken = run(server, path, each)
                        if number:
                            seconds[each.name].append(taken)
                shares = {
                    each.name: round(statistics.median(map(truediv, seconds[each.name], seconds[each.base])), 2)
                    for each in loads
                    if each.base in seconds
                }
                result = {"server": server.name, "rows": arguments.rows, "cpu": seconds, "shares": shares}
                print(json.dumps(result, indent=2), flush=True)


def run(server: Server, path: Path, load: Load) -> float:
    """Processor seconds of client and server for the whole file, into a table that is made for it."""
    with connect(server.address) as connection:
        ledger.create(connection)
        for table in _leftovers(connection):
            execute(connection, f"DROP TABLE {table}")
        execute(connection, TABLE.create_sql())
    if load.full:
        load_whole(server.address, path, Options())
    if load.changed:
        with connect(server.address) as connection:
            execute(connection, f"UPDATE {TABLE.name} SET version = version + 1 WHERE id % {CHANGED} = 0")
    return cpu_of(server, lambda: load_whole(server.address, path, load.options))[0]


def load_whole(
    address: Address,
    path: Path,
    options: Options,
    name: str = TABLE.name,
    mapping: Sequence[ColumnMapping] = TABLE.mapping,
) -> tuple[float, str, ImportPlan]:
    """Load the file into the table by the engine alone: the seconds, the key of the import, and its plan."""
    job, profile = str(uuid.uuid4()), profile_file(path)
    with connect(address) as connection:
        table = read_table(connection, address.database, name)
        server = read_server(connection, address)
    size = profile.size - profile.data_offset
    plan = make_plan(PlanningContext(size, profile.dialect, table, tuple(mapping), options, server, job=job))
    with open_source(path) as fd:
        begin = Position(profile.data_offset, profile.data_line)
        sizes = ChunkSizes(min(plan.chunk_bytes, 2**22))
        chunks = list(scan(fd, profile.dialect, sizes, begin, end=profile.size))
    begun = time.perf_counter()
    if plan.staged:
        with connect(address) as connection:
            plan = replace(plan, table_digest=staging.create(connection, plan.schema, job, plan.staged))

    def load(own: Sequence[ChunkRange]) -> int:
        """Load the chunks of one session; the rows that are staged of them."""
        work = [ChunkLoad(job, 1, path, address, profile.dialect, plan, each, options=options) for each in own]
        with Loader(path, address, plan) as loader:
            return sum(loader.load(each).tally.loaded for each in work)

    with ThreadPoolExecutor(SESSIONS) as pool:
        staged = sum(pool.map(load, [chunks[at::SESSIONS] for at in range(SESSIONS)]))
    if plan.staged:
        with suppress(Previewed):
            finish(FinishingStep(job, 1, address, plan, staged), LoadCallbacks())
        with connect(address) as connection:
            staging.drop(connection, plan.schema, job)
    return time.perf_counter() - begun, job, plan


def _leftovers(connection: Connection) -> list[str]:
    return [row[0] for row in fetch_all(connection, "SHOW TABLES") if row[0] != ledger.TABLE]


if __name__ == "__main__":
    main()
