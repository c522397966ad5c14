"""NULL markers of numbers and times, in a file of which most chunks have none."""

from pathlib import Path

import pytest

from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import Loader, load_chunk
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.options import Options
from tests.engine.loads import Unchecked, run_sql, works

pytestmark = pytest.mark.both_servers

METHODS = ["load_data_local", "insert", "insert_prepared"]
MAPPING = [ColumnMapping("n", ("", "NA")), ColumnMapping("d", ("",)), ColumnMapping("t")]


TABLE = "CREATE TABLE t (n INT, d DATE, t TEXT) CHARACTER SET utf8mb4"
SIZE = 2**19


@pytest.fixture
def late_markers(source) -> Path:
    """A file of 2 MB: NULL markers are only in its third quarter, and in the fourth with a bad value."""
    rows = [f"{number},2024-01-31,{'x' * 20_000}\n" for number in range(100)]
    rows[60], rows[61], rows[90], rows[91] = ",2024-01-31,a\n", "NA,,b\n", ",,NA\n", "x,,c\n"
    return source("".join(rows))


def stored(address: Address) -> tuple:
    with connect(address) as connection:
        return fetch_all(connection, "SELECT COUNT(*), COUNT(n), COUNT(d), COUNT(t), SUM(t = 'NA') FROM t")[0]


@pytest.mark.parametrize("method", METHODS)
def test_late_markers_are_null_and_other_chunks_compare_none(database: Address, late_markers: Path, method: str):
    run_sql(database, TABLE)
    chunks = works(database, late_markers, MAPPING, Options(method=method, on_error="reject"), chunk_bytes=SIZE)
    marked = [each.chunk.null_marker or each.chunk.suspect for each in chunks]
    assert marked == [False, False, True, True]
    compares = ["_binary''" in each.statements.plain for each in chunks]
    assert compares == marked
    rejected = sum(load_chunk(each, LoadCallbacks()).tally.rejected for each in chunks)
    assert (rejected, *stored(database)) == (1, 99, 96, 97, 99, 1)


def test_chunks_that_share_a_transaction_compare_if_one_has_a_marker(database: Address, late_markers: Path):
    run_sql(database, TABLE)
    chunks = works(database, late_markers, MAPPING, Options(), chunk_bytes=SIZE // 2)
    together = [each for each in chunks if not each.chunk.suspect]
    assert {each.chunk.null_marker for each in together} == {True, False}
    with Loader(late_markers, database, together[0].plan) as loader:
        outcomes = loader.load_group(together[0], [each.chunk for each in together])
    assert outcomes is not None
    assert sum(each.tally.loaded for each in outcomes) == sum(each.chunk.rows for each in together)


def test_without_checks_each_chunk_compares(database: Address, late_markers: Path):
    run_sql(database, TABLE)
    chunks = works(database, late_markers, MAPPING, Unchecked(), chunk_bytes=SIZE)
    assert all("_binary''" in each.statements.plain for each in chunks)
