"""The arguments of `millrace experiment`.

Importing this module does not import the experiments: the help needs none of them.
"""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from importer.engine.errors import Problem
from importer.lab.commands import MOST_REPEATS, REPEATS
from importer.management.argument_types import bounded


def add_arguments(parser: ArgumentParser) -> None:
    """Add the verbs with their arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|run")
    verbs.add_parser("list", help="the published measurements, with rows and times")
    _add_run(verbs.add_parser("run", help="repeat one of them"))


def _add_run(parser: ArgumentParser) -> None:
    parser.add_argument("name", type=_known, metavar="NAME", help="an experiment of `millrace experiment list`")
    parser.add_argument("--target", required=True, metavar="NAME", help="scratch tables are made in its database")
    parser.add_argument("--size", default="small", metavar="small|full|ROWS", help="full: as many rows as the article")
    parser.add_argument(
        "--repeats", type=bounded(1, MOST_REPEATS), default=REPEATS, metavar="N", help="rounds that count"
    )
    parser.add_argument("--no-warm-up", dest="warm_up", action="store_false", help="let the first round count, too")
    parser.add_argument("--seed", type=bounded(0, 2**31 - 1), metavar="N", help="the same seed gives the same order")
    parser.add_argument("--during-imports", action="store_true", help="do not wait while imports run on the target")
    parser.add_argument(
        "--way",
        action="append",
        default=[],
        metavar="PATTERN",
        help="run these ways only (* and ? fit any text), and what they are compared with; repeat for more",
    )
    parser.add_argument(
        "--server-program",
        default="",
        metavar="PATH",
        help="mysqld or mariadbd for ways on a private server; default: the one on this machine",
    )
    parser.add_argument("--report", type=Path, metavar="DIR", help="write the report and its chart there")


def _known(name: str) -> str:
    from bench.experiments.published.registry import experiment_named  # with numpy and all workloads

    try:
        return experiment_named(name).name
    except Problem as problem:
        raise ArgumentTypeError(str(problem)) from problem
