"""What a chunk costs: the same rows in few chunks and in many, in turns, as a whole job in this process.

    python -m bench.chunks --server mysql://root@127.0.0.1:3306/ --rows 500000 --few 100 --many 10000 --runs 3

One worker takes every step, without Redis and Celery: what is measured is scan, claims, loads, records and
verification. Seconds of this process's processor, of the server's (if it runs on this machine and `--server-pid` names
it) and of the clock; `per_chunk` is the difference between many and few by the number of chunks more, in milliseconds.
Prints one JSON document.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bench.overhead import DATABASE, address_of, saved_target, version, with_application
from bench.workloads import NODES
from importer.engine.connection import connect, execute


def main() -> None:
    arguments = _arguments()
    address = address_of(arguments.server)
    with connect(replace(address, database="")) as connection:
        execute(connection, f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    measured: dict[int, list[dict[str, float]]] = {arguments.few: [], arguments.many: []}
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        path = Path(folder) / "nodes.csv"
        NODES.write(path, arguments.rows)
        target = saved_target(address)
        for number in range(arguments.runs + 1):  # the first round warms up and is not counted
            for chunks, runs in measured.items():
                seconds = run_import(path, target, chunks, arguments.server_pid)
                print(f"run {number}, {chunks} chunks: {seconds}", file=sys.stderr)
                if number:
                    runs.append(seconds)
    few, many = (_medians(measured[chunks]) for chunks in (arguments.few, arguments.many))
    result = {
        "server": version(address),
        "rows": arguments.rows,
        "seconds": {f"{arguments.few:,} chunks": few, f"{arguments.many:,} chunks": many},
        "per_chunk": {
            name: round((many[name] - few[name]) / (many["chunks"] - few["chunks"]) * 1000, 3)
            for name in few
            if name != "chunks"
        },
        "time_ratio": round(many["clock"] / few["clock"], 3),
    }
    print(json.dumps(result, indent=2))


def run_import(path: Path, target, chunks: int, server_pid: int | None) -> dict[str, float]:
    """Seconds of a whole job in about so many chunks, by whose they are; and how many chunks there were."""
    from importer import jobs, sources
    from importer.engine.options import Options
    from importer.models import ImportJob
    from importer.preparation import prepare

    with connect(target.address) as connection:
        execute(connection, f"DROP TABLE IF EXISTS {NODES.name}")
        execute(connection, NODES.create_sql)
    options = Options(parallelism=1, chunk_bytes=path.stat().st_size // chunks)
    job = jobs.create(prepare(sources.register(path), target, NODES.name, mapping=NODES.mapping, options=options))
    before = _now(server_pid)
    while not ImportJob.objects.get(pk=job.pk).ended:
        for step in jobs.advance(job.pk):
            _take(step)
    after = _now(server_pid)
    ended = ImportJob.objects.get(pk=job.pk)
    assert ended.balanced, ended.problem
    return {**{name: round(after[name] - before[name], 3) for name in after}, "chunks": job.chunks.count()}


def _take(step) -> None:
    from importer import runs, work

    tasks = {"scan": work.scan_job, "load_run": runs.load, "verify": work.verify_job}
    tasks[step.task](step.id, lambda _job_id, _later: None)


def _now(server_pid: int | None) -> dict[str, float]:
    now = {"clock": time.monotonic(), "processor": time.process_time()}
    if server_pid:
        fields = Path(f"/proc/{server_pid}/stat").read_text().rpartition(")")[2].split()
        now["server"] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return now


def _medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(run[name] for run in runs), 3) for name in runs[0]}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--server-pid", type=int, help="the server's process on this machine")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    with_application(main)
