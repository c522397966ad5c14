"""Files with lines that are no records: every value of the others is there, every bad row has its own line."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from tests.engine.loads import Unchecked, load_bytes, rows_of, run_sql

COLUMNS = ("n", "a")
METHODS = ("load_data_local", "load_data_server", "insert", "insert_prepared")
# Comments that would open a field, hide the next record, or be a record.
COMMENTS = ["#", "# it's a comment", '#,"', "# 1,2", "#\\", '# "a","b', "# \xff"]
ROWS = {n: f"row {n}" for n in range(1, 15)}


@pytest.fixture
def table(database: Address) -> Address:
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, a VARCHAR(20) NOT NULL)")
    return database


def with_comments(line_end: str, bad: dict[int, str] | None = None, tail: str = "") -> tuple[bytes, dict[int, int]]:
    """A file with comments among its rows, and the line of each row."""
    lines, at = [], {}
    for n, text in ROWS.items():
        lines += [COMMENTS[(n + each) % len(COMMENTS)] for each in range(n % 3)]
        at[n] = len(lines) + 1
        lines.append((bad or {}).get(n, f'{n},"{text}"' if n % 2 else f"{n},{text}") + tail)
    return "".join(line + line_end for line in [*lines, *COMMENTS]).encode("latin-1"), at


DIALECTS = [
    Dialect(),
    Dialect(line_end="\r\n"),
    Dialect(line_end="any"),
    Dialect(unquoted_empty_is_null=True),
    Dialect(trailing_delimiter=True),
    Dialect(escape="\\"),
]


@pytest.mark.one_of("chunk_bytes", "kind")
@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
@pytest.mark.parametrize("chunk_bytes", [1, 60, 2**20])
@pytest.mark.parametrize("kind", [Options, Unchecked])
def test_rows_arrive_and_comments_do_not(
    table: Address, tmp_path: Path, dialect: Dialect, chunk_bytes: int, kind: type
):
    dialect = replace(dialect, comment="#", header=False, width=2)
    line_end = "\n" if dialect.line_end == "any" else dialect.line_end
    data, _ = with_comments(line_end, tail="," if dialect.trailing_delimiter else "")
    options = kind()
    loaded = load_bytes(table, tmp_path, data, COLUMNS, options, dialect=dialect, chunk_bytes=chunk_bytes)
    assert loaded.tally == Tally(len(ROWS))
    assert dict(rows_of(table, "SELECT * FROM t")) == ROWS


@pytest.mark.one_of("kind")
@pytest.mark.parametrize("chunk_bytes", [1, 60, 2**20])
@pytest.mark.parametrize("kind", [Options, Unchecked])
def test_bad_rows_among_comments_have_their_lines(table: Address, tmp_path: Path, chunk_bytes: int, kind: type):
    bad = {3: '3,"5" disk"', 6: "x,y", 7: "7", 9: f"9,{'long' * 9}", 12: '12,"open'}
    dialect = Dialect(comment="#", header=False, width=2)
    data, at = with_comments("\n", bad)
    options = kind(on_error="reject")
    loaded = load_bytes(table, tmp_path, data, COLUMNS, options, dialect=dialect, chunk_bytes=chunk_bytes)
    assert loaded.tally == Tally(len(ROWS) - len(bad), rejected=len(bad))
    assert loaded.lines == [at[n] for n in bad]
    assert dict(rows_of(table, "SELECT * FROM t")) == {n: text for n, text in ROWS.items() if n not in bad}


@pytest.mark.one_of("line_end")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("line_end", ["\n", "any"])
def test_each_method_and_numbers_of_rows_and_lines(database: Address, tmp_path: Path, method: str, line_end: str):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, a VARCHAR(20), row_no INT, line_no INT)")
    data, at = with_comments("\n")
    fillings = (GeneratedColumn("row_no", "row"), GeneratedColumn("line_no", "line"))
    dialect = Dialect(comment="#", header=False, width=2, line_end=line_end)
    options = Options(method=method)
    load_bytes(database, tmp_path, data, COLUMNS, options, dialect=dialect, fillings=fillings, chunk_bytes=90)
    expected = [(n, text, n, at[n]) for n, text in ROWS.items()]
    assert rows_of(database, "SELECT * FROM t ORDER BY n") == expected
