"""Files of all kinds of dialects, from their bytes to the table: every value is there, every bad row is named."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES
from tests.engine.loads import REJECT, Unchecked, load_bytes, rows_of, run_sql

COLUMNS = ("n", "a", "b")
SOUND = [(1, "x", "é"), (2, 'q"uote', "d,;|e"), (3, "two\nlines", ""), (4, "NULL", '5" disk')]


@pytest.fixture
def table(database: Address) -> Address:
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, a VARCHAR(20), b VARCHAR(20))")
    return database


def quoted(value: object, quote: str) -> str:
    return f"{quote}{str(value).replace(quote, quote * 2)}{quote}" if isinstance(value, str) else str(value)


def written(dialect: Dialect, marks: tuple[str, ...]) -> bytes:
    """The sound rows, each with the next of the line ends."""
    tail = dialect.delimiter if dialect.trailing_delimiter else ""
    lines = [dialect.delimiter.join(quoted(value, dialect.quote) for value in row) + tail for row in SOUND]
    return "".join(line + marks[number % len(marks)] for number, line in enumerate(lines)).encode()


DIALECTS = [
    (Dialect(), ("\n",)),
    (Dialect(line_end="\r\n"), ("\r\n",)),
    (Dialect(line_end="\r"), ("\r",)),
    (Dialect(line_end="any"), ("\n", "\r\n", "\r")),
    (Dialect(line_end="any"), ("\n", "\n\n\r\n", "\r\r")),
    (Dialect(), ("\n\n\n", "\n")),
    (Dialect(line_end="\r\n"), ("\r\n\r\n",)),
    (Dialect(line_end="\r", delimiter=";"), ("\r\r",)),
    (Dialect(delimiter="||"), ("\n",)),
    (Dialect(delimiter="\x01"), ("\n",)),
    (Dialect(delimiter="§", quote="'"), ("\n",)),
    (Dialect(delimiter="~|~", line_end="any"), ("\r", "\n")),
    (Dialect(delimiter="|", trailing_delimiter=True), ("\n",)),
    (Dialect(delimiter="|", trailing_delimiter=True), ("\n\n",)),
    (Dialect(delimiter="||", trailing_delimiter=True, line_end="\r\n"), ("\r\n",)),
    (Dialect(delimiter=";", trailing_delimiter=True, line_end="any"), ("\r\n", "\n")),
    (Dialect(escape="quote"), ("\n",)),
    (Dialect(escape="php", delimiter="||", line_end="\r\n"), ("\r\n",)),
]


@pytest.mark.one_of("chunk_bytes", "kind")
@pytest.mark.parametrize(("dialect", "marks"), DIALECTS, ids=str)
@pytest.mark.parametrize("chunk_bytes", [1, 30, 2**20])
@pytest.mark.parametrize("kind", [Options, Unchecked])
def test_all_values_arrive(table: Address, tmp_path: Path, dialect: Dialect, marks, chunk_bytes: int, kind: type):
    dialect = replace(dialect, header=False, width=3)
    options = kind()
    loaded = load_bytes(
        table, tmp_path, written(dialect, marks), COLUMNS, options, dialect=dialect, chunk_bytes=chunk_bytes
    )
    assert loaded.tally == Tally(len(SOUND))
    assert rows_of(table, "SELECT * FROM t ORDER BY n") == SOUND


def test_kept_blank_lines_are_empty_values(database: Address, tmp_path: Path):
    run_sql(database, "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(9))")
    for line_end in ("\n", "any"):
        dialect = Dialect(line_end=line_end, header=False, blank_lines="keep")
        assert load_bytes(database, tmp_path, b"a\n\nb\n\n", ("v",), dialect=dialect).tally == Tally(4)
        run_sql(database, "DELETE FROM millrace_ledger")
    assert [value for (value,) in rows_of(database, "SELECT v FROM t ORDER BY id")] == ["a", "", "b", ""] * 2


def test_null_is_told_from_an_empty_text_by_its_quotes(table: Address, tmp_path: Path):
    dialect = Dialect(header=False, unquoted_empty_is_null=True)
    data = b'1,,""\n2,"",\n3,NULL,"NULL"\n4,"a\n,,\nb",\n\n5,"",""\n'
    assert load_bytes(table, tmp_path, data, COLUMNS, dialect=dialect).tally == Tally(5)
    expected = [(1, None, ""), (2, "", None), (3, "NULL", "NULL"), (4, "a\n,,\nb", None), (5, "", "")]
    assert rows_of(table, "SELECT * FROM t ORDER BY n") == expected


def test_escapes_are_undone_where_records_are_rewritten(table: Address, tmp_path: Path):
    dialect = Dialect(header=False, escape="\\", line_end="any")
    data = b'1,a\\tb,\\N\r\n2,"q\\"uote",\\\\N\r3,li\\\nne,x\n'
    load_bytes(table, tmp_path, data, COLUMNS, dialect=dialect)
    expected = [(1, "a\tb", None), (2, 'q"uote', "\\N"), (3, "li\nne", "x")]
    assert rows_of(table, "SELECT * FROM t ORDER BY n") == expected


QUOTES_ESCAPED = (
    b'1,"5\\" disk","C:\\new\\tools"\n'
    b'2,C:\\new\\,"a\\",\n\\"b"\n'
    b'3,"two\\\\","\\",\\""\n'
    b'4,\\N,"a ""b"" \\t"\n'
    b'5,"NULL",x\\"y\n'
)
STORED = {
    "quote": [
        (1, '5" disk', "C:\\new\\tools"),
        (2, "C:\\new\\", 'a",\n"b'),
        (3, "two\\\\", '","'),
        (4, "\\N", 'a "b" \\t'),
        (5, "NULL", 'x\\"y'),
    ],
    "php": [
        (1, '5\\" disk', "C:\\new\\tools"),
        (2, "C:\\new\\", 'a\\",\n\\"b'),
        (3, "two\\\\", '\\",\\"'),
        (4, "\\N", 'a "b" \\t'),
        (5, "NULL", 'x\\"y'),
    ],
}


@pytest.mark.one_of("chunk_bytes", "kind")
@pytest.mark.parametrize("escape", STORED)
@pytest.mark.parametrize("chunk_bytes", [1, 30, 2**20])
@pytest.mark.parametrize("kind", [Options, Unchecked])
@pytest.mark.parametrize("line_end", ["\n", "any"])
def test_backslashes_before_quotes_only(
    table: Address, tmp_path: Path, escape: str, chunk_bytes: int, kind: type, line_end: str
):
    dialect = Dialect(header=False, width=3, escape=escape, line_end=line_end)
    loaded = load_bytes(table, tmp_path, QUOTES_ESCAPED, COLUMNS, kind(), dialect=dialect, chunk_bytes=chunk_bytes)
    assert loaded.tally == Tally(5)
    assert rows_of(table, "SELECT * FROM t ORDER BY n") == STORED[escape]


@pytest.mark.parametrize("before", range(-3, 2))
def test_an_escaped_quote_at_the_border_of_a_block(database: Address, tmp_path: Path, before: int):
    """The values are larger than a block and than a chunk."""
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, a LONGTEXT, b VARCHAR(20))")
    texts = ["x" * (BLOCK_BYTES - len('1,"') + before) + '"\n2,' * 9 + "y" * (2 * BLOCK_BYTES), 'z"\n' * 100_000, '"']
    rows = [(number, text, "C:\\n") for number, text in enumerate(texts * 2, start=1)]
    lines = [",".join((str(n), *('"' + text.replace('"', '\\"') + '"' for text in (a, b)))) + "\n" for n, a, b in rows]
    data, dialect = "".join(lines).encode(), Dialect(header=False, width=3, escape="quote")
    loaded = load_bytes(database, tmp_path, data, COLUMNS, dialect=dialect, chunk_bytes=BLOCK_BYTES // 2)
    assert loaded.tally == Tally(len(rows))
    assert len(loaded.outcomes) > 4
    assert rows_of(database, "SELECT * FROM t ORDER BY n") == rows


def test_an_unclosed_quote_among_escaped_ones_is_left_out(table: Address, tmp_path: Path):
    """A value that ends in a backslash, as these exporters write it, cannot be told from one that continues."""
    rows = [b'%d,"5\\" disk","b"\n' % number for number in range(1, 12)]
    rows[4] = b'5,a,"C:\\"\n'
    dialect = Dialect(header=False, width=3, escape="quote")
    loaded = load_bytes(table, tmp_path, b"".join(rows), COLUMNS, REJECT, dialect=dialect, chunk_bytes=60)
    assert (loaded.tally, loaded.lines, loaded.raw) == (Tally(10, rejected=1), [5], rows[4])


BAD = {2: b'2,"5" disk",x\n', 5: b'5,"not closed,x\n', 9: b"9,\xff,x\n"}


@pytest.mark.one_of("chunk_bytes", "kind")
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "any"])
@pytest.mark.parametrize("chunk_bytes", [1, 40, 2**20])
@pytest.mark.parametrize("kind", [Options, Unchecked])
def test_flawed_records_are_left_out_and_the_others_arrive(
    table: Address, tmp_path: Path, line_end: str, chunk_bytes: int, kind: type
):
    mark = b"\n" if line_end == "any" else line_end.encode()
    rows = {number: BAD.get(number, b'%d,"a",b\n' % number).replace(b"\n", mark) for number in range(1, 12)}
    dialect = Dialect(line_end=line_end, header=False, width=3)
    options = kind(on_error="reject")
    data = mark.join(rows.values())  # a blank line after each row
    loaded = load_bytes(table, tmp_path, data, COLUMNS, options, dialect=dialect, chunk_bytes=chunk_bytes)
    assert loaded.tally == Tally(8, rejected=3)
    assert loaded.lines == [3, 9, 17]
    assert [row[4] for row in loaded.explained] == ["stray quote", "unclosed quote", "encoding"]
    assert [row[2] for row in loaded.explained] == ["a", "a", ""]
    assert loaded.raw == b"".join(rows[number] for number in BAD)
    assert [n for (n,) in rows_of(table, "SELECT n FROM t ORDER BY n")] == [1, 3, 4, 6, 7, 8, 10, 11]


def test_without_leave_to_reject_the_first_one_stops_the_scan(table: Address, tmp_path: Path):
    dialect = Dialect(header=False, width=3)
    for number, bad in BAD.items():
        with pytest.raises(SourceProblem) as caught:
            load_bytes(table, tmp_path, b"1,a,b\n" + bad + b'3,"c",d\n', COLUMNS, Options(), dialect=dialect)
        assert caught.value.where == "line 2", number


def test_a_record_without_the_trailing_delimiter_would_lose_a_field(table: Address, tmp_path: Path):
    dialect = Dialect(delimiter="|", trailing_delimiter=True, header=False, width=3)
    loaded = load_bytes(table, tmp_path, b"1|a|b|\n2|c|d\n3|e|f|g\n4|h|i|\n", COLUMNS, dialect=dialect)
    assert (loaded.tally, loaded.lines) == (Tally(2, rejected=2), [2, 3])


def test_null_markers_work_on_rewritten_records(table: Address, tmp_path: Path):
    dialect = Dialect(line_end="any", header=False)
    mapping = (ColumnMapping("n"), ColumnMapping("a", ("NULL", "")), ColumnMapping("b"))
    load_bytes(table, tmp_path, b"1,NULL,NULL\r2,,x\n", mapping, dialect=dialect)
    assert rows_of(table, "SELECT * FROM t ORDER BY n") == [(1, None, "NULL"), (2, None, "x")]


@pytest.mark.one_of("kind")
@pytest.mark.parametrize("kind", [Options, Unchecked])
def test_an_empty_number_is_null_and_one_in_quotes_is_none(database: Address, tmp_path: Path, kind: type):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, a INT, b DATE)")
    dialect = Dialect(header=False, unquoted_empty_is_null=True, width=3)
    data = b'1,,\n2,5,2024-01-31\n3,"",\n4,,""\n"5","6",\n'
    options = kind(on_error="reject")
    loaded = load_bytes(database, tmp_path, data, COLUMNS, options, dialect=dialect)
    assert (loaded.tally, loaded.lines) == (Tally(3, rejected=2), [3, 4])
    assert [row[:2] for row in rows_of(database, "SELECT * FROM t ORDER BY n")] == [(1, None), (2, 5), (5, 6)]
