"""Runs the cases in rounds: every round runs every case once, so that drift of the machine affects all of them."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bench.content import check_tables
from bench.files import Files
from bench.handover import Handover
from bench.meter import ServerMeter
from bench.results import Results
from bench.servers import Server
from bench.ways import Way, drop_tables
from bench.workloads.table import SEED
from importer.engine.tuning.rounds import turns

# Before each run the server writes the dirty pages of the previous run, until this share of its pool is left.
CLEAN_SHARE = 0.02
LONGEST_WAIT = 30  # seconds


@dataclass(frozen=True)
class Case:
    """One bar of a chart: a way, and the files that it loads; `workload` is their name in the results."""

    workload: str
    files: Files
    way: Way


@dataclass(frozen=True)
class Rounds:
    """The number of rounds: `warm_up` that do not count, then `rounds`; none starts that would end after `minutes`."""

    rounds: int
    warm_up: int = 1
    minutes: float | None = None

    def measure(self, server: Server, cases: Sequence[Case], results: Results) -> None:
        """Run the cases on one server and add every run to the results. Raises WrongContent."""
        cases = [case for case in cases if not _left_out(server, case, results)]
        began = time.monotonic()
        longest = 0.0
        order = turns(len(cases), self.warm_up + self.rounds, SEED, warm_up=False)
        for number, together in groupby(order, lambda turn: turn.round - self.warm_up):
            if number > 1 and self.minutes and time.monotonic() - began + longest > self.minutes * 60:
                _log(f"{server.name}: no round {number}, as it would end after {self.minutes:g} minutes")
                break
            round_began = time.monotonic()
            for place, turn in enumerate(together):
                run = _run(server, cases[turn.combination])
                results.runs.append({**run, "round": number, "place": place})
                _log_run(results.runs[-1])
            took = time.monotonic() - round_began
            longest = max(longest, took)
            if number < self.rounds:
                _log(f"{server.name}: round {number} took {took:.0f} s, {self.rounds - max(number, 0)} to go")
        for case in cases:
            drop_tables(server, case.files.workload)


def _left_out(server: Server, case: Case, results: Results) -> bool:
    why = case.way.obstacle(case.files)
    if why:
        results.left_out.append(
            {"server": server.name, "workload": case.workload, "way": case.way.name, "why": why},
        )
    return bool(why)


def _run(server: Server, case: Case) -> dict[str, Any]:
    """One run: make empty tables, load, compare the tables with the files; returns its results."""
    way, files = case.way, case.files
    way.prepare(server, files)
    _wait_for_writes(server)
    with Handover() as handover, ServerMeter(server) as meter:
        timing = way.load(server, files)
    assert meter.cost
    check_tables(server, files, way.rows(files), way.name)
    tables = files.workload.tables
    return {
        "server": server.name,
        "workload": case.workload,
        "way": way.name,
        "rows": sum(table.rows_of(way.rows(files)) for table in tables),
        "sample": way.rows(files) < files.rows,
        "raw": way.raw,
        **timing.as_json(),
        **meter.cost.as_json(),
        "handover": handover.mean,
    }


def _wait_for_writes(server: Server) -> None:
    """Wait until few pages are dirty or none was written for a second, at most LONGEST_WAIT."""
    deadline = time.monotonic() + LONGEST_WAIT
    before = None
    while time.monotonic() < deadline:
        status = server.status()
        dirty = status.get("Innodb_buffer_pool_pages_dirty", 0)
        if dirty <= CLEAN_SHARE * status.get("Innodb_buffer_pool_pages_total", 0) or dirty == before:
            return
        before = dirty
        time.sleep(1)


def _log_run(run: dict[str, Any]) -> None:
    rate = run["rows"] / run["seconds"]
    where = f"{run['server']} {run['workload']} round {run['round']}"
    _log(f"{where}: {run['way']} {run['seconds']:.2f} s, {rate:,.0f} rows/s{' (sample)' if run['sample'] else ''}")


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
