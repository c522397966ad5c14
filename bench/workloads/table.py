"""A workload: tables, and how the file for each is generated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.workloads.generators import SeededRandom, Text, lines
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.source.dialect import Dialect

SEED = 20261120
# Rows that are generated at a time. Another number would change the files.
BLOCK_ROWS = 10_000

# Generates columns: takes the random values, the number of the first row (from 0), and the number of rows.
Columns = Callable[[SeededRandom, int, int], Sequence[Text]]


@dataclass(frozen=True)
class TableForm:
    """How a table is created: its engine and row format, with its keys and foreign keys or without.

    `primary_key` False: without that, too (CSV tables have no keys).
    """

    engine: str = "InnoDB"
    row_format: str = ""
    keys: bool = True
    primary_key: bool = True


USUAL, WITHOUT_KEYS = TableForm(), TableForm(keys=False)
MYISAM = TableForm("MyISAM")


@dataclass(frozen=True)
class WorkloadField:
    """A column that the file fills. `hexadecimal`: the file has its bytes as hexadecimal digits."""

    name: str
    type: str
    hexadecimal: bool = False


@dataclass(frozen=True)
class WorkloadTable:
    """One table and how its file is generated.

    `keys` are its non-unique keys and `references` its foreign keys, each as CREATE TABLE has it. `own`: definitions of
    columns that the file does not fill. `options`: the table options of CREATE TABLE. The table has `share` of each
    `of` rows of a workload.
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

    def create_sql(self, *, name: str = "", form: TableForm = USUAL) -> str:
        """The CREATE TABLE statement; `name` replaces the table's own."""
        columns = [f"{each.name} {each.type}" for each in self.fields]
        key = [f"PRIMARY KEY ({self.primary_key})"] if form.primary_key else []
        later = [*self.keys, *self.references] if form.keys else []
        options = f"ENGINE={form.engine} {self.options}" + (f" ROW_FORMAT={form.row_format}" if form.row_format else "")
        parts = [*self.own, *columns, *key, *later]
        return f"CREATE TABLE {name or self.name} (\n  " + ",\n  ".join(parts) + f"\n) {options}"

    @property
    def add_keys_sql(self) -> tuple[str, ...]:
        """Statements that add the keys left out by create_sql() without them.

        Foreign keys have a statement of their own, because adding them copies the table.
        """
        statements = []
        for definitions in (self.keys, self.references):
            if definitions:
                statements.append(f"ALTER TABLE {self.name} " + ", ".join(f"ADD {each}" for each in definitions))
        return tuple(statements)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the file fills, in the order of its fields."""
        return tuple(each.name for each in self.fields)

    @property
    def hexadecimal(self) -> tuple[int, ...]:
        """The positions of fields whose bytes the file has as hexadecimal digits."""
        return tuple(number for number, each in enumerate(self.fields) if each.hexadecimal)

    @property
    def mapping(self) -> tuple[ColumnMapping, ...]:
        """The mapping of the fields for an import."""
        return tuple(ColumnMapping(each.name, transforms=("hex",) * each.hexadecimal) for each in self.fields)

    def load_sql(
        self,
        path: str,
        separator: str = ",",
        line_end: str = "\n",
        *,
        into: str = "",
        header: bool = True,
        local: bool = True,
    ) -> str:
        """The LOAD DATA statement for the table's file, without checks; `into` replaces the table's own name."""
        end = line_end.replace("\n", "\\n")
        variables = [f"@{each.name}" if each.hexadecimal else each.name for each in self.fields]
        assignments = [f"{each.name} = UNHEX(@{each.name})" for each in self.fields if each.hexadecimal]
        return (
            f"LOAD DATA{' LOCAL' * local} INFILE '{path}' INTO TABLE {into or self.name} CHARACTER SET utf8mb4"
            f" FIELDS TERMINATED BY '{separator}' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '{end}'"
            f"{' IGNORE 1 LINES' if header else ''} ({', '.join(variables)})"
            + (f" SET {', '.join(assignments)}" if assignments else "")
        )

    def rows_of(self, rows: int) -> int:
        """This table's part of a workload of `rows` rows: `share` for each whole `of`, at least one `share`."""
        return max(1, rows // self.of) * self.share

    def write(self, path: Path, rows: int, separator: str = ",") -> None:
        """Write the file: a header and `rows` rows. The same arguments give the same bytes on every machine."""
        with path.open("wb") as out:
            out.write(separator.join(self.names).encode() + b"\n")
            for block, first in enumerate(range(0, rows, BLOCK_ROWS)):
                out.write(lines([column[: rows - first] for column in self._block(block)], separator))

    def write_inserts(self, path: Path, rows: int) -> None:
        """Write the same rows as SQL: an INSERT statement in a line for each. Only for values without quotes."""
        assert not self.hexadecimal
        into = f"INSERT INTO {self.name} ({', '.join(self.names)}) VALUES ('"
        with path.open("w") as out:
            for block, first in enumerate(range(0, rows, BLOCK_ROWS)):
                text = lines([column[: rows - first] for column in self._block(block)], "\t").decode()
                out.writelines(into + "', '".join(each.split("\t")) + "');\n" for each in text.splitlines())

    def bytes_of(self, rows: int) -> int:
        """The estimated bytes of a file of `rows` rows, from the first block; later blocks have longer numbers."""
        return len(lines(self._block(0), ",")) * rows // BLOCK_ROWS

    def _block(self, number: int) -> Sequence[Text]:
        """The columns of a whole block, so that a longer file begins with the bytes of a shorter one."""
        return self.columns(SeededRandom(SEED, number, *self.name.encode()), number * BLOCK_ROWS, BLOCK_ROWS)


@dataclass(frozen=True)
class Workload:
    """One or more tables that are loaded one after the other.

    `rows` (a usual run) and `full_rows` (the published measurement) count the rows of all tables together. `row_bytes`
    is the approximate size of a row in its file.
    """

    name: str
    title: str
    tables: tuple[WorkloadTable, ...]
    rows: int
    full_rows: int
    row_bytes: int

    @property
    def files(self) -> str:
        """The name of its files. Variants of a workload, such as `partitioned-1` and `partitioned-8`, share them."""
        return self.name.partition("-")[0]

    @property
    def has_keys(self) -> bool:
        """Whether any table has keys that could be added after the load."""
        return any(table.keys or table.references for table in self.tables)


def dialect_of(separator: str) -> Dialect:
    """The dialect of a workload's file."""
    return Dialect(delimiter=separator)
