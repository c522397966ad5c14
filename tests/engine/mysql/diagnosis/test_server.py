"""Servers that do not answer, refuse to write or have no connection left, made on real servers."""

from contextlib import ExitStack, contextmanager

import pytest

from importer.diagnosis import watch
from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.mysql.diagnosis.cause import Evidence
from importer.engine.mysql.diagnosis.diagnose import diagnose
from importer.engine.mysql.diagnosis.facts import Facts
from importer.engine.mysql.diagnosis.snapshot import Snapshot, read_snapshot
from tests.engine.mysql.diagnosis.scene import Scene, setting

pytestmark = pytest.mark.both_servers


@contextmanager
def plain_account(scene: Scene):
    """The address of an account with rights on the database alone."""
    names = "plain@127.0.0.1", "plain@localhost"
    for each in names:
        execute(scene.watch, f"CREATE USER {each}")
        execute(scene.watch, f"GRANT ALL ON {scene.address.database}.* TO {each}")
    with scene.seen_by("plain"):
        yield scene.address
    for each in names:
        execute(scene.watch, f"DROP USER {each}")


def refused(address: Address, *statements: str) -> TargetProblem:
    """The problem that connecting, or one of the statements, ends with."""
    try:
        with connect(address) as connection:
            for each in statements:
                execute(connection, each)
    except TargetProblem as problem:
        return problem
    raise AssertionError("nothing was refused")


def causes(snapshot: Snapshot, problem: TargetProblem | None = None) -> list[str]:
    facts = Facts(status="loading", problem=problem.as_json() if problem else {})
    return [each.cause for each in diagnose(Evidence(facts, snapshot))]


def test_nobody_listens_there(closed_port: int):
    nowhere = Address("127.0.0.1", closed_port, "root", "", "d")
    assert causes(watch.unanswered(refused(nowhere))) == ["unreachable"]


def test_a_server_that_answers_is_not_said_to_be_silent(on_table: Scene, closed_port: int):
    lost = refused(Address("127.0.0.1", closed_port, "root", "", "d"))
    assert causes(on_table.snapshot(), lost) == ["retry"]
    gone = refused(on_table.address, "SELECT * FROM performance_schema.nothing")
    assert causes(watch.unanswered(gone)) == []


@pytest.mark.parametrize("error", [1203, 1226])
def test_the_account_has_no_connection_left(on_table: Scene, server, error: int):
    if (server.flavour, error) == ("mariadb", 1203):
        pytest.skip("A MariaDB that was started without max_user_connections does not let it be set.")
    with plain_account(on_table) as address, ExitStack() as opened:
        if error == 1203:
            opened.enter_context(setting(on_table, "max_user_connections", 3))
        else:
            for each in ("plain@127.0.0.1", "plain@localhost"):
                execute(on_table.root, f"ALTER USER {each} WITH MAX_USER_CONNECTIONS 3")
        with pytest.raises(TargetProblem) as problem:
            [opened.enter_context(connect(address)) for _ in range(5)]
        assert (f"(error {error})" in problem.value.what, problem.value.retryable) == (True, True)
        (first,) = diagnose(Evidence(Facts(problem=problem.value.as_json()), on_table.snapshot()))
    assert (first.cause, "the account's limit" in first.advice) == ("connections", True)


def test_the_server_has_no_connection_left(on_table: Scene):
    with plain_account(on_table) as address, setting(on_table, "max_connections", 10), ExitStack() as opened:
        with pytest.raises(TargetProblem) as problem:
            [opened.enter_context(connect(address)) for _ in range(12)]
        (unseen,) = diagnose(Evidence(Facts(status="loading"), watch.unanswered(problem.value)))
        assert (unseen.cause, "SET GLOBAL" in unseen.advice) == ("connections", False), "the limit is unknown"
        (first,) = diagnose(Evidence(Facts(problem=problem.value.as_json()), read_snapshot(on_table.root)))
    assert first.cause == "connections"
    assert "of 10 are in use." in first.evidence
    assert "SET GLOBAL max_connections = 20;" in first.advice


def test_the_server_is_read_only(on_table: Scene):
    with plain_account(on_table) as address, setting(on_table, "read_only", 1):
        problem = refused(address, "INSERT INTO t VALUES (7, 7)")
        (first,) = diagnose(Evidence(Facts(problem=problem.as_json()), read_snapshot(on_table.root)))
    assert (first.cause, first.sql) == ("read_only", "SET GLOBAL read_only = OFF;")


def test_the_table_is_full(on_table: Scene):
    fill = "INSERT INTO tiny SELECT REPEAT('x', 250) FROM t a, t b, t c, t d, t e, t f, t g, t h"
    made = ("SET max_heap_table_size = 16384", "CREATE TABLE tiny (filling CHAR(250)) ENGINE = MEMORY", fill)
    assert causes(on_table.snapshot(), refused(on_table.address, *made)) == ["server_full"]


def test_a_failure_without_a_cause_of_its_own_is_said_to_be_repeated(on_table: Scene):
    killed = refused(on_table.address, "KILL QUERY CONNECTION_ID()", "SELECT SLEEP(1)")
    assert causes(on_table.snapshot(), killed) == ["retry"]


def test_a_server_that_was_restarted_during_the_import_is_told(on_table: Scene):
    now = on_table.snapshot()
    began = (now.counters.uptime or 0) + 5
    named = [each.cause for each in diagnose(Evidence(Facts(status="loading", age=began), now))]
    assert named == (["restarted"] if began < 65 else [])
    assert diagnose(Evidence(Facts(status="loading", age=0.5), now)) == []
