"""Chunks one after another on one connection, on real servers: each stands or falls by itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import RowsRefused, TargetProblem
from importer.engine.load import ledger
from importer.engine.load import loader as load
from importer.engine.load.chunk_load import ChunkLoad
from importer.engine.load.loader import Loader
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.mysql.connection import Address, connect
from importer.engine.plan.options import Options
from tests.engine.loads import five_chunks, rows_of, run_sql, works

CHUNKS = 5


@pytest.fixture
def five(database: Address, tmp_path: Path) -> list[ChunkLoad]:
    return five_chunks(database, tmp_path, Options())


def loader_of(work: ChunkLoad) -> Loader:
    return Loader(work.path, work.address, work.plan)


def test_they_load_on_one_connection_and_each_has_its_ledger_row(five: list[ChunkLoad]):
    with loader_of(five[0]) as loader:
        first = loader.connect()
        assert [loader.load(work).tally.loaded for work in five] == [2] * CHUNKS
        assert loader.connect() == first
    assert rows_of(five[0].address, "SELECT COUNT(*), SUM(n) FROM t") == [(10, 45)]
    with connect(five[0].address) as connection:
        assert ledger.rows_by_chunk(connection, five[0].job) == dict.fromkeys(range(CHUNKS), 2)


def test_one_that_fails_takes_nothing_of_the_others_with_it(five: list[ChunkLoad]):
    run_sql(five[0].address, "INSERT INTO t VALUES (5, 'here')")
    with loader_of(five[0]) as loader:
        first = loader.connect()
        loader.load(five[0])
        loader.load(five[1])
        with pytest.raises(RowsRefused, match="Duplicate entry '5'"):
            loader.load(five[2])
        assert loader.load(five[3]).tally.loaded == 2
        assert loader.connect() != first
    assert rows_of(five[0].address, "SELECT n FROM t ORDER BY n") == [(n,) for n in (0, 1, 2, 3, 5, 6, 7)]


def test_one_that_is_in_already_does_not_stop_those_after_it(five: list[ChunkLoad]):
    with loader_of(five[0]) as loader:
        loader.load(five[0])
        assert [loader.load(replace(work, attempt=2)).already for work in five[:2]] == [True, False]
    assert rows_of(five[0].address, "SELECT COUNT(*) FROM t") == [(4,)]


@pytest.mark.parametrize("change", ["ALTER TABLE t ADD more INT", f"DELETE FROM {ledger.TABLE}"])
def test_what_changes_on_the_target_meanwhile_is_seen(
    five: list[ChunkLoad], change: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(load, "RECHECK_SECONDS", 0)
    with loader_of(five[0]) as loader:
        loader.load(five[0])
        run_sql(five[0].address, change)
        with pytest.raises(TargetProblem, match=r"has changed since the import was planned|forgotten this import"):
            loader.load(five[1])
    assert rows_of(five[0].address, "SELECT COUNT(*) FROM t") == [(2,)]


def test_what_changes_no_column_meanwhile_is_no_matter(five: list[ChunkLoad], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(load, "RECHECK_SECONDS", 0)
    changes = ["CREATE INDEX more ON t (n)", "ALTER TABLE t COMMENT 'other'", "SELECT 1", "DROP INDEX more ON t"]
    with loader_of(five[0]) as loader:
        loader.load(five[0])
        for change, work in zip(changes, five[1:], strict=True):
            run_sql(five[0].address, change)
            loader.load(work)
    assert rows_of(five[0].address, "SELECT COUNT(*) FROM t") == [(2 * CHUNKS,)]


def test_a_table_that_is_gone_meanwhile_is_said_to_be(five: list[ChunkLoad], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(load, "RECHECK_SECONDS", 0)
    with loader_of(five[0]) as loader:
        loader.load(five[0])
        run_sql(five[0].address, "DROP TABLE t")
        with pytest.raises(TargetProblem, match="There is no table “t” in the database"):
            loader.load(five[1])


def test_each_locks_the_table_for_itself(five: list[ChunkLoad], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(load, "RECHECK_SECONDS", 0)
    alone = [replace(work, plan=replace(work.plan, lock_table=True)) for work in five]
    with loader_of(alone[0]) as loader:
        assert [loader.load(work).tally.loaded for work in alone] == [2] * CHUNKS


def test_the_files_name_is_told_to_every_connection(database: Address, source):
    run_sql(database, "CREATE TABLE t (n INT, file VARCHAR(20))")
    path = source("1\n2\n3\n")
    of_file = (GeneratedColumn("file", "file"),)
    named = [replace(work, file_name="a.csv") for work in works(database, path, ["n"], chunk_bytes=2, fillings=of_file)]
    with loader_of(named[0]) as loader:
        loader.load(named[0])
        loader.load(named[1])
        loader.close()
        loader.load(named[2])
    assert rows_of(database) == [(1, "a.csv"), (2, "a.csv"), (3, "a.csv")]
