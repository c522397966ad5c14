"""Replaced tables in MyISAM and Aria: never half loaded, never a row twice, and what they are at the end."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import Problem, RowsRefused, TargetProblem
from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.finish import is_done
from importer.engine.load.loader import load_chunk
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address, connect
from importer.engine.schema.table import read_table
from importer.engine.target import staging
from tests.engine.staged import DIALECT, Import, given, planned, rows_of

pytestmark = pytest.mark.both_servers

COLUMNS = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), KEY by_name (name))"
PEOPLE = f"{COLUMNS} ENGINE=MyISAM"


@pytest.fixture
def file(source) -> Path:
    return source("".join(f"{n},new {n}\n" for n in range(50)))


def engine_of(address: Address, table: str) -> str:
    with connect(address) as connection:
        return read_table(connection, address.database, table).engine


def keys_off(address: Address, table: str) -> list[str]:
    return [row[2] for row in rows_of(address, f"SHOW INDEX FROM {table}") if "disabled" in row[11:14]]


def load_next(load: Import, number: int) -> None:
    work = ChunkLoad(
        load.job, 1, load.path, load.address, DIALECT, load.plan, load.chunks()[number], options=load.options
    )
    load.staged_rows += load_chunk(work, LoadCallbacks()).tally.loaded


def staged(load: Import) -> str:
    """The staging table, made and still empty."""
    with connect(load.address) as connection:
        digest = staging.create(connection, load.plan.schema, load.job, load.plan.staged)
    load.plan = replace(load.plan, table_digest=digest)
    return staging.staging_name(load.job)


@pytest.mark.parametrize("engine", ["MyISAM", "Aria"])
def test_a_table_that_is_one_stays_one(database, server, file, engine):
    if engine == "Aria" and server.flavour != "mariadb":
        pytest.skip("Aria is MariaDB's alone")
    given(database, f"{COLUMNS} ENGINE={engine}", "INSERT INTO t VALUES (1, 'old')")
    load = planned(database, file, "replace", "id", "name")
    assert (load.plan.rolls_back, load.plan.ordered, load.plan.parallelism) == (False, True, 1)
    load.stage()
    stage = staging.staging_name(load.job)
    assert (engine_of(database, stage), keys_off(database, stage)) == (engine, ["by_name"])
    assert load.finish() == Tally(loaded=50)
    assert (engine_of(database, "t"), keys_off(database, "t")) == (engine, [])
    assert rows_of(database, "SELECT COUNT(*), MIN(name) FROM t") == [(50, "new 0")]
    assert rows_of(database, "SELECT id FROM t FORCE KEY (by_name) WHERE name = 'new 7'") == [(7,)]
    assert load.finish(attempt=2) == Tally(loaded=50)


def test_a_chunk_that_came_in_part_ends_it(database, file):
    """As when its worker dies: some rows are in the table, and no ledger row is."""
    given(database, PEOPLE)
    load = planned(database, file, "replace", "id", "name")
    stage = staged(load)
    load_next(load, 0)
    given(database, f"INSERT INTO {stage} VALUES (1001, 'of a killed load')")
    rows = load.staged_rows
    load_next(load, 0)  # It is in: the ledger says so, and nothing is loaded.
    with pytest.raises(TargetProblem, match=f"holds {rows + 1} rows where {rows} were"):
        load_next(load, 1)
    with connect(database) as connection:
        assert list(ledger.rows_by_chunk(connection, load.job)) == [0]
    with pytest.raises(Problem, match="holds"):
        load.finish()
    assert rows_of(database) == []


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ("1,a\n2," + "b" * 30 + "\n", RowsRefused, "line 2, column name"),
        ("1,a\n2,b\n1,c\n", Problem, "Duplicate|key is there"),
    ],
)
def test_a_row_that_does_not_go_in_ends_it(database, source, rows, error, said):
    given(database, PEOPLE)
    load = planned(database, source(rows), "replace", "id", "name")
    staged(load)
    with pytest.raises(error, match=said):
        load_next(load, 0)
    with connect(database) as connection:
        assert ledger.rows_by_chunk(connection, load.job) == {}
    with pytest.raises(TargetProblem, match="cannot roll back"):
        load_next(load, 0)
    assert rows_of(database) == []


def test_a_swap_is_told_from_what_is_there(database, file):
    """Killed between RENAME and the ledger's row."""
    given(database, PEOPLE)
    load = planned(database, file, "replace", "id", "name").stage()
    load.finish()
    given(database, f"DELETE FROM {ledger.TABLE} WHERE chunk = {ledger.FINISH}")
    with connect(database) as connection:
        assert is_done(connection, load.job, load.plan)
    assert load.finish(attempt=2) == Tally(loaded=50)


@pytest.mark.parametrize(
    ("mode", "asked", "said"),
    [
        ("append", {}, "choose mode replace"),
        ("upsert", {}, "choose mode replace"),
        ("replace", {"on_error": "reject"}, "no row can be left out"),
        ("replace", {"on_duplicate": "skip"}, "no row can be left out"),
        ("replace", {"parallelism": 2}, "one session"),
    ],
)
def test_what_it_forbids(database, file, mode, asked, said):
    given(database, PEOPLE)
    with pytest.raises(Problem, match=said):
        planned(database, file, mode, "id", "name", **asked)


def test_the_server_dies_after_the_end(database, server, file, tmp_path):
    """What has finished is safe: nothing of it is in memory alone, and no table needs repair."""
    given(database, PEOPLE)
    load = planned(database, file, "replace", "id", "name").stage()
    load.finish()
    server.kill()
    server.start()
    assert rows_of(database, "CHECK TABLE t")[0][3] == "OK"
    assert rows_of(database, "SELECT COUNT(*), MIN(name) FROM t FORCE KEY (by_name)") == [(50, "new 0")]
