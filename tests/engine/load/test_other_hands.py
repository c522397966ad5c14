"""Hands on the target's table during a load, on both servers: emptied, exchanged, created again, altered."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger, verify
from importer.engine.load import loader as load
from importer.engine.load.chunk_load import ChunkLoad
from importer.engine.load.loader import Loader
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.plan.options import Options
from importer.engine.target.table_identity import TableIdentity, read_identity
from tests.engine.loads import account_with, five_chunks, rows_of, run_sql

pytestmark = pytest.mark.both_servers

ANOTHER = ["CREATE TABLE u LIKE t", "RENAME TABLE t TO old, u TO t"]
AGAIN = ["CREATE TABLE u LIKE t", "DROP TABLE t", "RENAME TABLE u TO t"]
EMPTIED = {"truncated": ["TRUNCATE TABLE t"], "exchanged": ANOTHER, "created again": AGAIN}
KEPT = {
    "indexed": ["CREATE INDEX more ON t (n)"],
    "rebuilt": ["OPTIMIZE TABLE t"],
    "commented": ["ALTER TABLE t COMMENT 'other'"],
    "copied": ["CREATE TABLE u LIKE t", "INSERT INTO u SELECT * FROM t", "RENAME TABLE t TO old, u TO t"],
}


@pytest.fixture
def five(database: Address, tmp_path: Path) -> list[ChunkLoad]:
    works = five_chunks(database, tmp_path, Options())
    return [replace(each, plan=replace(each.plan, seen={"rows_before": 1})) for each in works]


@pytest.fixture
def loader(five: list[ChunkLoad], monkeypatch: pytest.MonkeyPatch) -> Iterator[Loader]:
    """A loader that has committed two of the chunks with a seal, and looks at the table before each chunk."""
    monkeypatch.setattr(load, "RECHECK_SECONDS", 0)
    with Loader(five[0].path, five[0].address, five[0].plan) as opened:
        opened.open_seal(five[0])
        assert [opened.load(each).tally.loaded for each in five[:2]] == [2, 2]
        yield opened


def change_of(work: ChunkLoad, *, empty_before: bool = False, **known: bool) -> verify.TableChange | None:
    plan = replace(work.plan, seen={"rows_before": 0 if empty_before else 1})
    return verify.compare_table(work.address, plan, work.job, **{"altered": False, "retried": False, **known})


@pytest.mark.parametrize("hands", EMPTIED)
def test_a_table_that_lost_the_rows_fails_the_next_chunk(five: list[ChunkLoad], loader: Loader, hands: str):
    run_sql(five[0].address, *EMPTIED[hands])
    with pytest.raises(TargetProblem, match=r"emptied, exchanged or created again .* has 0 rows, and 4 were committed"):
        loader.load(five[2])
    assert rows_of(five[0].address) == []


@pytest.mark.parametrize("hands", EMPTIED)
def test_a_table_that_lost_the_rows_after_the_last_chunk_fails_the_import(
    five: list[ChunkLoad], loader: Loader, hands: str
):
    run_sql(five[0].address, *EMPTIED[hands])
    with pytest.raises(TargetProblem, match=r"emptied, exchanged or created again"):
        change_of(five[0])


@pytest.mark.parametrize("hands", KEPT)
def test_a_table_that_kept_the_rows_takes_further_chunks(five: list[ChunkLoad], loader: Loader, hands: str):
    run_sql(five[0].address, *KEPT[hands])
    assert loader.load(five[2]).tally.loaded == 2
    found = change_of(five[0])
    assert bool(found) == (hands in ("rebuilt", "copied"))
    assert not found or "altered, rebuilt or exchanged the table t" in found.what
    assert change_of(five[0], altered=True) is None


@pytest.mark.parametrize(
    ("hands", "words"),
    [
        ("DELETE FROM t LIMIT 1", "has 3 rows now, 1 fewer than this import has put into it: .* deleted"),
        ("INSERT INTO t VALUES (90, 'x'), (91, 'x')", "has 6 rows now, 2 more than .* added"),
    ],
)
def test_rows_of_others_in_a_table_that_was_empty_are_counted(
    five: list[ChunkLoad], loader: Loader, hands: str, words: str
):
    """A retry does not pass over rows that are gone."""
    assert change_of(five[0], empty_before=True) is None
    run_sql(five[0].address, hands)
    found = change_of(five[0], empty_before=True)
    assert found
    assert re.search(words, found.what)
    assert change_of(five[0]) is None
    if found.rows < 0:
        with pytest.raises(TargetProblem, match="has 3 rows, and 4 were committed"):
            change_of(five[0], empty_before=True, retried=True)


@pytest.mark.parametrize("hands", [*EMPTIED, "deleted"])
def test_a_table_without_any_row_fails_the_import_that_has_altered_it(
    five: list[ChunkLoad], loader: Loader, hands: str
):
    """As while its keys are built: its identity tells nothing then."""
    run_sql(five[0].address, *EMPTIED.get(hands, ["DELETE FROM t"]))
    with pytest.raises(TargetProblem, match=r"was emptied or exchanged, .*: it has 0 rows, and 4 were committed"):
        change_of(five[0], empty_before=True, altered=True)


def test_an_account_without_process_sees_an_exchange_by_the_time_alone(database: Address):
    run_sql(database, "CREATE TABLE t (n INT)")
    with account_with(database, "SELECT, INSERT") as few, connect(few) as connection:
        seen = read_identity(connection, database.database, "t")
        execute(connection, "SET time_zone = '+05:00'")
        assert read_identity(connection, database.database, "t") == seen
    with connect(database) as connection:
        full = read_identity(connection, database.database, "t")
    assert (seen.number, seen.created, seen.server) == ("", full.created, full.server)
    assert full.number
    assert TableIdentity.parse(str(seen)) == seen
    assert not seen.differs_from(full)
    assert seen.differs_from(replace(seen, created="946684800"))
    assert not seen.differs_from(replace(seen, created="946684800", server="another"))


def test_no_ledger_is_no_change(five: list[ChunkLoad]):
    run_sql(five[0].address, f"DROP TABLE IF EXISTS {ledger.TABLE}")
    assert change_of(five[0]) is None
