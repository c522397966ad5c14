"""What every comparison asks on its command line."""

import argparse
import os
from pathlib import Path

from importer.experiments.workloads import Workload
from importer.management.argument_types import size

SEPARATORS = {"comma": ",", "tab": "\t"}
# Of the memory of this machine, for the buffer pool of a server that is started: at most so much, and such a part.
MOST_POOL = 4 * 2**30
PART_OF_MEMORY = 4


def parser(description: str | None, epilog: str = "") -> argparse.ArgumentParser:
    """A parser that asks which servers, how much, how often, and where to."""
    made = argparse.ArgumentParser(
        description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_servers(made)
    much = made.add_argument_group("how much")
    much.add_argument("--rows", type=int, help="of each workload, all its tables together")
    much.add_argument("--size", type=size, help="of each workload's files, about, such as 1G")
    much.add_argument("--full", action="store_true", help="as many rows as the measurements that are repeated here had")
    much.add_argument("--separator", choices=SEPARATORS, default="comma", help="between fields")
    often = made.add_argument_group("how often")
    often.add_argument("--rounds", type=int, default=5, help="that count")
    often.add_argument("--warm-up", type=int, default=1, metavar="ROUNDS", help="that do not count")
    often.add_argument(
        "--minutes", type=float, help="begin no round that would end later, in equal parts for each server and workload"
    )
    where = made.add_argument_group("where")
    where.add_argument("--folder", type=absolute, default=var(), help="for files and servers, kept for the next time")
    where.add_argument("--results", type=absolute, default=var() / "results", help="for JSON, Markdown and PNG")
    return made


def add_servers(parser: argparse.ArgumentParser) -> None:
    """Ask which servers."""
    servers = parser.add_argument_group("servers")
    servers.add_argument("--server", action="append", default=[], metavar="NAME=mysql://USER:PASSWORD@HOST:PORT/",
                         help="measure this one (repeat for more); without, private ones are started")  # fmt: skip
    servers.add_argument("--buffer-pool", type=size, default=usual_pool(), metavar="SIZE",
                         help="of private servers, such as 4G or 128M (a quarter of memory, at most 4G)")  # fmt: skip
    servers.add_argument("--server-option", action="append", default=[], metavar="--OPTION=VALUE",
                         help="for private servers, such as --server-option=--innodb-doublewrite=0")  # fmt: skip


def var() -> Path:
    """Where comparisons keep what they make, if nothing else is said."""
    return absolute(os.environ.get("VAR_DIR", "var")) / "bench"


def absolute(path: str) -> Path:
    """The same folder for the servers, which do not run in this one."""
    return Path(path).resolve()


def server_options(arguments: argparse.Namespace) -> list[str]:
    """The command line options of private servers."""
    return [f"--innodb-buffer-pool-size={arguments.buffer_pool}", *arguments.server_option]


def rows_of(workload: Workload, arguments: argparse.Namespace) -> int:
    """How many rows to make of a workload."""
    if arguments.full:
        return workload.full_rows
    if arguments.size:
        return max(1, arguments.size // workload.row_bytes)
    return arguments.rows or workload.rows


def usual_pool() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(MOST_POOL, memory // PART_OF_MEMORY)
