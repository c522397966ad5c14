"""MySQL gives a table without a primary key an invisible one, if it is told to, and may hide it."""

from collections.abc import Iterator

import pytest

from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.schema import introspection
from tests.engine.staged import given, planned, rows_of

pytestmark = pytest.mark.both_servers

SHOWN = "show_gipk_in_create_table_and_information_schema"


@pytest.fixture(params=["ON", "OFF"], ids=["shown", "hidden"])
def table(database: Address, server, request: pytest.FixtureRequest) -> Iterator[Address]:
    """A table with such a key; the server shows it, or does not."""
    if server.flavour != "mysql":
        pytest.skip("MariaDB has none")
    on = "SET SESSION sql_generate_invisible_primary_key = ON"
    given(database, on, "CREATE TABLE t (email VARCHAR(20) UNIQUE, name VARCHAR(20))")
    given(database, f"SET GLOBAL {SHOWN} = {request.param}", "INSERT INTO t VALUES ('a', 'old')")
    yield database
    given(database, f"SET GLOBAL {SHOWN} = ON")


@pytest.mark.parametrize(
    ("mode", "policy", "rows"),
    [
        ("append", "fail", [(1, "a", "old"), (2, "b", "1")]),
        ("append", "skip", [(1, "a", "old"), (2, "b", "1")]),
        ("atomic", "fail", [(1, "a", "old"), (2, "b", "1")]),
        ("atomic", "skip", [(1, "a", "old"), (2, "b", "1")]),
        ("atomic", "replace", [(1, "a", "old"), (2, "b", "1")]),
        ("replace", "fail", [(1, "b", "1")]),
        ("upsert", "fail", [(1, "a", "old"), (2, "b", "1")]),
    ],
)
def test_numbers_the_rows_in_every_mode(table: Address, source, mode: str, policy: str, rows: list):
    path = source("b,1\n")
    verify = "full" if policy == "fail" and mode != "upsert" else "counts"
    load = planned(table, path, mode, "email", "name", on_duplicate=policy, verify=verify)
    if mode == "append":
        load.load()
    else:
        load.stage()
        load.finish()
    assert rows_of(table, "SELECT my_row_id, email, name FROM t ORDER BY 1") == rows


@pytest.mark.parametrize("mode", ["upsert", "atomic"])
def test_may_come_from_the_file(table: Address, source, mode: str):
    load = planned(table, source("7,first\n8,second\nNA,third\n"), mode, ColumnMapping("my_row_id", ("NA",)), "name")
    load.stage()
    assert load.finish() == Tally(loaded=3)
    numbers = dict(rows_of(table, "SELECT name, my_row_id FROM t"))
    assert (numbers["old"], numbers["first"], numbers["second"]) == (1, 7, 8)
    assert numbers["third"] not in (0, 1, 7, 8)


def test_a_server_that_does_not_know_the_variable_shows_sizes(database: Address, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(introspection, "_OWN_KEY", ", SESSION of_another_server = ON")
    with connect(database) as connection:
        introspection.show_everything(connection)
        assert fetch_all(connection, "SELECT @millrace_sees") == [(1,)]
