"""Reads and writes the results of a benchmark, one JSON file (bench/README.md).

    {"schema": 1,
     "kind": "ways",               the comparison: ways, link, rows, chunks, small, files, checks, advice
     "made": {"at", "commit", "command", "seed", "rounds", "warm_up", "baseline": {"workload", "way"}, "notes"},
     "machine": {"processors", "model", "memory_mb", "kernel", "python", "mysqlclient"},
     "servers": {name: {"url", "private", "variables": {name: value}}},
     "workloads": {name: {"title", "rows", "bytes", "tables": {name: CREATE TABLE}}},
     "runs": [{"server", "workload", "way", "round", "place", "rows", "sample", "raw", "keys", "seconds", "first_row",
               "cpu", "cpus", "peaks", "parts", "choices", "server_cpu", "server_written", "server_data_written",
               "server_log_written", "server_dirty", "handover"}],
     "left_out": [{"server", "workload", "way", "why"}]}

Sizes are bytes, peaks MB, times seconds. `round` 0 and below are warm-ups, which no figure counts; `place` is the
position of the run in its round. `handover` is nanoseconds (handover.py). `baseline` is empty where ways are compared
with raw LOAD DATA; `notes` are sentences. A value that could not be measured is null.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import MySQLdb

from bench.files import Files
from bench.servers import Server
from bench.workloads.table import SEED

SCHEMA = 1
ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Results:
    """The content of one file, as described above."""

    kind: str
    made: dict[str, Any]
    machine: dict[str, Any]
    servers: dict[str, Any] = field(default_factory=dict)
    workloads: dict[str, Any] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)
    schema: int = SCHEMA

    def add_server(self, server: Server) -> None:
        address = server.address
        self.servers[server.name] = {
            "url": f"mysql://{address.user}@{address.host}:{address.port}/",
            "private": server.private,
            "variables": server.variables(),
        }

    def add_workload(self, name: str, files: Files) -> None:
        self.workloads[name] = {
            "title": files.workload.title,
            "rows": sum(table.rows_of(files.rows) for table in files.workload.tables),
            "bytes": files.bytes,
            "tables": {table.name: table.create_sql() for table in files.workload.tables},
        }

    def write(self, folder: Path) -> Path:
        """Write the file, named by its kind and time; a later call overwrites it with more runs. Returns its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.kind}-{self.made['at'].replace(':', '')}.json"
        path.write_text(json.dumps(vars(self), indent=1))
        return path


def read_results(paths: Sequence[Path]) -> Results:
    """The runs of several files of one kind as one result; the description is that of the last file."""
    read = [Results(**json.loads(path.read_text())) for path in paths]
    kinds = {(each.kind, each.schema) for each in read}
    assert kinds == {(read[0].kind, SCHEMA)}, f"These files are not of one kind, or of another version: {kinds}"
    joined = read[-1]
    for number, each in enumerate(read[:-1], start=1):
        joined.servers = each.servers | joined.servers
        joined.workloads = each.workloads | joined.workloads
        # Rounds of different files are different rounds.
        joined.runs += [{**run, "round": f"{number}.{run['round']}"} for run in each.runs if run["round"] > 0]
        joined.left_out += each.left_out
    return joined


def new_results(kind: str, *, rounds: int, warm_up: int, baseline: dict[str, str]) -> Results:
    """Results without runs, with the description of this machine and checkout."""
    return Results(
        kind,
        {
            "at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "commit": (_git("rev-parse", "HEAD") or "unknown") + " with changes" * bool(_git("status", "--porcelain")),
            "command": " ".join(sys.orig_argv[1:]),
            "seed": SEED,
            "rounds": rounds,
            "warm_up": warm_up,
            "baseline": baseline,
            "notes": [],
        },
        {
            "processors": os.cpu_count(),
            "model": _line("/proc/cpuinfo", "model name"),
            "memory_mb": int(_line("/proc/meminfo", "MemTotal").split()[0] or 0) // 1024,
            "kernel": platform.release(),
            "python": platform.python_version(),
            "mysqlclient": ".".join(map(str, MySQLdb.version_info[:3])),
        },
    )


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _line(path: str, name: str) -> str:
    """The text after the colon in the line of a /proc file that begins with `name`; "0" without that line."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "0")
