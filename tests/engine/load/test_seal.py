"""Seals on both servers: they agree with a ledger that a fail-over has shortened, and with none that hands changed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger, seal, verify
from importer.engine.load.chunk_load import ChunkLoad
from importer.engine.load.ledger import FIRST_SEAL, TABLE
from importer.engine.load.loader import Loader
from importer.engine.mysql.connection import Address, connect
from importer.engine.plan.options import Options
from tests.engine.loads import account_with, five_chunks, rows_of, run_sql
from tests.fail_over import forget

pytestmark = pytest.mark.both_servers

CHANGED = "Somebody has changed the table millrace_ledger"


@pytest.fixture
def five(database: Address, tmp_path: Path) -> list[ChunkLoad]:
    return five_chunks(database, tmp_path, Options())


@pytest.fixture
def loader(five: list[ChunkLoad]) -> Iterator[Loader]:
    with Loader(five[0].path, five[0].address, five[0].plan) as opened:
        yield opened


def agree(work: ChunkLoad) -> None:
    with connect(work.address) as connection:
        seal.require_agreement(connection, work.job, "here")


def loaded(five: list[ChunkLoad], loader: Loader, *, together: int = 0) -> int:
    """Load all chunks on one connection with a seal, the last ones in one transaction; the seal's number."""
    number = loader.open_seal(five[0])
    alone = len(five) - together
    for work in five[:alone]:
        loader.load(work)
    if together:
        assert loader.load_group(five[alone], [each.chunk for each in five[alone:]])
    return number


def test_counts_the_chunks_of_its_connection(five: list[ChunkLoad], loader: Loader):
    number = loaded(five, loader, together=3)
    assert rows_of(five[0].address, f"SELECT attempt, row_count FROM {TABLE} WHERE chunk = {number}") == [(5, 10)]
    assert rows_of(five[0].address, f"SELECT DISTINCT seal FROM {TABLE}") == [(number,)]
    agree(five[0])
    assert loader.open_seal(five[0]) == number
    with connect(five[0].address) as connection:
        assert seal.present(connection, five[0].job) == {number}
        assert ledger.rows_by_chunk(connection, five[0].job) == dict.fromkeys(range(5), 2)


def test_does_not_count_what_was_rolled_back(five: list[ChunkLoad], loader: Loader):
    number = loader.open_seal(five[0])
    run_sql(five[0].address, "INSERT INTO t VALUES (2, 'here')")
    loader.load(five[0])
    assert loader.load_group(five[1], [each.chunk for each in five[1:]]) is None
    assert rows_of(five[0].address, f"SELECT attempt, row_count FROM {TABLE} WHERE chunk = {number}") == [(1, 2)]
    agree(five[0])


@pytest.mark.parametrize("lost", ["chunk > 2", "chunk = 4", "chunk >= 0"])
def test_agrees_after_a_fail_over(five: list[ChunkLoad], loader: Loader, lost: str):
    loaded(five, loader)
    with connect(five[0].address) as connection:
        forget(connection, five[0].job, lost)
    agree(five[0])


@pytest.mark.parametrize(
    "change",
    [
        f"DELETE FROM {TABLE} WHERE chunk = 4",
        f"DELETE FROM {TABLE} WHERE chunk = 0",
        f"DELETE FROM {TABLE} WHERE chunk % 3 = 1",
        f"DELETE FROM {TABLE} WHERE chunk < {FIRST_SEAL}",
        f"DELETE FROM {TABLE} WHERE chunk >= {FIRST_SEAL}",
        f"UPDATE {TABLE} SET row_count = 3 WHERE chunk = 1",
        f"UPDATE {TABLE} SET digest = REVERSE(digest) WHERE chunk = 1",
        f"UPDATE {TABLE} SET chunk = 9, digest = '0123456789abcdef' WHERE chunk = 3",
    ],
)
def test_does_not_agree_with_what_hands_have_changed(five: list[ChunkLoad], loader: Loader, change: str):
    loaded(five, loader)
    run_sql(five[0].address, change)
    with pytest.raises(TargetProblem, match=CHANGED) as changed:
        agree(five[0])
    assert not changed.value.retryable
    # No other connection begins, and the rows stay as they are.
    with (
        Loader(five[0].path, five[0].address, five[0].plan) as another,
        pytest.raises(TargetProblem, match=CHANGED),
    ):
        another.open_seal(replace(five[0], attempt=2, first=False))
    assert rows_of(five[0].address, "SELECT COUNT(*) FROM t") == [(10,)]


@pytest.mark.parametrize("change", [f"TRUNCATE TABLE {TABLE}", f"DELETE FROM {TABLE} WHERE chunk >= {FIRST_SEAL}"])
def test_the_next_commit_notices_that_the_seal_is_gone(five: list[ChunkLoad], loader: Loader, change: str):
    loader.open_seal(five[0])
    loader.load(five[0])
    run_sql(five[0].address, change)
    with pytest.raises(TargetProblem, match="A row that this connection has committed is gone"):
        loader.load(five[1])
    assert rows_of(five[0].address, "SELECT COUNT(*) FROM t") == [(2,)]


@pytest.mark.parametrize("rows_before", [0, 1])
@pytest.mark.parametrize("change", [f"DELETE FROM {TABLE}", f"DROP TABLE {TABLE}"])
def test_a_known_seal_that_is_gone_keeps_others_from_loading(
    five: list[ChunkLoad], loader: Loader, rows_before: int, change: str, monkeypatch: pytest.MonkeyPatch
):
    """Also where its only chunk is not known to be committed, as after a worker was killed behind COMMIT."""
    monkeypatch.setattr(verify, "UPTIME_MARGIN", 0)
    plan = replace(five[0].plan, seen={"rows_before": rows_before})
    seals = {loader.open_seal(five[0]): 0.0}
    loader.load(five[0])
    loader.close()
    run_sql(five[0].address, change)
    again = replace(five[0], attempt=2, seals=seals, plan=plan)
    with Loader(five[0].path, five[0].address, plan) as another, pytest.raises(TargetProblem, match=CHANGED):
        another.open_seal(again)
    assert rows_of(five[0].address, "SELECT COUNT(*) FROM t") == [(2,)]


@pytest.mark.parametrize("change", [f"DELETE FROM {TABLE}", f"DROP TABLE {TABLE}"])
def test_what_a_server_has_lost_with_its_rows_loads_again(five: list[ChunkLoad], loader: Loader, change: str):
    seals = {loader.open_seal(five[0]): 0.0}
    loader.load(five[0])
    loader.close()
    run_sql(five[0].address, change, "DELETE FROM t")
    plan = replace(five[0].plan, seen={"rows_before": 0})
    with Loader(five[0].path, five[0].address, plan) as another:
        again = replace(five[0], attempt=2, seals=seals, plan=plan)
        assert another.open_seal(again)
        assert another.load(again).tally.loaded == 2
    agree(five[0])


def test_an_account_that_may_not_update_loads_without_a_seal(five: list[ChunkLoad]):
    address = five[0].address
    with connect(address) as connection:
        ledger.create(connection)
    with account_with(address, "SELECT, INSERT") as few, Loader(five[0].path, few, five[0].plan) as loader:
        assert loader.open_seal(replace(five[0], address=few)) == 0
        assert loader.load(replace(five[0], address=few)).tally.loaded == 2
    assert rows_of(address, f"SELECT chunk, seal FROM {TABLE}") == [(0, 0)]
