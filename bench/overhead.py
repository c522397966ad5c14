"""What the whole job costs beside raw parallel LOAD DATA LOCAL of files that were split beforehand.

    python -m bench.overhead --server mysql://root@127.0.0.1:3306/ --workload nodes --rows 4000000 --runs 5

The two take turns (A B A B ...) on the same server, table and file. Millrace runs as `make run` does: Redis, Celery
workers, scan, ledger, checks and verification; its time goes from the start of the job to its verified end. Raw has no
scan, no ledger, no checks. Prints one JSON document; a table goes to stderr.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from bench import raw
from bench.workloads import NODES, Workload, flights
from importer.engine.connection import Address, connect, execute, fetch_all

DATABASE = "millrace_bench"
# Looking must not cost what is measured; the end is read off the job.
LOOK_EVERY = 0.1  # seconds


def main() -> None:
    arguments = _arguments()
    workload = flights(arguments.flights) if arguments.workload == "flights" else NODES
    address = address_of(arguments.server)
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        path = Path(folder) / f"{workload.name}.csv"
        workload.write(path, arguments.rows)
        with connect(replace(address, database="")) as connection:
            execute(connection, f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
        result = compare(workload, path, address, arguments.runs, arguments.sessions, arguments.parallel)
    print(json.dumps(result, indent=2))


def compare(workload: Workload, path: Path, address: Address, runs: int, sessions: int, parallel: int | None) -> dict:
    """Seconds of both for each run, their medians, and the median of the ratios run by run."""
    from scripts.run import serving

    pieces = raw.split(path, path.parent, pieces=8)
    seconds: dict[str, list[float]] = {"raw": [], "millrace": []}
    with serving():
        target = saved_target(address)
        for number in range(runs + 1):  # the first round warms up and is not counted
            measured = {
                "raw": raw.load(_empty_table(workload, address), _statement(workload, address), pieces, sessions),
                "millrace": run_import(workload, path, target, parallel),
            }
            print(f"run {number}: " + ", ".join(f"{k} {v:.2f} s" for k, v in measured.items()), file=sys.stderr)
            if number:
                for name, value in measured.items():
                    seconds[name].append(value)
    ratios = [ours / theirs for ours, theirs in zip(seconds["millrace"], seconds["raw"], strict=True)]
    rows = _count(workload, address)
    return {
        "workload": workload.name,
        "server": version(address),
        "rows": rows,
        "bytes": path.stat().st_size,
        "raw_sessions": sessions,
        "seconds": seconds,
        "median": {name: round(statistics.median(values), 3) for name, values in seconds.items()},
        "rows_per_second": {name: round(rows / statistics.median(values)) for name, values in seconds.items()},
        "time_ratio": {"median": round(statistics.median(ratios), 3), "min": min(ratios), "max": max(ratios)},
    }


def run_import(workload: Workload, path: Path, target, parallel: int | None, *, checks: bool = True) -> float:
    """Seconds from the start of a job to its verified end, into an empty table."""
    from importer import jobs, sources
    from importer.engine.options import Options
    from importer.models import ImportJob
    from importer.preparation import prepare

    _empty_table(workload, target.address)
    options = Options(parallelism=parallel, checks=checks)
    prepared = prepare(sources.register(path), target, workload.name, mapping=workload.mapping, options=options)
    job = jobs.create(prepared)
    begun = datetime.now(UTC)
    jobs.start(job.pk)
    while ImportJob.objects.values_list("status", flat=True).get(pk=job.pk) not in ImportJob.ENDED:
        time.sleep(LOOK_EVERY)
    ended = ImportJob.objects.get(pk=job.pk)
    assert ended.balanced, ended.problem
    assert ended.finished_at
    return (ended.finished_at - begun).total_seconds()


def saved_target(address: Address):
    """The server as a target that imports can name."""
    from importer import targets
    from importer.models import Target

    target, _ = Target.objects.update_or_create(
        name="bench",
        defaults={"host": address.host, "port": address.port, "user": address.user, "database": DATABASE, "tls": "off"},
    )
    targets.check(target)
    return target


def _empty_table(workload: Workload, address: Address) -> Address:
    with connect(address) as connection:
        execute(connection, f"DROP TABLE IF EXISTS {workload.name}")
        execute(connection, workload.create_sql)
    return address


def _statement(workload: Workload, address: Address) -> str:
    from importer.engine.methods import load_data_local
    from importer.engine.table import read_table

    with connect(address) as connection:
        table = read_table(connection, address.database, workload.name)
    return load_data_local.statement(table, workload.dialect, workload.mapping)


def _count(workload: Workload, address: Address) -> int:
    with connect(address) as connection:
        return int(fetch_all(connection, f"SELECT COUNT(*) FROM {workload.name}")[0][0])


def version(address: Address) -> str:
    """What the server calls itself."""
    with connect(address) as connection:
        return str(fetch_all(connection, "SELECT VERSION()")[0][0])


def address_of(url: str) -> Address:
    """The benchmark's database on a server given as mysql://USER@HOST:PORT/."""
    parts = urlsplit(url)
    assert parts.hostname
    return Address(parts.hostname, parts.port or 3306, parts.username or "root", parts.password or "", DATABASE)


def with_application(run: Callable[[], None]) -> None:
    """Run it with the application set up."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    run()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--workload", choices=["nodes", "flights"], default="nodes")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=2, help="sessions of the raw baseline")
    parser.add_argument("--parallel", type=int, help="Millrace's parallelism; default: the plan decides")
    parser.add_argument("--flights", type=Path, default=Path("var/demo/flights.csv"))
    return parser.parse_args()


if __name__ == "__main__":
    with_application(main)
