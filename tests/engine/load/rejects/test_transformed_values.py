"""Rows whose values a transform does not take are left out, by their line and value, and all others arrive."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from importer.engine.errors import RowsRefused
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.source.dialect import RFC4180
from tests.engine.loads import given_table, load_bytes, rows_of, run_sql, works

pytestmark = pytest.mark.both_servers

DIALECT = replace(RFC4180, delimiter=";", header=False)
MAPPING = (
    ColumnMapping("n", (), "", ("thousands-dot",)),
    ColumnMapping("d", ("NA",), "%d.%m.%Y", ("trim",)),
    ColumnMapping("b", (), "", ("yes-no",)),
    ColumnMapping("x", (), "", ("hex",)),
)
BAD = {
    7: "1,2,3;01.02.2024;ja;00",
    8: "1;31.02.2024;ja;00",
    9: "1;01.02.24;ja;00",
    100: "1;01.02.2024;maybe;00",
    101: "1;01.02.2024;ja;0",
    200: "1;01.02.2024;ja;0g",
    201: "1;01.02.2024;ja;" + "zz" * 2000,
    299: "1;;ja;00",
}


@pytest.fixture
def path(source) -> Path:
    return source("".join(f"{BAD.get(n, f'1.{n:03},50; 01.02.2024 ;nein;FF')}\n" for n in range(1, 301)))


def work(address: Address, path: Path, options: Options) -> ChunkLoad:
    given_table(address, "n DECIMAL(9,2) PRIMARY KEY, d DATE, b BIT(1), x VARBINARY(4)")
    [work] = works(address, path, MAPPING, options, dialect=DIALECT)
    return work


@pytest.mark.parametrize("type_", ["MEDIUMBLOB", "LONGBLOB"])
@pytest.mark.parametrize("method", ["load_data_local", "insert", "insert_prepared"])
def test_bad_digits_for_a_column_of_megabytes(database: Address, tmp_path: Path, method: str, type_: str):
    """The server has no text to warn of, so that the value itself ends the statement."""
    run_sql(database, f"CREATE TABLE t (n INT PRIMARY KEY, `größe` {type_}, u {type_})")
    uuid = "123e4567-e89b-12d3-a456-426614174000"
    bad = {7: f"7;0;{uuid}", 8: f"8;zz;{uuid}", 150: f"150;{'0g' * 50_000};{uuid}", 299: "299;4d;zz"}
    lines = [bad.get(n, f"{n};0xFF00;{uuid}" if n % 2 else f"{n};;") for n in range(1, 301)]
    mapping = ("n", ColumnMapping("größe", (), "", ("hex",)), ColumnMapping("u", ("",), "", ("uuid",)))
    options = Options(on_error="reject", method=method)
    loaded = load_bytes(database, tmp_path, "\n".join(lines).encode(), mapping, options, dialect=DIALECT)
    assert [[row[0], row[2], row[5]] for row in loaded.explained] == [
        ["7", "größe", "The value cannot be read as hexadecimal."],
        ["8", "größe", "The value cannot be read as hexadecimal."],
        ["150", "größe", "The value cannot be read as hexadecimal."],
        ["299", "u", "The value cannot be read as UUID."],
    ]
    whole, empty = (b"\xff\0", UUID(uuid).bytes), (b"", None)
    wanted = [(n, *(whole if n % 2 else empty)) for n in range(1, 301) if n not in bad]
    assert sorted(rows_of(database, "SELECT * FROM t")) == wanted


@pytest.mark.parametrize("on_duplicate", ["fail", "skip", "replace"])
def test_bad_rows_are_left_out(database: Address, path: Path, on_duplicate: str):
    outcome = load_chunk(work(database, path, Options(on_error="reject", on_duplicate=on_duplicate)), LoadCallbacks())
    assert (outcome.tally.loaded, outcome.tally.rejected) == (300 - len(BAD), len(BAD))
    raw = next((path.parent / "rejects").glob("*.rejects")).read_text()
    assert raw.splitlines() == list(BAD.values())
    wanted = [(Decimal(f"1{n:03}.50"), date(2024, 2, 1), b"\0", b"\xff") for n in range(1, 301) if n not in BAD]
    assert sorted(rows_of(database, "SELECT * FROM t")) == wanted


def test_the_first_bad_row_stops_it_with_its_line_and_value(database: Address, path: Path):
    with pytest.raises(RowsRefused) as caught:
        load_chunk(work(database, path, Options()), LoadCallbacks())
    first = caught.value.rows[0]
    assert (first.line, first.column, first.value) == (7, "n", "1,2,3")
    assert first.reason == "The value cannot be read as thousands dot, decimal comma."
