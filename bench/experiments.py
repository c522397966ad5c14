"""The published experiments, one after another on private servers, with the reports that docs/experiments keeps.

    python -m bench.experiments methods bulks partitions naive --size full --repeats 1 --no-warm-up
    python -m bench.experiments records --size 5000000 --repeats 3

Each is what `manage.py experiment run` runs (docs/lab.md). How long they may take: `manage.py experiment list`.
"""

import argparse
import shutil
import time
from pathlib import Path

from bench import application, settings
from bench.servers import servers_to_measure
from importer.experiments.experiment import FULL
from importer.experiments.published.registry import EXPERIMENTS

LONGEST_WAIT = 300  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="+", choices=EXPERIMENTS, metavar="NAME", help=", ".join(EXPERIMENTS))
    settings.add_servers(parser)
    parser.add_argument("--size", default=FULL, metavar="small|full|ROWS")
    parser.add_argument("--repeats", type=int, default=3, help="rounds that count")
    parser.add_argument("--no-warm-up", action="store_true", help="let the first round count, too")
    parser.add_argument("--folder", type=settings.absolute, default=settings.var(), help="for the servers' data")
    parser.add_argument("--report", type=Path, default=Path("docs/experiments"), help="where reports and charts go")
    _run(parser.parse_args())


def _run(arguments: argparse.Namespace) -> None:
    state = application.set_up(arguments.folder)
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    options = settings.server_options(arguments)
    with servers_to_measure(arguments.server, arguments.folder / "servers", options) as servers:
        for name in arguments.experiments:
            for server in servers:
                _wait_until_quiet()
                asked = ["--target", application.saved_target(server).name, "--size", arguments.size]
                asked += ["--repeats", str(arguments.repeats), "--report", str(arguments.report)]
                call_command("experiment", "run", name, *asked, *["--no-warm-up"] * arguments.no_warm_up)
    shutil.rmtree(state)


def _wait_until_quiet() -> None:
    """Return when a report would not call this machine busy with what the one before has left, or after a while."""
    from importer.experiments.outcome import StartState

    until = time.monotonic() + LONGEST_WAIT
    while StartState().busy and time.monotonic() < until:
        time.sleep(1)


if __name__ == "__main__":
    main()
