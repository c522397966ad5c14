"""Runs in turns: every round runs every case once, in an order of its own, so that no case has the quieter hour."""

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.content import check_tables
from bench.files import Files
from bench.handover import Handover
from bench.meter import ServerMeter
from bench.results import Results
from bench.servers import Server
from bench.ways import Way, drop_tables
from importer.experiments.workloads.table import SEED

# Before each run the server may finish writing pages of the run before it.
CLEAN_SHARE = 0.02
LONGEST_WAIT = 30  # seconds


@dataclass(frozen=True)
class Case:
    """One bar of a chart: a way, and the files that it loads; `workload` is what the results call these."""

    workload: str
    files: Files
    way: Way


@dataclass(frozen=True)
class Turns:
    """How often and how long: `warm_up` rounds that do not count, then `rounds`, none begun after `minutes`."""

    rounds: int
    warm_up: int = 1
    minutes: float | None = None

    def measure(self, server: Server, cases: Sequence[Case], results: Results) -> None:
        """Run the cases in turns on one server and add every run to the results. Raises LoadedSomethingElse."""
        cases = [case for case in cases if not _left_out(server, case, results)]
        began = time.monotonic()
        longest = 0.0
        for number in range(1 - self.warm_up, self.rounds + 1):
            if number > 1 and self.minutes and time.monotonic() - began + longest > self.minutes * 60:
                _say(f"{server.name}: no round {number}, as {self.minutes:g} minutes would not do")
                break
            round_began = time.monotonic()
            for place, case in enumerate(in_turn(cases, number)):
                run = _run(server, case)
                results.runs.append({**run, "round": number, "place": place})
                _tell(results.runs[-1])
            took = time.monotonic() - round_began
            longest = max(longest, took)
            if number < self.rounds:
                _say(f"{server.name}: round {number} took {took:.0f} s, {self.rounds - max(number, 0)} to go")
        for case in cases:
            drop_tables(server, case.files.workload)


def in_turn(cases: Sequence[Case], number: int) -> list[Case]:
    """The order of a round: by chance in every other one, and the other way round in the next.

    So a machine that grows slower or faster all the time favours nobody.
    """
    order = list(cases)
    random.Random(SEED + (number + 1) // 2).shuffle(order)
    return order if number % 2 else order[::-1]


def _left_out(server: Server, case: Case, results: Results) -> bool:
    why = case.way.obstacle(case.files)
    if why:
        results.left_out.append(
            {"server": server.name, "workload": case.workload, "way": case.way.name, "why": why},
        )
    return bool(why)


def _run(server: Server, case: Case) -> dict:
    """One run from empty tables to the comparison of what was loaded."""
    way, files = case.way, case.files
    way.prepare(server, files)
    _let_it_write(server)
    with Handover() as handover, ServerMeter(server) as meter:
        clocked = way.load(server, files)
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
        **clocked.as_json(),
        **meter.cost.as_json(),
        "handover": handover.mean,
    }


def _let_it_write(server: Server) -> None:
    """Return once few pages are dirty, or none was written for a second, or LONGEST_WAIT is over."""
    deadline = time.monotonic() + LONGEST_WAIT
    before = None
    while time.monotonic() < deadline:
        status = server.status()
        dirty = status.get("Innodb_buffer_pool_pages_dirty", 0)
        if dirty <= CLEAN_SHARE * status.get("Innodb_buffer_pool_pages_total", 0) or dirty == before:
            return
        before = dirty
        time.sleep(1)


def _tell(run: dict) -> None:
    rate = run["rows"] / run["seconds"]
    where = f"{run['server']} {run['workload']} round {run['round']}"
    _say(f"{where}: {run['way']} {run['seconds']:.2f} s, {rate:,.0f} rows/s{' (sample)' if run['sample'] else ''}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
