"""Generated columns on real servers: constants, the file's name, row and line numbers, and the time."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.engine.source.dialect import MYSQL_TSV
from tests.engine.loads import REJECT, given_table, rows_of, works

pytestmark = pytest.mark.both_servers

BEGAN = "2024-03-31 01:02:03"


def loaded(address: Address, path: Path, mapping: Sequence[str], *fillings: GeneratedColumn, **how) -> None:
    for work in works(address, path, mapping, fillings=fillings, **{"options": Options(), **how}):
        load_chunk(replace(work, file_name="it's \\ é.csv", began=BEGAN), LoadCallbacks())


@pytest.fixture
def texts(source) -> Path:
    """Seven records, of which the third has two lines, in several chunks."""
    return source('a\nb\n"c\nc"\nd\ne\nf\ng\n')


def test_generated_columns_have_their_values_in_every_chunk(database: Address, texts: Path):
    given_table(database, "v TEXT, t VARCHAR(9), f TEXT, r INT, l BIGINT UNSIGNED, a DATETIME, b TIMESTAMP NULL")
    fillings = tuple(
        map(GeneratedColumn, "tfrlab", ("text", "file", "row", "line", "time", "time"), ("x", "", "", "", "", ""))
    )
    loaded(database, texts, ["v"], *fillings, chunk_bytes=5)
    rows = sorted(rows_of(database, "SELECT v, r, l FROM t"))
    assert rows == [("a", 1, 1), ("b", 2, 2), ("c\nc", 3, 3), ("d", 4, 5), ("e", 5, 6), ("f", 6, 7), ("g", 7, 8)]
    began = datetime.fromisoformat(BEGAN)
    with connect(database) as connection:
        execute(connection, "SET time_zone = '+00:00'")
        constants = fetch_all(connection, "SELECT DISTINCT t, f, a, b FROM t")
    assert constants == [("x", "it's \\ é.csv", began, began)]


@pytest.mark.parametrize("chunk_bytes", [2**20, 2000])
def test_generated_row_numbers_do_not_change_when_other_rows_are_rejected(
    database: Address, tmp_path: Path, chunk_bytes: int
):
    given_table(database, "n INT UNIQUE, t TEXT, r INT, l INT")
    path = tmp_path / "bad.csv"
    bad = {3: b"x", 4: b"1,2,3", 500: b"999999999999", 777: b"7,again"}  # The last one is a duplicate in the table.
    path.write_bytes(b"".join(bad.get(row, b'%d,"a\nb"' % row) + b"\n" for row in range(1, 1001)))
    fillings = (GeneratedColumn("r", "row"), GeneratedColumn("l", "line"))
    loaded(database, path, ["n", "t"], *fillings, chunk_bytes=chunk_bytes, options=REJECT)
    rows = rows_of(database, "SELECT n, r, l FROM t")
    good = [row for row in range(1, 1001) if row not in bad]
    assert sorted(rows) == [(row, row, 2 * row - 1 - sum(each < row for each in bad)) for row in good]


@pytest.mark.parametrize(("kind", "number"), [("row", "4"), ("line", "5")])
def test_generated_number_in_a_text_column_has_no_leading_zeros(database: Address, texts: Path, kind, number):
    given_table(database, "v TEXT, n VARCHAR(20)")
    loaded(database, texts, ["v"], GeneratedColumn("n", kind))
    assert dict(rows_of(database))["d"] == number


def test_generated_row_numbers_in_a_dialect_with_escapes(database: Address, source):
    given_table(database, "a TEXT, b TEXT, n INT")
    path = source(b"1\\\n1\t\\N\n2\t\\\\\n")
    loaded(database, path, ["a", "b"], GeneratedColumn("n", "row"), dialect=MYSQL_TSV)
    assert sorted(rows_of(database)) == [("1\n1", None, 1), ("2", "\\", 2)]


NASTY = [
    "'; DROP TABLE t; -- ",
    "\\'; DROP TABLE t; -- ",
    '"` \\" %s %(a)s {0} @millrace_row',
    "".join(map(chr, range(1, 0x250))),
    "\0\x1a\r\n\t\\",
    "😀€\u2028",
    "",
]


@pytest.mark.parametrize("text", NASTY)
def test_constant_of_a_generated_column_is_stored_unchanged(database: Address, texts: Path, text: str):
    given_table(database, "v TEXT, t TEXT, b BLOB")
    loaded(database, texts, ["v"], GeneratedColumn("t", "text", text), GeneratedColumn("b", "text", text))
    assert {row[1:] for row in rows_of(database)} == {(text, text.encode())}


BAD = [
    (GeneratedColumn("n", "text", "1.5"), "not a number that n"),
    (GeneratedColumn("n", "text", "1e3"), "not a number that n"),
    (GeneratedColumn("n", "text", ""), "not a number that n"),
    (GeneratedColumn("v", "row"), "given twice"),
    (GeneratedColumn("nowhere", "row"), "no column nowhere"),
    (GeneratedColumn("g", "row"), "computes the column g itself"),
    (GeneratedColumn("n", "version()"), "filled from 'version()'"),
]


@pytest.mark.parametrize(("filling", "message"), BAD)
def test_invalid_generated_column_is_refused_before_the_load(
    database: Address, texts: Path, filling: GeneratedColumn, message: str
):
    given_table(database, "v VARCHAR(9), n INT, g INT AS (n + 1)")
    with pytest.raises(Problem, match=message.replace("(", r"\(").replace(")", r"\)")):
        loaded(database, texts, ["v"], filling)


def test_required_column_may_be_generated(database: Address, texts: Path):
    given_table(database, "v TEXT, n INT NOT NULL")
    loaded(database, texts, ["v"], GeneratedColumn("n", "text", "-7"))
    assert {row[1] for row in rows_of(database)} == {-7}
