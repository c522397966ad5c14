"""Command-line options that all comparisons have."""

import argparse
import os
from pathlib import Path

from bench.experiments.variants import most_pool
from bench.workloads import Workload
from importer.management.argument_types import size

SEPARATORS = {"comma": ",", "tab": "\t"}
# The largest buffer pool of a private server, in bytes.
MOST_POOL = 4 * 2**30


def parser(description: str | None, epilog: str = "") -> argparse.ArgumentParser:
    """A parser with the options for servers, size, rounds and folders."""
    parser = argparse.ArgumentParser(
        description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_servers(parser)
    much = parser.add_argument_group("how much")
    much.add_argument("--rows", type=int, help="rows of each workload, all its tables together")
    much.add_argument("--size", type=size, help="approximate size of each workload's files, such as 1G")
    much.add_argument("--full", action="store_true", help="as many rows as the published measurements")
    much.add_argument("--separator", choices=SEPARATORS, default="comma", help="separator between fields")
    often = parser.add_argument_group("how often")
    often.add_argument("--rounds", type=int, default=5, help="rounds that count")
    often.add_argument("--warm-up", type=int, default=1, metavar="ROUNDS", help="rounds that do not count")
    often.add_argument(
        "--minutes",
        type=float,
        help="start no round that would end later; the time is shared equally by servers and workloads",
    )
    where = parser.add_argument_group("where")
    where.add_argument("--folder", type=absolute, default=var(), help="for files and servers, kept for the next run")
    where.add_argument("--results", type=absolute, default=var() / "results", help="for JSON, Markdown and SVG")
    return parser


def add_servers(parser: argparse.ArgumentParser) -> None:
    """Add the options for servers."""
    servers = parser.add_argument_group("servers")
    servers.add_argument("--server", action="append", default=[], metavar="NAME=mysql://USER:PASSWORD@HOST:PORT/",
                         help="a server to measure (repeat for more); default: private servers")  # fmt: skip
    servers.add_argument("--buffer-pool", type=size, default=usual_pool(), metavar="SIZE",
                         help="of private servers; default: a quarter of the memory, at most 4G")  # fmt: skip
    servers.add_argument("--server-option", action="append", default=[], metavar="--OPTION=VALUE",
                         help="for private servers, such as --server-option=--innodb-doublewrite=0")  # fmt: skip


def var() -> Path:
    """The default folder for files and results."""
    return absolute(os.environ.get("VAR_DIR", "var")) / "bench"


def absolute(path: str) -> Path:
    """The path made absolute, because servers run in another folder."""
    return Path(path).resolve()


def server_options(arguments: argparse.Namespace) -> list[str]:
    """The command line options of private servers."""
    return [f"--innodb-buffer-pool-size={arguments.buffer_pool}", *arguments.server_option]


def rows_of(workload: Workload, arguments: argparse.Namespace) -> int:
    """The number of rows of a workload that the options ask for."""
    if arguments.full:
        return workload.full_rows
    if arguments.size:
        return max(1, int(arguments.size) // workload.row_bytes)
    return int(arguments.rows or workload.rows)


def usual_pool() -> int:
    """The buffer pool of a private server, in bytes: that of an experiment, but at most MOST_POOL."""
    return min(MOST_POOL, most_pool())
