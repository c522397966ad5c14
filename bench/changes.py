"""Changes rows behind the loader's back, one change at a time, and checks that full verification finds and names each.

    python -m bench.changes --server mysql://root@127.0.0.1:3306/ --changes 1000

A chunk of --rows rows is loaded, then each change is made in its transaction, found, and undone, so that one load
serves all changes. Prints how many changes of each kind were found; the first one that is not ends it.
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import settings
from bench.servers import servers_to_measure
from bench.workloads import INDEXED, NODES
from bench.workloads.table import SEED, WorkloadTable
from importer.engine.errors import RowsRefused
from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.load.readback import numbered_rows
from importer.engine.load.readback.compare import read_back
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.readback import Readback
from importer.engine.schema.table import read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import scan
from importer.engine.source.dialect import RFC4180

DIALECT = replace(RFC4180, header=False)
SAVEPOINT = "millrace_unchanged"
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Change:
    """Statements that change rows, and the line of the file whose value differs first; 0 if it is behind the last."""

    kind: str
    statements: Sequence[str]
    line: int


@dataclass(frozen=True)
class Rows:
    """The rows of a table that were loaded: each as `values` of the file, and the `numbers` that identify them."""

    table: WorkloadTable
    number: str
    numbers: Sequence[int]
    values: Sequence[Sequence[str]]
    chance: random.Random

    def changes(self, count: int) -> Iterator[Change]:
        """This number of changes, of each kind in turn."""
        kinds = [self._byte, self._swap, self._missing, self._copied]
        if self.number not in self.table.names:
            kinds.append(self._twice)
        for at in range(count):
            yield kinds[at % len(kinds)]()

    def _byte(self) -> Change:
        """One character of a text, or the last digit of a number or time, is another one."""
        row, column = self._row(), self._column()
        value = self.values[row][column]
        if value.replace(".", "").lstrip("-").isdigit() or value[:4].isdigit():
            changed = value[:-1] + str((int(value[-1]) + 1) % 10)
        else:
            at = self.chance.randrange(len(value))
            changed = value[:at] + self.chance.choice(ALPHABET.replace(value[at].lower(), "")) + value[at + 1 :]
        return Change("a byte", [self._update(row, {column: changed})], row + 1)

    def _swap(self) -> Change:
        """Two rows have each other's value in a column."""
        column = self._column()
        while True:
            one, other = sorted((self._row(), self._row()))
            if self.values[one][column] != self.values[other][column]:
                break
        values = {one: self.values[other][column], other: self.values[one][column]}
        return Change("exchanged", [self._update(row, {column: value}) for row, value in values.items()], one + 1)

    def _missing(self) -> Change:
        row = self._row()
        return Change("missing", [f"DELETE FROM {self.table.name} {self._where(row)}"], row + 1)

    def _copied(self) -> Change:
        """A row has all the values of another one, but its key."""
        row, other = self._row(), self._row()
        while other == row:
            other = self._row()
        columns = [at for at, name in enumerate(self.table.names) if name != self.number]
        return Change("a copy", [self._update(row, {at: self.values[other][at] for at in columns})], row + 1)

    def _twice(self) -> Change:
        """A row is there twice or four times."""
        row = self._row()
        names = ", ".join(map(quote_name, self.table.names))
        again = f"INSERT INTO {self.table.name} ({names}) SELECT {names} FROM {self.table.name} {self._where(row)}"
        return Change("twice or more", [again] * self.chance.choice((1, 3)), 0)

    def _row(self) -> int:
        return self.chance.randrange(len(self.values))

    def _column(self) -> int:
        return self.chance.choice([at for at, name in enumerate(self.table.names) if name != self.number])

    def _where(self, row: int) -> str:
        return f"WHERE {self.number} = {self.numbers[row]}"

    def _update(self, row: int, values: dict[int, str]) -> str:
        changed = ", ".join(f"{quote_name(self.table.names[at])} = '{value}'" for at, value in values.items())
        return f"UPDATE {self.table.name} SET {changed} {self._where(row)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    settings.add_servers(parser)
    parser.add_argument("--changes", type=int, default=1000, help="for each table and server")
    parser.add_argument("--rows", type=int, default=3000, help="rows of the chunk")
    arguments = parser.parse_args()
    with servers_to_measure(arguments.server, settings.var(), settings.server_options(arguments)) as servers:
        for server in servers:
            for workload in (NODES, INDEXED):
                (table,) = workload.tables
                found = check(server.address, table, arguments.rows, arguments.changes)
                kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.items())
                print(f"{server.name}, {table.name}: found and named {found.total():,} changes ({kinds})", flush=True)


def check(address: Address, table: WorkloadTable, rows: int, changes: int) -> Counter[str]:
    """How many changes of each kind were found. Raises AssertionError for one that is not found or named wrongly."""
    with TemporaryDirectory() as folder, connect(address) as connection:
        path = Path(folder, "rows.csv")
        table.write(path, rows)
        data = path.read_bytes()
        path.write_bytes(data[data.index(b"\n") + 1 :])
        readback = _loaded(connection, address, table, path)
        number = readback.numbered_by or readback.key[0]
        numbers = [row[0] for row in fetch_all(connection, f"SELECT {number} FROM {table.name} ORDER BY {number}")]
        values = [line.split(",") for line in path.read_text().splitlines()]
        loaded = Rows(table, number, numbers, values, random.Random(SEED))
        with open_source(path) as fd:
            size = path.stat().st_size
            [chunk] = scan(fd, DIALECT, ChunkSizes(size), end=size)
            source = ChunkRows(ChunkSource(fd, path, chunk, DIALECT))
            return _found(connection, readback, source, loaded.changes(changes))


def _loaded(connection: Connection, address: Address, table: WorkloadTable, path: Path) -> Readback:
    """Load the file into a new table, in a transaction that stays open."""
    execute(connection, f"DROP TABLE IF EXISTS {table.name}")
    execute(connection, table.create_sql())
    described = read_table(connection, address.database, table.name)
    readback = Readback.by_number(described, table.mapping, "reject", table.names) or Readback.of(
        described, table.mapping, "reject"
    )
    execute(connection, "SET autocommit = 0")
    if readback.numbered_by:
        numbered_rows.begin(connection, readback, locked=False)
    names = ", ".join(map(quote_name, table.names))
    lines = path.read_text().splitlines()
    for low in range(0, len(lines), 1000):
        rows = ", ".join("('" + "', '".join(line.split(",")) + "')" for line in lines[low : low + 1000])
        execute(connection, f"INSERT INTO {table.name} ({names}) VALUES {rows}")
    return readback


def _found(connection: Connection, readback: Readback, source: ChunkRows, changes: Iterator[Change]) -> Counter[str]:
    found: Counter[str] = Counter()
    execute(connection, f"SAVEPOINT {SAVEPOINT}")
    assert _named_line(connection, readback, source) is None, "nothing is changed yet"
    for change in changes:
        for each in change.statements:
            execute(connection, each)
        line = _named_line(connection, readback, source)
        assert line == (change.line or len(source)), f"{change} is named as line {line}"
        execute(connection, f"ROLLBACK TO SAVEPOINT {SAVEPOINT}")
        found[change.kind] += 1
    return found


def _named_line(connection: Connection, readback: Readback, source: ChunkRows) -> int | None:
    """The line that the refusal names first, None if nothing is found."""
    try:
        read_back(connection, readback, DIALECT, source, len(readback.readings))
    except RowsRefused as refused:
        return refused.rows[0].line
    return None


if __name__ == "__main__":
    main()
