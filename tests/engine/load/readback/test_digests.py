"""Digests of file and table: equal for values that arrived, different for every change, and unknown where declared."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from importer.engine.errors import BadRow, RowsRefused
from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.load.readback import compare, digest_comparison, digest_sql
from importer.engine.load.readback.canonical_forms import unknown_columns
from importer.engine.load.readback.compare import read_back
from importer.engine.load.readback.digest_comparison import DigestComparison
from importer.engine.load.readback.expected_rows import texts as row_texts
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, Connection, connect, execute
from importer.engine.native import loader
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.planner.reasons.verification import DIGEST_COST, verification_reasons
from importer.engine.schema.charsets import WITH_ASCII
from importer.engine.schema.table import Column, read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import scan
from importer.engine.source.dialect import MYSQL_TSV, Dialect
from tests.engine.loads import rows_of

pytestmark = [pytest.mark.skipif(not loader.library(), reason="digests need the C library"), pytest.mark.both_servers]

PLAIN = Dialect(delimiter=";", header=False)
CHANCE = random.Random(34)


def whole(low: int, high: int) -> str:
    """A whole number in one of the notations that the server takes as it is."""
    number = CHANCE.choice([low, high, 0, CHANCE.randint(low, high), CHANCE.randint(-9, 9) if low else 7])
    return CHANCE.choice(["", "", "+" if number >= 0 else ""]) + str(number) + CHANCE.choice(["", "", ".0"])


def decimal(whole_digits: int, scale: int) -> str:
    """A number with at most these digits before and after its point."""
    digits = "".join(CHANCE.choices("0123456789", k=CHANCE.randint(1, whole_digits)))
    part = "".join(CHANCE.choices("0123456789", k=CHANCE.randint(0, scale)))
    return CHANCE.choice(["", "-"]) + digits + (f".{part}" if part else "") + CHANCE.choice(["", "0" if part else ""])


def double() -> str:
    """A number of at most 15 digits, perhaps with zeros at its end."""
    part = CHANCE.randint(0, 13)
    return f"{CHANCE.randint(-(10 ** (14 - part)) + 1, -1)}.{CHANCE.randint(0, 10**part - 1)}00"


def day() -> str:
    month, date = CHANCE.randint(1, 12), CHANCE.randint(1, 28)
    return f"{CHANCE.randint(1971, 2037)}-{month:{CHANCE.choice(['', '02'])}}-{date:{CHANCE.choice(['', '02'])}}"


def moment(scale: int) -> str:
    clock = f"{CHANCE.randint(0, 23):02}:{CHANCE.randint(0, 59):02}"
    second = f":{CHANCE.randint(0, 59):02}"
    fraction = "." + "".join(CHANCE.choices("0123456789", k=CHANCE.randint(1, scale))) if scale else ""
    return CHANCE.choice([f"{day()} {clock}{second}{fraction}", f"{day()}T{clock}{second}", f"{day()} {clock}"])


def clock(scale: int) -> str:
    text = f"{CHANCE.choice(['', '-'])}{CHANCE.randint(1, 838)}:{CHANCE.randint(0, 59):02}:{CHANCE.randint(0, 58):02}"
    return text + (f".{CHANCE.randint(0, 10**scale - 1):0{scale}}" if scale else "")


def text(letters: str, most: int) -> str:
    return "".join(CHANCE.choices(letters, k=CHANCE.randint(0, most)))


LETTERS = 'abc ,"#\\0Nü€漢\N{WATER WAVE}\t\nxyz'
LATIN = 'abc ,"#\\0Nüéß€'
# By the type of a column: values as files have them.
TYPES = {
    "TINYINT": lambda: whole(-128, 127),
    "INT UNSIGNED": lambda: whole(0, 2**32 - 1),
    "BIGINT": lambda: whole(-(2**63), 2**63 - 1),
    "BIGINT UNSIGNED": lambda: whole(0, 2**64 - 1),
    "DECIMAL(9,7)": lambda: decimal(2, 7),
    "DECIMAL(65,30)": lambda: decimal(35, 30),
    "DECIMAL(20)": lambda: decimal(20, 0),
    "DOUBLE": lambda: CHANCE.choice([double(), "-0.0001200", "0.0", "+5", "007.250", repr(CHANCE.uniform(-180, 180))]),
    "DATE": day,
    "DATETIME": lambda: moment(0),
    "DATETIME(3)": lambda: moment(3),
    "TIMESTAMP(6)": lambda: moment(6),
    "TIME": lambda: clock(0),
    "TIME(2)": lambda: clock(2),
    "YEAR": lambda: str(CHANCE.randint(1901, 2155)),
    "VARCHAR(40)": lambda: text(LETTERS, 40),
    "CHAR(40)": lambda: text(LETTERS, 40),
    "TEXT CHARACTER SET latin1": lambda: text(LATIN, 90),
    "VARCHAR(60) CHARACTER SET utf16": lambda: text(LETTERS, 60),
    "ENUM('red','blün')": lambda: CHANCE.choice(["red", "blün"]),
    "SET('a','b','ü')": lambda: CHANCE.choice(["a", "a,b", "b,ü", ""]),
    "VARBINARY(50)": lambda: text(LETTERS, 12),
    "BINARY(200)": lambda: text(LETTERS, 50).rstrip("\0"),
    "BLOB": lambda: text(LETTERS, 70),
    "BIT(16)": lambda: text("azü", 1),
}


def in_quotes(value: str | None) -> str:
    return "NA" if value is None else '"' + value.replace('"', '""') + '"'


def escaped(value: str | None) -> str:
    return r"\N" if value is None else re.sub("([\\\\\n\r\t\0])", lambda each: _ESCAPES[each[0]], value)


_ESCAPES = {"\\": r"\\", "\n": "\\\n", "\r": r"\r", "\t": r"\t", "\0": r"\0"}
WRITERS = {PLAIN: in_quotes, replace(MYSQL_TSV, line_end="\r\n"): escaped}


@dataclass
class Table:
    """Table t on a connection whose transaction has not ended, and the rows of a file that it was filled with."""

    connection: Connection
    readback: Readback
    folder: Path
    rows: Sequence[Sequence[str | None]]
    # The lines whose values were compared one by one.
    compared: list[int] = field(default_factory=list)

    @contextmanager
    def file(self, dialect: Dialect = PLAIN) -> Iterator[ChunkRows]:
        """The rows of a file in this dialect, all of them in one chunk."""
        path = self.folder / "file.csv"
        lines = (dialect.delimiter.join(map(WRITERS[dialect], row)) + dialect.line_end for row in self.rows)
        path.write_bytes("".join(lines).encode())
        with open_source(path) as fd:
            [chunk] = scan(fd, dialect, ChunkSizes(2**30), end=path.stat().st_size)
            yield ChunkRows(ChunkSource(fd, path, chunk, dialect))

    def comparison(self, rows: ChunkRows, dialect: Dialect = PLAIN) -> DigestComparison:
        return DigestComparison.of(self.connection, self.readback, dialect, rows, len(self.rows[0]))

    def different(self) -> list[BadRow]:
        """The differences that reading back finds."""
        try:
            with self.file() as rows:
                read_back(self.connection, self.readback, PLAIN, rows, len(self.rows[0]))
        except RowsRefused as refused:
            return list(refused.rows)
        return []


@pytest.fixture
def filled(database: Address, tmp_path: Path) -> Iterator[Callable[..., Table]]:
    """A function that makes table t with a key `id` and columns c0, c1... of these types, and fills it."""
    with connect(database) as connection:
        execute(connection, "SET sql_mode = 'STRICT_ALL_TABLES'")

        def fill(types: Sequence[str], rows: Sequence[Sequence[str | None]]) -> Table:
            names = [f"c{number}" for number in range(len(types))]
            columns = "".join(f", {name} {type_}" for name, type_ in zip(names, types, strict=True))
            execute(connection, f"CREATE TABLE t (id INT PRIMARY KEY{columns}) CHARACTER SET utf8mb4")
            with connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO t VALUES ({', '.join(['%s'] * (1 + len(types)))})", rows)
            connection.commit()
            mapping = [ColumnMapping("id"), *(ColumnMapping(name, ("NA",)) for name in names)]
            readback = Readback.of(read_table(connection, database.database, "t"), mapping, "reject")
            return Table(connection, readback, tmp_path, rows)

        yield fill


def test_digest_of_each_type_equals_that_of_the_server(filled):
    rows = [(str(row), *(None if CHANCE.random() < 0.1 else of() for of in TYPES.values())) for row in range(300)]
    table = filled(list(TYPES), rows)
    assert unknown_columns(table.readback) == {}
    whole = table.readback
    for dialect in WRITERS:
        readings = [replace(each, null_markers=() if dialect.null else ("NA",)) for each in whole.readings]
        with table.file(dialect) as file:
            for compared, type_ in zip(readings, ("INT", *TYPES), strict=True):
                key = () if compared.field == 0 else (replace(readings[0], null_markers=()),)
                table.readback = replace(whole, readings=(*key, compared))
                comparison = table.comparison(file, dialect)
                assert list(comparison.differing_rows()) == [], f"{type_}, {dialect}"
                assert comparison.equal == [(0, len(rows))]


def test_ascii_is_compared_without_a_conversion(filled, database: Address, monkeypatch: pytest.MonkeyPatch):
    there = sorted({str(name) for name, *_ in rows_of(database, "SHOW CHARACTER SET")} & WITH_ASCII)
    printable = "".join(map(chr, range(32, 127)))
    types = [f"VARCHAR(99) CHARACTER SET {name}" for name in there]
    table = filled(types, [(str(row), *[printable[row:]] * len(types)) for row in range(9)])
    statements = []
    fetch = digest_sql.fetch_bytes
    monkeypatch.setattr(digest_sql, "fetch_bytes", lambda of, sql: statements.append(sql) or fetch(of, sql))
    with table.file() as rows:
        assert list(table.comparison(rows).differing_rows()) == []
    assert not any("CONVERT" in each for each in statements)
    latin = f"c{there.index('latin1')}"
    execute(table.connection, f"UPDATE t SET {latin} = 'é' WHERE id = 3")
    assert [(each.line, each.column) for each in table.different()] == [(4, latin)]
    table.rows = [(*row[:-1], "é") if row[0] == "3" else row for row in table.rows]
    with table.file() as rows:
        assert list(table.comparison(rows).differing_rows()) == list(range(9))
    assert "CONVERT" in statements[-1]


def test_columns_whose_form_is_unknown_are_read_back(filled):
    types = {"FLOAT": "1.5", "DOUBLE(9,2)": "0.1", "JSON": "[1]", "INT(5) ZEROFILL": "7", "VARCHAR(9)": "a"}
    table = filled(list(types), [(str(row), *types.values()) for row in range(9)])
    unknown = [name for names in unknown_columns(table.readback).values() for name in names]
    json = [] if table.readback.readings[3].column.kind == "longtext" else ["c2"]
    assert sorted(unknown) == ["c0", "c1", *json, "c3"]
    assert table.different() == []
    execute(table.connection, "UPDATE t SET c1 = 0.25 WHERE id = 7")
    assert table.different() == [BadRow(8, "c1", "0.1", "the table has 0.25.")]


def test_the_plan_names_what_is_read_back_and_why():
    columns = [Column(f"c{at}", type_, True, None, False, False) for at, type_ in enumerate(("int", "float", "date"))]
    readings = tuple(
        ComparedColumn(each, at, (), "x" if each.type == "date" else "") for at, each in enumerate(columns)
    )
    readback = Readback("", "", readings, ("c0",), rounding=False)
    assert [(each.choice, each.why) for each in verification_reasons(readback, PLAIN)] == [
        ("Every value is compared with the file", DIGEST_COST),
        (
            "Values of c1 are read back one by one",
            "FLOAT is shown in another form than it is written; that takes longer",
        ),
        ("Values of c2 are read back one by one", "converted while they load; that takes longer"),
    ]
    [whole] = verification_reasons(readback, replace(PLAIN, line_end="any"))
    assert whole.choice == "Every value is read back"
    assert not list(verification_reasons(None, PLAIN))


class TestChanges:
    """What others do to the rows between their load and the comparison is found, and the rows are named."""

    TYPES = ("INT", "VARCHAR(20)", "DECIMAL(8,2)", "VARCHAR(9) NOT NULL")
    ROWS = tuple((str(8 * row), str(row % 5), f"name {row}", f"{row}.25", "flag") for row in range(3000))

    @pytest.fixture
    def table(self, filled, monkeypatch: pytest.MonkeyPatch) -> Table:
        monkeypatch.setattr(digest_comparison, "PART", 20_000)
        table = filled(self.TYPES, self.ROWS)
        whole = compare.differences

        def counted(connection, readback, lines, expected):
            table.compared.extend(lines)
            return whole(connection, readback, lines, expected)

        monkeypatch.setattr(compare, "differences", counted)
        return table

    def test_equal_rows_are_not_read_back(self, table):
        assert table.different() == []
        assert table.compared == []

    @pytest.mark.parametrize(
        ("change", "lines"),
        [
            ("UPDATE t SET c1 = 'nane 77' WHERE id = 616", [78]),
            ("UPDATE t SET c1 = CONCAT(c1, ' ') WHERE id = 616", [78]),
            ("UPDATE t SET c1 = NULL WHERE id = 0", [1]),
            ("UPDATE t SET c3 = '' WHERE id = 23992", [3000]),
            ("UPDATE t SET c1 = IF(id = 80, 'name 11', 'name 10') WHERE id IN (80, 88)", [11, 12]),
            ("UPDATE t SET c0 = IF(id = 80, 1, 0) WHERE id IN (80, 88)", [11, 12]),
            ("DELETE FROM t WHERE id = 4800", [601]),
            ("DELETE FROM t WHERE id IN (0, 23992)", [1, 3000]),
            ("UPDATE t SET id = 7 WHERE id = 8", [2]),
        ],
    )
    def test_a_change_is_named_by_its_line(self, table, change, lines):
        execute(table.connection, change)
        assert sorted({each.line for each in table.different()}) == lines
        assert len(table.compared) < len(self.ROWS), "only the part with the change is read back"

    def test_rows_of_others_between_the_keys_do_not_count(self, table):
        execute(table.connection, "INSERT INTO t SELECT id + 3, c0, c1, c2, c3 FROM t WHERE id BETWEEN 800 AND 880")
        assert table.different() == []
        assert table.compared == []

    def test_a_file_in_no_order_is_compared_by_its_keys(self, table, monkeypatch):
        table.rows = CHANCE.sample(self.ROWS, len(self.ROWS))
        assert table.different() == []
        assert table.compared == []
        execute(table.connection, "UPDATE t SET c2 = 1 WHERE id = 808")
        [different] = table.different()
        assert (table.rows[different.line - 1][0], different.column) == ("808", "c2")

    def test_rows_that_were_not_sent_are_not_compared(self, table):
        execute(table.connection, "DELETE FROM t WHERE id IN (8, 16, 23992)")
        with table.file() as rows:
            rows.leave_out([1, 2, 2999])
            read_back(table.connection, table.readback, PLAIN, rows, 5)
        assert table.compared == []


def test_a_key_of_several_columns_gives_a_range(filled):
    table = filled(["INT NOT NULL", "VARCHAR(9)"], [(str(row), str(row // 4), f"n{row}") for row in range(200)])
    execute(table.connection, "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (c0, id)")
    readings = tuple(replace(each, null_markers=()) for each in table.readback.readings)
    table.readback = replace(table.readback, key=("c0", "id"), readings=readings)
    table.rows = table.rows[2:-3]
    with table.file() as rows:
        comparison = table.comparison(rows)
        first, last = (row_texts(rows.record(at), PLAIN) for at in (0, len(rows) - 1))
        found = comparison.of_table.of_range(first, last, len(rows))
        assert found
        assert found.rows == len(rows), "no row before the first or behind the last one"
        assert list(comparison.differing_rows()) == []
