"""Measures what the command line costs in addition to the load: processor time of `millrace`, in one interleaved run.

    python -m bench.start_up [--rounds 5] [--server NAME=mysql://...]

Prints the medians of user and system time of the command with all its processes (getrusage(2), of children that ended
and were waited for): its help, three rows, and 1,000,000 rows of the workload nodes with all checks. The wall time of
the latter is compared with LOAD DATA LOCAL of pieces over two sessions.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench import settings
from bench.files import Files, files_of
from bench.results import ROOT
from bench.servers import Server, servers_to_measure
from bench.ways import way
from bench.ways.way import empty_tables
from bench.workloads import WORKLOADS
from importer.engine.mysql.connection import connect, execute

MANY_ROWS = 1_000_000
THREE = "id,v\n1,a\n2,b\n3,c\n"
MILLRACE = (sys.executable, "-c", "from importer.management.command_line.main import main; main()")
MANAGE = (sys.executable, "manage.py")


@dataclass
class Case:
    """One thing that is measured. `before` is called before each run, outside its time; both lists are seconds."""

    name: str
    run: Callable[[], float]
    before: Callable[[], None] = lambda: None
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """Run it once more."""
        self.before()
        began = time.monotonic()
        self.cpu.append(self.run())
        self.wall.append(time.monotonic() - began)

    def __str__(self) -> str:
        cpu, wall = statistics.median(self.cpu), statistics.median(self.wall)
        return f"{self.name:<44} {cpu:6.2f} s processor  {wall:6.2f} s wall"


def processor_seconds(command: tuple[str, ...], folder: Path) -> float:
    """User and system time of the command and its children. Raises CalledProcessError if it fails."""
    # Bytecode is kept, as in an installation.
    kept = {"VAR_DIR": str(folder / "var"), "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "pyc")}
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **kept}, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime


def cases(server: Server, files: Files, folder: Path) -> list[Case]:
    """The cases on one server, with its tables made and its target added."""
    name, address = server.name, server.address
    three = folder / "three.csv"
    three.write_text(THREE)
    url = f"mysql://{address.user}:{address.password}@{address.host}:{address.port}/{address.database}"
    processor_seconds((*MANAGE, "target", "add", name, url, "--replace"), folder)
    many = files.whole(files.workload.tables[0])

    def run(*words: str) -> Callable[[], float]:
        return lambda: processor_seconds(words, folder)

    def new_three() -> None:
        with connect(address) as connection:
            execute(connection, "DROP TABLE IF EXISTS three")
            execute(connection, "CREATE TABLE three (id INT PRIMARY KEY, v VARCHAR(20))")

    def new_nodes() -> None:
        empty_tables(server, files.workload, keys=True)

    into = ("--to", name, "--table")
    raw, rows = way("split-2"), f"{files.rows:,} rows, {name}"
    return [
        Case("millrace --help", run(*MILLRACE, "--help")),
        Case(f"millrace load: 3 rows, {name}", run(*MILLRACE, "load", str(three), *into, "three"), new_three),
        Case(
            f"manage.py import_csv: 3 rows, {name}",
            run(*MANAGE, "import_csv", str(three), *into, "three", "--in-process"),
            new_three,
        ),
        Case(f"millrace load: {rows}", run(*MILLRACE, "load", str(many), *into, "nodes"), new_nodes),
        Case(f"raw, two sessions: {rows}", lambda: raw.load(server, files).cpu, new_nodes),
    ]


def main() -> None:
    parser = settings.parser(__doc__)
    arguments = parser.parse_args()
    folder = arguments.folder / "start-up"
    folder.mkdir(parents=True, exist_ok=True)
    files = files_of(WORKLOADS["nodes"], arguments.rows or MANY_ROWS, arguments.folder / "files")
    options = settings.server_options(arguments)
    with servers_to_measure(arguments.server, arguments.folder / "servers", options) as servers:
        processor_seconds((*MANAGE, "prepare"), folder)
        measured = [case for server in servers for case in cases(server, files, folder)]
        for number in range(arguments.warm_up + arguments.rounds):
            if number == arguments.warm_up:
                for case in measured:
                    case.cpu.clear()
                    case.wall.clear()
            for case in measured:
                case.measure()
    print(f"Medians of {arguments.rounds} rounds:")
    for case in measured:
        print(f"  {case}")


if __name__ == "__main__":
    main()
