"""A stored generated column that depends on a column which a BEFORE INSERT trigger changes (MDEV-40480)."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import Address, Connection
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.plan.options import Options
from tests.engine import loads
from tests.engine.loads import Unchecked, rows_of, run_sql, works

pytestmark = pytest.mark.both_servers

RIGHT = [(1, 20, 40, "ab"), (2, 30, 60, "NULL")]


def made(address: Address, folder: Path) -> Path:
    """A file for a new table t."""
    run_sql(
        address,
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, g INT AS (v * 2) STORED, w VARCHAR(9))",
        "CREATE TRIGGER ten BEFORE INSERT ON t FOR EACH ROW SET NEW.v = NEW.v + 8",
    )
    path = folder / "rows.csv"
    path.write_text('1,12,ab\n2,22,"NULL"\n')
    return path


@pytest.fixture
def source(database: Address, tmp_path: Path) -> Path:
    return made(database, tmp_path)


@pytest.fixture
def mariadb_source(mariadb: Address, tmp_path: Path) -> Path:
    return made(mariadb, tmp_path)


def load_all(chunk_loads: list[ChunkLoad]) -> None:
    for each in chunk_loads:
        load_chunk(each, LoadCallbacks())


@pytest.mark.parametrize("method", ["load_data_local", "insert_prepared"])
def test_the_column_is_computed_from_what_the_trigger_stored(database: Address, source: Path, method: str):
    """On this MariaDB without a SET: 10.11.19 has the fix."""
    chunk_loads = works(database, source, ["id", "v", "w"], Options(method=method))
    load_all(chunk_loads)
    assert rows_of(database, "SELECT * FROM t ORDER BY id") == RIGHT
    assert not any("MDEV-40480" in each.why for each in chunk_loads[0].plan.reasons)
    assert "\nSET " not in chunk_loads[0].plan.statements.plain


@pytest.mark.parametrize("kind", [Options, Unchecked])
def test_a_release_without_the_fix_gets_a_set_and_the_plan_warns(
    mariadb_source: Path, mariadb: Address, kind: type, monkeypatch: pytest.MonkeyPatch
):
    def older(connection: Connection, address: Address) -> Server:
        return replace(read_server(connection, address), version="11.8.2-MariaDB")

    monkeypatch.setattr(loads, "read_server", older)
    chunk_loads = works(mariadb, mariadb_source, ["id", "v", "w"], kind())
    load_all(chunk_loads)
    assert rows_of(mariadb, "SELECT * FROM t ORDER BY id") == RIGHT
    plan = chunk_loads[0].plan
    (warning,) = [each for each in plan.reasons if "MDEV-40480" in each.why]
    assert warning.holds_back
    assert "column g" in warning.choice
    statements = plan.statements
    assert all("SET `id` = @field1" in each for each in (statements.plain, statements.no_markers or statements.plain))
    assert not statements.as_bytes


def test_an_insert_needs_no_set(mariadb_source: Path, mariadb: Address, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loads, "read_server", lambda c, a: replace(read_server(c, a), version="11.8.2-MariaDB"))
    plan = works(mariadb, mariadb_source, ["id", "v", "w"], Options(method="insert"))[0].plan
    assert not any("MDEV-40480" in each.why for each in plan.reasons)


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        ("10.11.19", True),
        ("10.11.18", False),
        ("11.8.9", True),
        ("11.8.8", False),
        ("11.4.9", False),
        ("12.0.2", False),
    ],
)
def test_a_release_has_the_fix_only_if_that_is_known(version: str, fixed: bool):
    assert Server("MariaDB", version, {}, local=False, cores=1).recomputes_behind_triggers == fixed
