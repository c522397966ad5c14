"""One comparison: servers, Millrace's processes and results for as long as it takes, and the report at the end."""

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
from bench.rounds import Case, Turns
from bench.servers import Server, servers_to_measure
from bench.ways import Millrace
from importer.experiments.workloads import Workload


@dataclass(frozen=True)
class Comparison:
    """What is compared so far. `above` is the process above all of Millrace's."""

    arguments: argparse.Namespace
    servers: Sequence[Server]
    results: Results
    above: int

    def files(self, name: str, workload: Workload, rows: int) -> Files:
        """The workload's files of so many rows, which the results call `name`."""
        separator = settings.SEPARATORS[self.arguments.separator]
        files = files_of(workload, rows, self.arguments.folder / "files", separator)
        self.results.add_workload(name, files)
        return files

    def measure(
        self, cases: Sequence[Case], parts: int = 1, on: Sequence[Server] = (), rounds: int | None = None
    ) -> None:
        """Run the cases in turns on one server after the other, in one of so many equal parts of the time allowed.

        `on`: only on these servers. `rounds`: so many, however long they take and none to warm up, instead of what was
        asked for.
        """
        minutes = self.arguments.minutes and self.arguments.minutes / parts / len(self.servers)
        asked = Turns(self.arguments.rounds, self.arguments.warm_up, minutes)
        turns = Turns(rounds, warm_up=0) if rounds else asked
        for case in cases:
            if isinstance(case.way, Millrace):
                case.way.above = self.above
        for server in on or self.servers:
            turns.measure(server, cases, self.results)
            # What was measured is there, whatever comes later.
            self.results.write(self.arguments.results)

    def report(self) -> Path:
        """Write the results and their report; the report's path."""
        return write_report([self.results.write(self.arguments.results)])


@contextmanager
def comparison(
    kind: str, arguments: argparse.Namespace, baseline: dict[str, str] | None = None
) -> Iterator[Comparison]:
    """Servers and Millrace, up until the end of the `with`; the report can be had later.

    `baseline`: the workload, the way, or both, that ratios are beside; else they are beside raw LOAD DATA.
    """
    state = application.set_up(arguments.folder)
    results = new_results(kind, rounds=arguments.rounds, warm_up=arguments.warm_up, baseline=baseline or {})
    options = settings.server_options(arguments)
    with ExitStack() as stack:
        servers = stack.enter_context(servers_to_measure(arguments.server, arguments.folder / "servers", options))
        for server in servers:
            results.add_server(server)
        yield Comparison(arguments, servers, results, stack.enter_context(application.serving()))
    # Not after an error: its logs are there.
    shutil.rmtree(state)
