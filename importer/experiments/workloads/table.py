"""What a workload is: tables, and the file that goes into each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.source.dialect import Dialect
from importer.experiments.workloads.generators import SeededRandom, Text, lines

SEED = 20261120
# Rows that are made at once. Another number would change the files.
BLOCK_ROWS = 10_000

# The columns of so many rows from a first one (from 0) on; `rows` are those of the whole workload.
Columns = Callable[[SeededRandom, int, int], Sequence[Text]]


@dataclass(frozen=True)
class WorkloadField:
    """A column that the file fills. `hexadecimal`: the file has its bytes as hexadecimal digits."""

    name: str
    type: str
    hexadecimal: bool = False


@dataclass(frozen=True)
class WorkloadTable:
    """One table and how its file is made.

    `keys` are its non-unique keys and `references` its foreign keys, each as CREATE TABLE has it. `own` are definitions
    of columns that the file does not fill, `options` what follows the definitions. Of each `of` rows of a
    workload it has `share`.
    """

    name: str
    fields: tuple[WorkloadField, ...]
    columns: Columns
    primary_key: str = "id"
    keys: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    options: str = "CHARACTER SET utf8mb4"
    share: int = 1
    of: int = 1

    def create_sql(self, *, name: str = "", keys: bool = True, engine: str = "InnoDB") -> str:
        """CREATE TABLE, under another name if one is given, without keys but the primary one if `keys` is False."""
        columns = [f"{each.name} {each.type}" for each in self.fields]
        later = [*self.keys, *self.references] if keys else []
        parts = [*self.own, *columns, f"PRIMARY KEY ({self.primary_key})", *later]
        return f"CREATE TABLE {name or self.name} (\n  " + ",\n  ".join(parts) + f"\n) ENGINE={engine} {self.options}"

    @property
    def add_keys_sql(self) -> tuple[str, ...]:
        """What puts on the keys that create_sql(keys=False) has left out; foreign keys by themselves, as they copy."""
        statements = []
        for definitions in (self.keys, self.references):
            if definitions:
                statements.append(f"ALTER TABLE {self.name} " + ", ".join(f"ADD {each}" for each in definitions))
        return tuple(statements)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the file fills, in its order."""
        return tuple(each.name for each in self.fields)

    @property
    def hexadecimal(self) -> tuple[int, ...]:
        """The positions of fields that have bytes as hexadecimal digits."""
        return tuple(number for number, each in enumerate(self.fields) if each.hexadecimal)

    @property
    def mapping(self) -> tuple[ColumnMapping, ...]:
        """The same for Millrace."""
        return tuple(ColumnMapping(each.name, transforms=("hex",) * each.hexadecimal) for each in self.fields)

    def load_sql(self, path: str, separator: str = ",", *, into: str = "", header: bool = True) -> str:
        """LOAD DATA LOCAL of a file of these rows, into another table if one is given; nothing is checked."""
        variables = [f"@{each.name}" if each.hexadecimal else each.name for each in self.fields]
        assignments = [f"{each.name} = UNHEX(@{each.name})" for each in self.fields if each.hexadecimal]
        return (
            f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {into or self.name} CHARACTER SET utf8mb4"
            f" FIELDS TERMINATED BY '{separator}' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\n'"
            f"{' IGNORE 1 LINES' if header else ''} ({', '.join(variables)})"
            + (f" SET {', '.join(assignments)}" if assignments else "")
        )

    def rows_of(self, rows: int) -> int:
        """This table's part of a workload of so many rows: its share of each whole `of`, and of one at least."""
        return max(1, rows // self.of) * self.share

    def write(self, path: Path, rows: int, separator: str = ",") -> None:
        """Make the file: a header and so many rows. The same bytes for the same arguments, wherever it runs."""
        with path.open("wb") as out:
            out.write(separator.join(self.names).encode() + b"\n")
            for block, first in enumerate(range(0, rows, BLOCK_ROWS)):
                out.write(lines([column[: rows - first] for column in self._block(block)], separator))

    def bytes_of(self, rows: int) -> int:
        """About what its file of so many rows takes, by the first block; later ones have longer numbers."""
        return len(lines(self._block(0), ",")) * rows // BLOCK_ROWS

    def _block(self, number: int) -> Sequence[Text]:
        """The columns of a whole block, however many of its rows are wanted: a longer file begins with the shorter."""
        return self.columns(SeededRandom(SEED, number, *self.name.encode()), number * BLOCK_ROWS, BLOCK_ROWS)


@dataclass(frozen=True)
class Workload:
    """One or more tables that are loaded one after the other.

    `rows` are those of a usual run and `full_rows` those of the measurement that it is made after, of all tables
    together; `row_bytes` is about what a row takes in its file.
    """

    name: str
    title: str
    tables: tuple[WorkloadTable, ...]
    rows: int
    full_rows: int
    row_bytes: int

    @property
    def files(self) -> str:
        """What its files are called: kinds of one workload, such as `partitioned-1` and `partitioned-8`, share them."""
        return self.name.partition("-")[0]

    @property
    def has_keys(self) -> bool:
        """Whether it matters when the keys are put on."""
        return any(table.keys or table.references for table in self.tables)


def dialect_of(separator: str) -> Dialect:
    """How a workload's file is read."""
    return Dialect(delimiter=separator)
