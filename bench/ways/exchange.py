"""LOAD DATA into a table for each partition, keys built there in parallel, and EXCHANGE PARTITION at the end."""

import re
from pathlib import Path

from bench.files import Files, data_lines
from bench.servers import Server
from bench.ways.client import run_statements
from bench.ways.raw import DDL_SETTINGS
from bench.ways.way import AFTER, LoadTiming, Way
from bench.workloads.table import WITHOUT_KEYS, WorkloadTable
from importer.engine.mysql.connection import connect, execute


class Exchange(Way):
    """A staging table without keys for each hash partition, over `sessions`; its keys are built before the exchange.

    The rows of each partition are cut into a file of their own beforehand: that is not in the time. The server reads
    each row once more to check its partition, because MariaDB 10.11 has no WITHOUT VALIDATION.
    """

    raw = True
    keys = AFTER

    def __init__(self, sessions: int) -> None:
        self._sessions = sessions
        self.name = f"exchange-{sessions}"

    def obstacle(self, files: Files) -> str:
        """Why it cannot load this workload; "" if it can."""
        (table, *others) = files.workload.tables
        return "" if not others and _partitions(table) > 1 else "its table has no hash partitions"

    def prepare(self, server: Server, files: Files) -> None:
        """Make the partitioned table with its keys, an empty staging table for each partition, and their files."""
        (table,) = files.workload.tables
        _cut_by_partition(files, table)
        with connect(server.address) as connection:
            for name in (table.name, *_staging(table)):
                execute(connection, f"DROP TABLE IF EXISTS {name}")
            execute(connection, table.create_sql())
            for name in _staging(table):
                execute(connection, table.create_sql(name=name, form=WITHOUT_KEYS))
                execute(connection, f"ALTER TABLE {name} REMOVE PARTITIONING")

    def load(self, server: Server, files: Files) -> LoadTiming:
        (table,) = files.workload.tables
        staging = _staging(table)
        keys = ", ".join(f"ADD {each}" for each in table.keys)
        loads = [
            table.load_sql(str(path), files.separator, into=name, header=False)
            for path, name in zip(_paths(files, table), staging, strict=True)
        ]
        exchanges = [
            f"ALTER TABLE {table.name} EXCHANGE PARTITION p{number} WITH TABLE {name}"
            for number, name in enumerate(staging)
        ]
        steps = [loads, [f"ALTER TABLE {name} {keys}" for name in staging]]
        timing = run_statements(
            server.address, steps, self._sessions, settings=DDL_SETTINGS, last=exchanges, keys=self.keys
        )
        with connect(server.address) as connection:
            for name in staging:
                execute(connection, f"DROP TABLE {name}")
        return timing


def _partitions(table: WorkloadTable) -> int:
    match = re.search(r"PARTITIONS (\d+)", table.options)
    return int(match[1]) if match else 0


def _staging(table: WorkloadTable) -> list[str]:
    return [f"{table.name}_staging_{number}" for number in range(_partitions(table))]


def _paths(files: Files, table: WorkloadTable) -> list[Path]:
    return [files.folder / f"{name}.csv" for name in _staging(table)]


def _cut_by_partition(files: Files, table: WorkloadTable) -> None:
    """Write the rows of each partition, HASH (id), to a file of its own, if they do not exist yet."""
    paths = _paths(files, table)
    if all(path.exists() for path in paths):
        return
    separator = files.separator.encode()
    outs = [path.open("wb") for path in paths]
    try:
        for line in data_lines(files.whole(table)):
            outs[int(line.partition(separator)[0].strip(b'"')) % len(outs)].write(line)
    finally:
        for out in outs:
            out.close()
