"""Compares the processor time of a load that finds a parent's number by its name with one that has the number.

    python -m bench.lookups [--rows 1000000] [--parents 100000] [--runs 3] [--server NAME=mysql://...]

Both loads are in mode append, and alternate (A B A B ...). The table references the parent.
"""

import argparse
import json
import random
import statistics
import tempfile
from operator import truediv
from pathlib import Path

from bench.meter import cpu_of
from bench.modes import load_whole
from bench.servers import Server, servers_to_measure
from importer.engine.load import ledger
from importer.engine.mapping.columns import ColumnMapping, Lookup
from importer.engine.mysql.connection import connect, execute, fetch_row
from importer.engine.plan.options import Options
from importer.engine.preflight.lookups import resolved
from importer.engine.schema.table import read_table

PARENT = "CREATE TABLE team (id INT PRIMARY KEY, name VARCHAR(40) CHARACTER SET utf8mb4 NOT NULL, UNIQUE KEY (name))"
CHILD = (
    "CREATE TABLE orders (id INT PRIMARY KEY, team_id INT NOT NULL, note VARCHAR(40), n INT,"
    " FOREIGN KEY (team_id) REFERENCES team (id))"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", action="append", default=[], metavar="NAME=URL")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parents", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    names = [f"Team number {number * 7919 % 1_000_003}" for number in range(arguments.parents)]
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        paths, parents = write_files(Path(folder), names, arguments.rows)
        with servers_to_measure(arguments.server, Path(folder), ["--innodb-buffer-pool-size=1G"]) as servers:
            for server in servers:
                make_tables(server, names)
                seconds: dict[str, list[float]] = {by: [] for by in paths}
                for number in range(arguments.runs + 1):  # the first round warms up and is not counted
                    for by, path in paths.items():
                        taken = run(server, path, by)
                        assert sum_of_parents(server) == parents, "a row has another parent"
                        if number:
                            seconds[by].append(taken)
                rate = statistics.median(map(truediv, seconds["number"], seconds["name"]))
                print(json.dumps({"server": server.name, "cpu": seconds, "rate": round(rate, 2)}), flush=True)


def write_files(folder: Path, names: list[str], rows: int) -> tuple[dict[str, Path], int]:
    """The same rows with the parents' numbers, and with their names; and the sum of the numbers."""
    dice = random.Random(1)
    parents = [dice.randrange(len(names)) for _ in range(rows)]
    paths = {by: folder / f"{by}.csv" for by in ("number", "name")}
    for by, path in paths.items():
        with path.open("w") as out:
            out.write("id,team,note,n\n")
            for row, parent in enumerate(parents):
                out.write(f"{row},{parent if by == 'number' else names[parent]},some note {row % 1000},{row % 7919}\n")
    return paths, sum(parents)


def sum_of_parents(server: Server) -> int:
    with connect(server.address) as connection:
        return int(fetch_row(connection, "SELECT SUM(team_id) FROM orders")[0])


def make_tables(server: Server, names: list[str]) -> None:
    with connect(server.address) as connection:
        ledger.create(connection)
        execute(connection, "DROP TABLE IF EXISTS orders, team")
        execute(connection, PARENT)
        for low in range(0, len(names), 5000):
            rows = ", ".join(f"({low + at}, '{name}')" for at, name in enumerate(names[low : low + 5000]))
            execute(connection, f"INSERT INTO team VALUES {rows}")


def run(server: Server, path: Path, by: str) -> float:
    """Processor seconds of client and server for the whole file, into an empty table."""
    lookup = Lookup.of("team.name") if by == "name" else None
    mapping = tuple(map(ColumnMapping, ("id", "team_id", "note", "n")))
    mapping = (mapping[0], ColumnMapping("team_id", lookup=lookup), *mapping[2:])
    with connect(server.address) as connection:
        execute(connection, "DROP TABLE IF EXISTS orders")
        execute(connection, CHILD)
        table = read_table(connection, server.address.database, "orders")
        mapping = resolved(connection, table, mapping, is_new=False)
    return cpu_of(server, lambda: load_whole(server.address, path, Options(), "orders", mapping))[0]


if __name__ == "__main__":
    main()
