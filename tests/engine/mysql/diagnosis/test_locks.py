"""Locks of others, made on real servers: the cause that is named first, and the connection that holds the lock."""

import pytest

from importer.engine.mysql.connection import execute
from importer.engine.mysql.diagnosis.sessions import read_sessions
from tests.engine.mysql.diagnosis.scene import Scene
from tests.stack import wait_until

pytestmark = pytest.mark.both_servers

LOAD = "INSERT INTO t VALUES (7, 8)"
HELD = {
    "row_lock": ("START TRANSACTION", "INSERT INTO t VALUES (7, 7)"),
    "table_lock": ("LOCK TABLES t WRITE",),
    "server_lock": ("FLUSH TABLES WITH READ LOCK",),
}


@pytest.mark.parametrize("cause", HELD)
def test_the_holder_of_a_lock_is_named(on_table: Scene, cause: str):
    holder = on_table.other(*HELD[cause])
    own = on_table.waiting(LOAD)
    first, *rest = on_table.explained(own)
    assert (first.cause, rest) == (cause, [])
    assert f"connection {holder.thread_id()} (root@" in first.what
    assert (first.holder, first.sql) == (holder.thread_id(), f"KILL {holder.thread_id()};")
    assert first.waits


def test_a_key_cannot_be_dropped_while_a_transaction_has_read_the_table(on_table: Scene):
    holder = on_table.other("START TRANSACTION", "SELECT * FROM t")
    own = on_table.waiting("ALTER TABLE t ADD KEY (k)")
    (first,) = on_table.explained(own)
    assert (first.cause, first.holder) == ("open_transaction", holder.thread_id())
    assert "its transaction has been open for" in first.evidence


def test_behind_an_alter_table_that_waits_the_transaction_that_it_waits_for_is_named(on_table: Scene):
    holder = on_table.other("START TRANSACTION", "SELECT * FROM t")
    between = on_table.waiting("ALTER TABLE t ADD KEY (k)")
    (first,) = on_table.explained(on_table.waiting(LOAD))
    assert (first.cause, first.holder) == ("open_transaction", holder.thread_id())
    assert f"Connection {between} (root@" in first.evidence


def test_a_connection_of_the_import_that_holds_a_lock_is_no_cause(on_table: Scene):
    holder = on_table.other(*HELD["row_lock"]).thread_id()
    own = on_table.waiting(LOAD)
    assert on_table.explained(own, holder) == []
    # Of two holders the other one is named, which another connection of the import waits for.
    stranger = on_table.other("START TRANSACTION", "INSERT INTO t VALUES (9, 9)").thread_id()
    other = on_table.waiting("INSERT INTO t VALUES (9, 8)")
    assert [each.holder for each in on_table.explained(own, holder, other)] == [stranger]


def test_the_age_of_a_transaction_does_not_depend_on_the_time_zone(on_table: Scene):
    holder = on_table.other("START TRANSACTION", "INSERT INTO t VALUES (7, 7)")

    def age() -> int | None:
        return on_table.snapshot().session(holder.thread_id()).transaction_seconds

    # MySQL reads its list of transactions again after a tenth of a second.
    wait_until(lambda: age() is not None, what="an open transaction")
    for zone in ("+09:00", "-05:30", "SYSTEM"):
        execute(on_table.watch, f"SET SESSION time_zone = '{zone}'")
        assert age() in range(60)


def test_connections_are_seen_on_a_server_without_the_list_of_performance_schema(on_table: Scene):
    # MySQL before 8.0.22 has none, as MariaDB.
    idle = on_table.other("SELECT 1")
    seen = read_sessions(on_table.watch, mariadb=False, missing=[])
    assert idle.thread_id() in {each.id for each in seen}


def test_the_last_statement_of_a_holder_that_runs_none_is_shown_where_the_server_tells_it(on_table: Scene, server):
    on_table.other("START TRANSACTION", "INSERT INTO t VALUES (7, 7)")
    (first,) = on_table.explained(on_table.waiting(LOAD))
    assert first.statement == ("INSERT INTO t VALUES (7, 7)" if server.flavour == "mysql" else "")


def test_an_alter_table_that_runs_is_named(on_table: Scene):
    # Each row takes it some milliseconds.
    execute(on_table.watch, "ALTER TABLE t DROP PRIMARY KEY")
    for _ in range(12):
        execute(on_table.watch, "INSERT INTO t SELECT * FROM t")
    slow = "SHA2(REPEAT(n, 1000000), 512)"
    number = on_table.running(f"ALTER TABLE t ADD slow CHAR(128) AS ({slow}) STORED, ALGORITHM = COPY")
    own = on_table.waiting("INSERT INTO t (n) VALUES (7)")
    (first,) = on_table.explained(own)
    assert (first.cause, first.holder) == ("ddl", number)
    assert "takes no rows while ALTER TABLE changes it, run by connection" in first.what
    assert first.statement.startswith("ALTER TABLE t ADD slow")


def test_a_table_whose_engine_takes_one_statement_at_a_time(on_table: Scene):
    execute(on_table.watch, "ALTER TABLE t ENGINE = MyISAM")
    number = on_table.running("SELECT SLEEP(60) FROM t")
    (first,) = on_table.explained(on_table.waiting("UPDATE t SET k = 3"))
    assert (first.cause, first.holder) == ("engine_lock", number)


def test_a_connection_of_another_import_is_named_as_such_and_not_killed(on_table: Scene):
    holder = on_table.other(*HELD["row_lock"])
    own = on_table.waiting(LOAD)
    (first,) = on_table.explained(own, others={holder.thread_id(): 12})
    assert f"connection {holder.thread_id()} of import 12" in first.what
    assert first.sql == ""


def test_without_a_lock_nothing_is_named(on_table: Scene):
    own = on_table.other("START TRANSACTION", "INSERT INTO t VALUES (7, 7)")
    on_table.other("START TRANSACTION", "SELECT * FROM t")
    assert on_table.explained(own.thread_id()) == []


def test_an_account_that_sees_only_its_own_connections_is_told_the_grant(on_table: Scene):
    on_table.other(*HELD["table_lock"])
    execute(on_table.watch, "CREATE USER plain@127.0.0.1, plain@localhost")
    try:
        for host in ("127.0.0.1", "localhost"):
            execute(on_table.watch, f"GRANT ALL ON {on_table.address.database}.* TO plain@{host}")
        with on_table.seen_by("plain"):
            (first,) = on_table.explained(on_table.waiting(LOAD))
    finally:
        execute(on_table.watch, "DROP USER plain@127.0.0.1, plain@localhost")
    assert first.cause == "table_lock"
    assert "a connection that this account may not see" in first.what
    assert "GRANT PROCESS ON *.* TO 'plain'@" in first.advice
