"""What it costs to keep the rows that an import changes, and whether they come back exactly.

    python -m bench.undo [--rows 1000000] [--server NAME=mysql://...]

A table has all rows of a file, but for a share of them that differ in one column. Mode sync loads the file, once
without and once with undo. Then others change 1,000 rows, and the import is taken back: all other rows must be as they
were before it, and those of the 1,000 that it had changed are named. The engine alone works, as in bench.modes.
"""

import argparse
import json
import tempfile
from functools import partial
from pathlib import Path

from bench.meter import ServerMeter, cpu_of
from bench.modes import TABLE, load_whole
from bench.servers import Server, servers_to_measure
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.engine.target.staging import backup_name
from importer.engine.target.take_back import take_back

OTHERS = 1000
SHARES = (50, 1)  # one row in this number differs
KEY, CHANGED = "id", "version"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", action="append", default=[], metavar="NAME=URL")
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        path = Path(folder) / "rows.csv"
        TABLE.write(path, arguments.rows)
        with servers_to_measure(arguments.server, Path(folder), ["--innodb-buffer-pool-size=1G"]) as servers:
            for server in servers:
                for every in SHARES:
                    result = {"server": server.name, "rows": arguments.rows, "changed": arguments.rows // every}
                    print(json.dumps({**result, **measured(server, path, every)}), flush=True)


def measured(server: Server, path: Path, every: int) -> dict[str, object]:
    """Processor seconds of client and server without and with undo, and of the undo; and what came back."""
    address = server.address
    seconds: dict[str, float] = {}
    for undo in ("none", "keep"):
        prepare(address, path, every)
        before = digest(address)
        options = Options(mode="sync", undo=undo)
        seconds[undo], (_, job, plan) = cpu_of(server, partial(load_whole, address, path, options))
    step = int(str(before[1])) // OTHERS
    numbered = f"SELECT {KEY}, ROW_NUMBER() OVER (ORDER BY {KEY}) AS number FROM {TABLE.name}"
    with connect(address) as connection:
        found = fetch_all(connection, f"SELECT {KEY} FROM ({numbered}) AS n WHERE number % {step} = 0 LIMIT {OTHERS}")
        theirs = f"{KEY} IN ({', '.join(str(key) for (key,) in found)})"
        execute(connection, f"UPDATE {TABLE.name} SET {CHANGED} = {CHANGED} + 100 WHERE {theirs}")
    assert plan.staged
    with ServerMeter(server) as meter:
        told = take_back(address, plan.schema, job, plan.staged, False, lambda _: None)
    assert meter.cost
    with connect(address) as connection:
        # What others have changed, changed back: then everything must be as before, but for the rows that were named.
        execute(connection, f"UPDATE {TABLE.name} SET {CHANGED} = {CHANGED} - 100 WHERE {theirs}")
        named = [int(key) for (key,) in told.first]
        assert len(named) == told.by_others
        for key in named:
            execute(connection, f"UPDATE {TABLE.name} SET {CHANGED} = {CHANGED} + 1 WHERE {KEY} = {key}")
        execute(connection, f"DROP TABLE {backup_name(job)}")
    return {
        "cpu": seconds,
        "times": round(seconds["keep"] / seconds["none"], 2),
        "undo_cpu": meter.cost.cpu,
        "others": len(found),
        "named": told.by_others,
        "exact": digest(address) == before,
    }


def prepare(address: Address, path: Path, every: int) -> None:
    """A table with the file's rows, of which every so manieth differs."""
    with connect(address) as connection:
        ledger.create(connection)
        for (name,) in fetch_all(connection, "SHOW TABLES"):
            if name != ledger.TABLE:
                execute(connection, f"DROP TABLE {name}")
        execute(connection, TABLE.create_sql())
    load_whole(address, path, Options())
    with connect(address) as connection:
        execute(connection, f"UPDATE {TABLE.name} SET {CHANGED} = {CHANGED} + 1 WHERE {KEY} % {every} = 0")


def digest(address: Address) -> tuple[object, ...]:
    """A checksum of the table's rows, and their number."""
    with connect(address) as connection:
        checksum = fetch_all(connection, f"CHECKSUM TABLE {TABLE.name}")[0][1]
        return checksum, fetch_all(connection, f"SELECT COUNT(*) FROM {TABLE.name}")[0][0]


if __name__ == "__main__":
    main()
