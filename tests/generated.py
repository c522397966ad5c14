"""Generates files in random dialects with bad rows at known lines, and checks the result for every row.

`python -m tests.generated 100000 --server mysql://root@127.0.0.1:3306/` loads this number of files and stops at the
first wrong result; `--first` is the first seed.
"""

import argparse
import csv
import random
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

from importer.engine import planner
from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.plan.option_specs import named
from importer.engine.plan.options import Options
from importer.engine.schema.table import Table, read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import Position, ScanPolicy, scan
from importer.engine.source.dialect import Dialect
from tests.engine.loads import with_files

CREATE = (
    "CREATE TABLE t (n INT NOT NULL, word VARCHAR(12), day DATE, price DECIMAL(7,2))"
    " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
)
FIELDS = ("n", "word", "day", "price")
DELIMITERS = (",", ",", ";", "\t", "|", "||", "\x01", "<>", "·")
ENCODINGS = ("utf-8", "utf-8", "utf-8", "cp1252", "iso8859-1")
LETTERS = "ab é€ü'\\N0-\t"
ONE_LINE_END = {"\n": r"\n", "\r\n": r"\n", "\r": r"\r\n|\n|\r", "any": r"\r\n|\n|\r"}
NOT_IN = {"utf-8": b"\xff", "cp1252": b"\x81"}
BAD_VALUES = {
    "n": ("x", "1.5", "1e3", "99999999999", "", "0x1F"),
    "word": ("thirteen long", "x" * 40),
    "day": ("2024-02-30", "soon", "24-1-2", "2024-13-01"),
    "price": ("one", "123456.00", "1.2.3"),
}


@dataclass(frozen=True)
class Case:
    """A file from its first data record on, and by the model: the rows that go in, the lines and bytes that do not."""

    dialect: Dialect
    preamble: bytes
    data: bytes
    rows: list[tuple]
    bad_lines: list[int]
    bad_records: list[bytes]
    chunk_bytes: int
    block_bytes: int
    rows_per_statement: int


class _Writer:
    """Writes records in a dialect, with required and with superfluous quotes and escapes, chosen at random."""

    def __init__(self, chance: random.Random, dialect: Dialect) -> None:
        self.chance, self.dialect = chance, dialect

    def word(self) -> str | None:
        """A text that the dialect can write; None for NULL if the dialect has a notation for it."""
        dialect = self.dialect
        letters = LETTERS if dialect.encoding != "iso8859-1" else LETTERS.replace("€", "")
        if dialect.quote or dialect.escape:
            letters += dialect.delimiter + '\n\r"'
        if self.chance.random() < 0.05 and (dialect.escapes_all or dialect.unquoted_empty_is_null):
            return None
        # In a dialect with escapes, the bare word cannot be distinguished from \\N: its row is bad (docs/values.md).
        if self.chance.random() < 0.05 and not (dialect.escapes_all and dialect.quote):
            return "NULL"
        text = "".join(self.chance.choice(letters) for _ in range(self.chance.randrange(9)))
        if dialect.escapes_quotes_only:
            # Before a quote, and at the end, such a dialect cannot write every number of backslashes.
            return re.sub(rf"\\+(?={dialect.quote}|$)", "", text)
        return text if dialect.quote or dialect.escape else self._without_marks(text)

    def _without_marks(self, text: str) -> str:
        """Without quotes and escapes, a value cannot contain special characters."""
        for mark in dict.fromkeys((*self.dialect.delimiter, "\n", "\r")):
            text = text.replace(mark, "")
        return text

    def field(self, value: str | None) -> str:
        dialect = self.dialect
        if value is None:
            return dialect.null
        if dialect.escapes_all:
            value = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        must = bool({dialect.delimiter[0], "\n", "\r", dialect.quote} & set(value)) or (
            value == "" and dialect.unquoted_empty_is_null
        )
        if dialect.quote and (must or self.chance.random() < 0.2):
            escape = self.chance.choice("\\" + dialect.quote) if dialect.escape == "quote" else dialect.quote
            return dialect.quote + value.replace(dialect.quote, escape + dialect.quote) + dialect.quote
        if dialect.escapes_all:
            value = "".join(f"\\{each}" if each in dialect.delimiter else each for each in value)
        return value

    def record(self, fields: Sequence[str]) -> bytes:
        end = self.dialect.delimiter if self.dialect.trailing_delimiter else ""
        return (self.dialect.delimiter.join(fields) + end).encode(self.dialect.encoding) + self.line_end()

    def line_end(self) -> bytes:
        end = self.dialect.line_end
        return self.chance.choice([b"\n", b"\r\n", b"\r"]) if end == "any" else end.encode()


def make_case(seed: int) -> Case:
    """The case with this seed, which is always the same."""
    chance = random.Random(seed)
    dialect = _dialect(chance)
    writer = _Writer(chance, dialect)
    preamble = _preamble(writer)
    line = 1 + _lines(preamble, dialect)
    data, rows, bad_lines, bad_records = [], [], [], []
    share = chance.choice((0, 0.02, 0.2, 0.9))
    for number in range(chance.choice((1, 3, 20, 120))):
        if chance.random() < 0.03:
            # Not LF alone, which would be one line end with a CR before it.
            data.append(b"\r\n" if dialect.line_end == "any" else writer.line_end())
            line += 1
        values = _values(writer, number)
        bad = chance.random() < share
        record = _bad_record(writer, values) if bad else writer.record([writer.field(each) for each in values])
        if bad:
            bad_lines.append(line)
            bad_records.append(record)
        else:
            rows.append(_stored(values))
        data.append(record)
        line += _lines(record, dialect)
    return Case(
        dialect,
        preamble,
        b"".join(data),
        rows,
        bad_lines,
        bad_records,
        # About this number of chunks: each costs a connection, so more of them would mean fewer cases.
        chunk_bytes=1 + sum(map(len, data)) // chance.choice((1, 1, 2, 3, 6)),
        block_bytes=chance.choice((40, 300, 2**18)),
        rows_per_statement=chance.choice((1, 2, 7, 1000)),
    )


def _dialect(chance: random.Random) -> Dialect:
    encoding = chance.choice(ENCODINGS)
    delimiter = chance.choice(DELIMITERS)
    quote = chance.choice(('"', '"', '"', "'", ""))
    return Dialect(
        delimiter=delimiter,
        quote=quote,
        escape=chance.choice(("", "", "", "\\", "quote", "php") if quote else ("", "", "", "\\")),
        line_end=chance.choice(("\n", "\n", "\r\n", "\r", "any")),
        encoding=encoding,
        header=chance.random() < 0.5,
        skip_rows=chance.choice((0, 0, 2)),
        trailing_delimiter=chance.random() < 0.1,
        unquoted_empty_is_null=bool(quote) and chance.random() < 0.15,
        width=len(FIELDS),
    )


def _preamble(writer: _Writer) -> bytes:
    dialect = writer.dialect
    bom = b"\xef\xbb\xbf" if dialect.encoding == "utf-8" and writer.chance.random() < 0.2 else b""
    skipped = b"".join(b"about this file" + writer.line_end() for _ in range(dialect.skip_rows))
    return bom + skipped + (writer.record(FIELDS) if dialect.header else b"")


def _values(writer: _Writer, number: int) -> list[str | None]:
    chance = writer.chance
    day = date(chance.randrange(1000, 9999), chance.randrange(1, 13), chance.randrange(1, 29))
    price = Decimal(chance.randrange(-9_999_999, 9_999_999)) / 100
    return [str(number), writer.word(), day.isoformat(), f"{price:.2f}"]


def _stored(values: Sequence[str | None]) -> tuple:
    number, word, day, price = values
    assert number
    assert day
    assert price
    return int(number), word, date.fromisoformat(day), Decimal(price)


def _bad_record(writer: _Writer, values: list[str | None]) -> bytes:
    chance, dialect = writer.chance, writer.dialect
    kinds = ["value", "value", "value", "short", "long"]
    kinds += ["byte"] if dialect.encoding in NOT_IN else []
    # With an escape, a quote that is not doubled may be an escaped one's neighbour: kept apart here.
    kinds += ["quote"] if dialect.quote and not dialect.escape else []
    kind = chance.choice(kinds)
    if kind == "value":
        at = chance.randrange(4)
        values[at] = chance.choice(BAD_VALUES[FIELDS[at]])
    fields = [writer.field(each) for each in values]
    if kind == "short":
        fields = fields[:-1]
    elif kind == "long":
        fields.append("more")
    elif kind == "quote":
        fields[1] = f"{dialect.quote}a{dialect.quote}b"
    record = writer.record(fields)
    if kind == "byte":
        mark = values[0].encode() if values[0] else b""
        record = record.replace(mark, mark + NOT_IN[dialect.encoding], 1)
    return record


def _lines(data: bytes, dialect: Dialect) -> int:
    return len(re.findall(ONE_LINE_END[dialect.line_end].encode(), data))


@dataclass
class Bench:
    """A server with the table for the cases, and a folder for their files."""

    address: Address
    server: Server
    table: Table
    folder: Path
    method: str = "auto"

    @classmethod
    def on(cls, address: Address, folder: Path, method: str = "auto") -> "Bench":
        with connect(address) as connection:
            execute(connection, CREATE)
            ledger.create(connection)
            table = read_table(connection, address.database, "t")
            server = with_files(read_server(connection, address), folder)
            return cls(address, server, table, folder, method)

    def check(self, case: Case, name: str) -> None:
        """Load the case and assert that the result equals the model."""
        path = self.folder / "case.csv"
        path.write_bytes(case.preamble + case.data)
        rejects = self.folder / "rejects"
        shutil.rmtree(rejects, ignore_errors=True)
        rejects.mkdir()
        tally = self._load(case, path, rejects, name)
        assert tally == Tally(loaded=len(case.rows), rejected=len(case.bad_lines))
        assert _reasons(rejects) == case.bad_lines
        assert b"".join(each.read_bytes() for each in sorted(rejects.glob("*.rejects"))) == b"".join(case.bad_records)
        with connect(self.address) as connection:
            assert sorted(fetch_all(connection, "SELECT * FROM t")) == sorted(case.rows)
            execute(connection, "DELETE FROM t")

    def _load(self, case: Case, path: Path, rejects: Path, name: str) -> Tally:
        options = Options(on_error="reject", method=self.method, rows_per_statement=case.rows_per_statement)
        size, start = path.stat().st_size, len(case.preamble)
        mapping = [ColumnMapping(each) for each in FIELDS]
        planned_for = planner.PlanningContext(
            max(1, size - start), case.dialect, self.table, mapping, options, self.server
        )
        plan = planner.make_plan(planned_for)
        total = Tally()
        with open_source(path) as fd:
            chunks = scan(
                fd,
                case.dialect,
                ChunkSizes(case.chunk_bytes),
                Position(start, 1 + _lines(case.preamble, case.dialect)),
                end=size,
                policy=ScanPolicy(block_bytes=case.block_bytes, tolerate=True, exactness=plan.exactness),
            )
            for chunk in list(chunks):
                work = ChunkLoad(
                    name, 1, path, self.address, case.dialect, plan, chunk, options=options, rejects=rejects
                )
                found = load_chunk(work, LoadCallbacks()).tally
                total = Tally(*(a + b for a, b in zip(_terms(total), _terms(found), strict=True)))
        return total


def _terms(tally: Tally) -> tuple[int, int, int, int]:
    return tally.loaded, tally.replaced, tally.skipped, tally.rejected


def _reasons(rejects: Path) -> list[int]:
    parts = [path.read_text("utf-8") for path in sorted(rejects.glob("*.csv"))]
    return [int(row[0]) for part in parts for row in csv.reader(part.splitlines(keepends=True))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=int)
    parser.add_argument("--server", required=True, help="mysql://USER:PASSWORD@HOST:PORT/")
    parser.add_argument("--first", type=int, default=0, help="the first case's seed")
    parser.add_argument("--method", default="auto", choices=named("method").kind.offers)
    arguments = parser.parse_args()
    url = urlsplit(arguments.server)
    address = Address(url.hostname or "", url.port or 3306, url.username or "root", url.password or "", "mysql")
    database = f"millrace_generated_{arguments.first}"
    with connect(address) as connection:
        execute(connection, f"DROP DATABASE IF EXISTS {database}")
        execute(connection, f"CREATE DATABASE {database}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench.on(replace(address, database=database), Path(folder), arguments.method)
        for seed in range(arguments.first, arguments.first + arguments.cases):
            try:
                bench.check(make_case(seed), str(seed))
            except BaseException:
                print(f"seed {seed}: {make_case(seed)}")
                raise
            if seed % 1000 == 999:
                print(f"{seed + 1 - arguments.first:,} cases", flush=True)
    with connect(address) as connection:
        execute(connection, f"DROP DATABASE {database}")
    print(f"{arguments.cases:,} cases passed.")


if __name__ == "__main__":
    main()
