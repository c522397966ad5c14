"""Runs one comparison: starts servers and Millrace's processes, collects the results, writes the report."""

import argparse
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import application, settings
from bench.files import Files, files_of
from bench.report import write_report
from bench.results import Results, new_results
from bench.rounds import Case, Rounds
from bench.servers import Server, servers_to_measure
from bench.ways import Millrace
from bench.workloads import Workload


@dataclass(frozen=True)
class Comparison:
    """The servers and results of a comparison. `supervisor_pid` is the supervisor of Millrace's processes."""

    arguments: argparse.Namespace
    servers: Sequence[Server]
    results: Results
    supervisor_pid: int

    def files(self, name: str, workload: Workload, rows: int) -> Files:
        """Make the workload's files with `rows` rows and add them to the results as `name`."""
        separator = settings.SEPARATORS[self.arguments.separator]
        files = files_of(workload, rows, self.arguments.folder / "files", separator)
        self.results.add_workload(name, files)
        return files

    def measure(
        self, cases: Sequence[Case], parts: int = 1, on: Sequence[Server] = (), rounds: int | None = None
    ) -> None:
        """Run the cases in rounds, on one server after another.

        `parts`: how many calls share the time of --minutes equally. `on`: only on these servers. `rounds`: exactly this
        number of rounds, without warm-up and time limit, instead of the command line's.
        """
        minutes = self.arguments.minutes and self.arguments.minutes / parts / len(self.servers)
        repeats = Rounds(self.arguments.rounds, self.arguments.warm_up, minutes)
        if rounds:
            repeats = Rounds(rounds, warm_up=0)
        for case in cases:
            if isinstance(case.way, Millrace):
                case.way.supervisor_pid = self.supervisor_pid
        for server in on or self.servers:
            repeats.measure(server, cases, self.results)
            # Written after each server, so that a later failure loses nothing.
            self.results.write(self.arguments.results)

    def report(self) -> Path:
        """Write the results and their report; return the report's path."""
        return write_report([self.results.write(self.arguments.results)])


@contextmanager
def comparison(
    kind: str, arguments: argparse.Namespace, baseline: dict[str, str] | None = None
) -> Iterator[Comparison]:
    """Run servers and Millrace until the end of the `with`; report() works after it, too.

    `baseline`: the workload, the way, or both, that ratios compare with; without it they compare with raw LOAD DATA.
    """
    state = application.set_up(arguments.folder)
    results = new_results(kind, rounds=arguments.rounds, warm_up=arguments.warm_up, baseline=baseline or {})
    options = settings.server_options(arguments)
    with ExitStack() as stack:
        servers = stack.enter_context(servers_to_measure(arguments.server, arguments.folder / "servers", options))
        for server in servers:
            results.add_server(server)
        yield Comparison(arguments, servers, results, stack.enter_context(application.serving()))
    # Kept after an error, because it contains the logs.
    shutil.rmtree(state)
