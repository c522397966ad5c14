"""What looking for silently changed values costs: whole imports with the checks on and off, taking turns.

    python -m bench.checks --server mysql://root@127.0.0.1:3306/ --rows 2000000 --runs 5

Both run as `make run` does (Redis, Celery workers, scan, ledger, verification) on the same server, table and file.
Prints one JSON document; every run goes to stderr.
"""

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.overhead import DATABASE, address_of, run_import, saved_target, version, with_application
from bench.workloads import NODES, Workload, flights
from importer.engine.connection import Address, connect, execute


def main() -> None:
    arguments = _arguments()
    address = address_of(arguments.server)
    with connect(replace(address, database="")) as connection:
        execute(connection, f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    results = []
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        for workload in (NODES, flights(arguments.flights)):
            path = Path(folder) / f"{workload.name}.csv"
            workload.write(path, arguments.rows)
            results.append(compare(workload, path, address, arguments.runs, arguments.parallel))
    print(json.dumps({"server": version(address), "results": results}, indent=2))


def compare(workload: Workload, path: Path, address: Address, runs: int, parallel: int | None) -> dict:
    """Seconds with and without checks for each run, and the median of the ratios run by run."""
    from scripts.run import serving

    seconds: dict[str, list[float]] = {"on": [], "off": []}
    with serving():
        target = saved_target(address)
        for number in range(runs + 1):  # the first round warms up and is not counted
            # Whoever comes second finds the server busier with the first one's pages: they take turns at that, too.
            order = ("on", "off") if number % 2 else ("off", "on")
            measured = {each: run_import(workload, path, target, parallel, checks=each == "on") for each in order}
            print(f"{workload.name} {number}: on {measured['on']:.2f} s, off {measured['off']:.2f} s", file=sys.stderr)
            if number:
                for each in order:
                    seconds[each].append(measured[each])
    ratios = [on / off for on, off in zip(seconds["on"], seconds["off"], strict=True)]
    return {
        "workload": workload.name,
        "bytes": path.stat().st_size,
        "seconds": seconds,
        "median": {name: round(statistics.median(values), 3) for name, values in seconds.items()},
        "ratio": {"median": round(statistics.median(ratios), 3), "min": min(ratios), "max": max(ratios)},
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--rows", type=int, default=2_000_000, help="of the nodes")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--parallel", type=int, help="default: the plan decides")
    parser.add_argument("--flights", type=Path, default=Path("var/demo/flights.csv"))
    return parser.parse_args()


if __name__ == "__main__":
    with_application(main)
