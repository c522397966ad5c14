"""Runs the published experiments on private servers and writes their reports to docs/experiments.

    python -m bench.experiments methods bulks partitions naive --size full --repeats 1 --no-warm-up --report FOLDER
    python -m bench.experiments records --size 2000000 --repeats 3 --no-warm-up --way "*own server*"
    python -m bench.experiments --judge                   only judge the recorded measurements again

Each one runs as `millrace experiment run` does (docs/lab.md); servers of its own are of the program that the measured
one runs. `millrace experiment list` estimates the time.
"""

import argparse
import os
import shutil
import time
from pathlib import Path

from bench import application, settings
from bench.experiments.experiment import FULL
from bench.experiments.published.registry import EXPERIMENTS
from bench.servers import servers_to_measure
from importer.management.terminal.follow.held_ctrl_c import HeldCtrlC

LONGEST_WAIT = 300  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="*", metavar="NAME", help=", ".join(EXPERIMENTS))
    parser.add_argument("--judge", action="store_true", help="measure nothing; write all pages from the records")
    settings.add_servers(parser)
    parser.add_argument("--size", default=FULL, metavar="small|full|ROWS")
    parser.add_argument("--way", action="append", default=[], help="only these ways; * stands for any text")
    parser.add_argument("--repeats", type=int, default=3, help="rounds that count")
    parser.add_argument("--no-warm-up", action="store_true", help="count the first round, too")
    parser.add_argument("--folder", type=settings.absolute, default=settings.var(), help="folder for the servers' data")
    parser.add_argument("--report", type=Path, default=Path("docs/experiments"), help="folder for reports and charts")
    arguments = parser.parse_args()
    if unknown := set(arguments.experiments) - set(EXPERIMENTS):
        parser.error(f"There is no experiment {', '.join(sorted(unknown))}.")
    if not arguments.experiments and not arguments.judge:
        parser.error("Name an experiment, or give --judge.")
    # From here on SIGTERM and SIGHUP interrupt as Ctrl-C does, so that no server is left.
    HeldCtrlC().release()
    state = application.set_up(arguments.folder)
    try:
        _run(arguments)
    finally:
        shutil.rmtree(state)


def _run(arguments: argparse.Namespace) -> None:
    from django.core.management import call_command

    from bench.experiments.claims import write_pages

    call_command("migrate", interactive=False, verbosity=0)
    if arguments.experiments:
        _measure(arguments)
    write_pages(arguments.report)


def _measure(arguments: argparse.Namespace) -> None:
    from django.core.management import call_command

    server_options = settings.server_options(arguments)
    with servers_to_measure(arguments.server, arguments.folder / "servers", server_options) as servers:
        # Private servers are of the programs of Server.program(), by name: reports have no path of this machine.
        os.environ["PATH"] = f"{arguments.folder}{os.pathsep}{os.environ['PATH']}"
        for name in arguments.experiments:
            for server in servers:
                _wait_until_quiet()
                options = ["--target", application.saved_target(server).name, "--size", arguments.size]
                options += ["--repeats", str(arguments.repeats), "--report", str(arguments.report)]
                if program := server.program(arguments.folder):
                    options += ["--server-program", program.name]
                ways = [word for each in arguments.way for word in ("--way", each)]
                call_command("experiment", "run", name, *options, *ways, *["--no-warm-up"] * arguments.no_warm_up)


def _wait_until_quiet() -> None:
    """Wait until a report would not call this machine busy, at most LONGEST_WAIT."""
    from bench.experiments.outcome import StartState

    until = time.monotonic() + LONGEST_WAIT
    while StartState().busy and time.monotonic() < until:
        time.sleep(1)


if __name__ == "__main__":
    main()
