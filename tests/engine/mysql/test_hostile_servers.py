"""A server may be anything: whatever it sends ends as a Problem, within a time and a number of bytes."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import replace

import MySQLdb
import pytest

from importer.engine.errors import Problem, TargetUnreachable
from importer.engine.load import ledger
from importer.engine.mysql import answers, waits
from importer.engine.mysql.connection import (
    FEED_NAME,
    Address,
    LoaderConnection,
    connect,
    connect_loader,
    execute,
    mysql_handle,
)
from importer.engine.mysql.diagnosis.snapshot import read_snapshot
from importer.engine.mysql.server_info import read_server
from importer.engine.mysql.waits import within
from importer.engine.preflight.check import check
from importer.engine.schema.table import read_table
from importer.engine.units import MIB
from tests.hostile_servers import KINDS, HostileServer

SECRET = "canary-7f3a"
# The largest answer that is read, what the thread sees late, and what sockets hold.
MOST_SENT = 200 * MIB
PATIENCE = 60  # seconds


def check_target(address: Address) -> None:
    check(address)


def describe(address: Address) -> None:
    with connect(address) as connection:
        read_server(connection, address)
    with connect(address) as connection:
        read_table(connection, "shop", "orders")


def look(address: Address) -> None:
    with connect(address) as connection:
        read_snapshot(connection)


def load(address: Address) -> None:
    with connect_loader(address) as connection:
        ledger.create(connection)
        send(connection)
        list(connection.stream("SHOW WARNINGS", 1000))
        ledger.read_total(connection, "job")


def loading(server: HostileServer, **options: int) -> AbstractContextManager[LoaderConnection]:
    return connect_loader(Address("127.0.0.1", server.port, "somebody", SECRET, "shop"), **options)


def send(connection: LoaderConnection) -> None:
    """More than fits into what the system keeps of a connection."""
    with connection.serving(b"1\n" * MIB for _ in range(32)):
        execute(connection, f"LOAD DATA LOCAL INFILE '{FEED_NAME}' INTO TABLE t")


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """The times of the waits, which are for servers far away."""
    monkeypatch.setattr(answers, "SIGN_IN_SECONDS", 1.0)
    monkeypatch.setattr(answers.Connection, "answer_seconds", 1.0)


@pytest.mark.parametrize("door", [check_target, describe, look, load])
@pytest.mark.parametrize("kind", KINDS)
def test_it_ends_as_a_problem_within_bounds(kind: str, door: Callable[[Address], None]):
    with KINDS[kind]() as server, within(1), suppress(Problem):
        address = Address("127.0.0.1", server.port, "somebody", SECRET, "shop")
        door(replace(address, tls="encrypt") if server.tls else address)
    assert server.sent < MOST_SENT
    assert SECRET.encode() not in server.received


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("greets by the byte", "has not answered in time"),
        ("answers by the byte", "has not answered in time"),
        ("endless columns", "more than 8 MiB in answer to one statement"),
        ("a row without end", "more than 80 MiB in answer to one statement"),
        ("endless results", "more than 10 results"),
    ],
)
def test_the_message_says_what_the_server_did(kind: str, what: str, monkeypatch):
    monkeypatch.setattr(answers.Connection, "answer_seconds", 20.0 if "MiB" in what else 1.0)
    with KINDS[kind]() as server, pytest.raises(TargetUnreachable, match=what):
        describe(Address("127.0.0.1", server.port, "somebody", SECRET, "shop"))


@pytest.mark.parametrize("kind", ["takes nothing of a load", "takes a load by the byte"])
def test_a_load_ends_that_the_server_takes_too_slowly(kind: str):
    said = r"taken fewer than 100 bytes a second for 1 s; in all [\d,]+ bytes"
    with (
        KINDS[kind]() as server,
        loading(server, read_timeout=1) as connection,
        pytest.raises(MySQLdb.OperationalError, match=said),
    ):
        send(connection)


def test_a_load_that_the_server_does_not_take_is_given_up_at_once():
    with KINDS["takes nothing of a load"]() as server, loading(server) as connection, ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send, connection)
        assert server.asked.wait(PATIENCE)
        connection.give_up()
        with pytest.raises(MySQLdb.OperationalError, match="cut the connection"):
            sending.result(PATIENCE)


def test_a_server_does_not_answer_for_the_time_that_the_data_take(database: Address):
    with connect_loader(database, read_timeout=1) as connection:

        def late() -> Iterator[bytes]:
            yield b"1\n"
            for _ in range(100):  # five seconds of looks
                assert connection._wait
                connection._wait.look(time.monotonic())
            yield b"2\n"

        execute(connection, "CREATE TEMPORARY TABLE t (n INT)")
        with connection.serving(late()):
            assert execute(connection, f"LOAD DATA LOCAL INFILE '{FEED_NAME}' INTO TABLE t") == 2


def test_the_library_keeps_its_structure_where_it_is_looked_for(database: Address):
    with connect(database) as connection:
        assert mysql_handle(connection) == id(connection) + object.__basicsize__


def test_the_thread_that_looks_at_answers_ends_before_a_fork_and_begins_again(database: Address):
    for _ in range(2):
        with connect(database) as connection:
            execute(connection, "SELECT 1")
        assert "waits" in {each.name for each in threading.enumerate()}
        waits.end_thread()
        assert "waits" not in {each.name for each in threading.enumerate()}
