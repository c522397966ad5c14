"""Builds the keys of a table that already has its rows: as fast as the server can, and with its progress."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.engine.units import MIB

# ER_ALTER_OPERATION_NOT_SUPPORTED and ER_ALTER_OPERATION_NOT_SUPPORTED_REASON
NOT_IN_PLACE = (1845, 1846)
# Measured (server-behaviour.md, Indexes after the load): four threads gain a little on two processors, a larger buffer
# gains nothing. The number of processors is known only of a server on this machine.
LEAST_THREADS, MOST_THREADS = 4, 8
LEAST_BUFFER = 32 * MIB
LARGEST_BUFFER = 256 * MIB
POLL_INTERVAL = 0.5  # seconds
UNSEEN = "this account does not see how far"

_CONSUMER = "UPDATE performance_schema.setup_consumers SET ENABLED = %s WHERE NAME = 'events_stages_current'"
_STAGES = (
    ("read PK", "reading the table and sorting"),
    ("merge sort", "merging what is sorted"),
    ("insert", "writing"),
    ("log apply", "catching up with other sessions"),
    ("flush", "flushing"),
    ("end", "ending"),
)


@dataclass(frozen=True)
class DdlProgress:
    """The progress of an ALTER TABLE: its stage in words, "" if unknown, and percent, None if the server has none."""

    words: str = ""
    percent: float | None = None


OnDdlProgress = Callable[[DdlProgress], None]


def alter_with_progress(connection: Connection, address: Address, statement: str, on_stage: OnDdlProgress) -> None:
    """Run ALTER TABLE ... ADD in place, or with a copy of the table if the server requires one.

    `on_stage` is called from another thread while the statement runs. Raises MySQLdb.Error.
    """
    _set_up(connection, address)
    with _watched(connection, address, on_stage):
        try:
            execute(connection, f"{statement}, ALGORITHM=INPLACE")
        except MySQLdb.Error as error:
            if error.args[0] not in NOT_IN_PLACE:
                raise
            execute(connection, statement)


def disable_statement_timeout(connection: Connection) -> None:
    """Lift the server's time limit for statements in this session (manual, Server System Variables)."""
    variable = "max_statement_time" if _is_mariadb(connection) else "max_execution_time"
    execute(connection, f"SET SESSION {variable} = 0")


def _is_mariadb(connection: Connection) -> bool:
    return "MariaDB" in connection.get_server_info()


def _set_up(connection: Connection, address: Address) -> None:
    """Let MySQL build with all processors (manual, Configuring Parallel Threads for Online DDL Operations).

    MariaDB builds with one thread, and its buffer (innodb_sort_buffer_size) cannot be changed at run time.
    """
    server = read_server(connection, address)
    if server.number("innodb_ddl_threads") is None:
        return
    threads = max(LEAST_THREADS, min(MOST_THREADS, server.cores)) if server.local else LEAST_THREADS
    share = (server.number("innodb_buffer_pool_size") or 0) // 8
    execute(
        connection,
        "SET SESSION innodb_ddl_threads = %s, SESSION innodb_parallel_read_threads = %s,"
        " SESSION innodb_ddl_buffer_size = %s",
        (threads, threads, max(LEAST_BUFFER, min(LARGEST_BUFFER, share))),
    )


@contextmanager
def _watched(connection: Connection, address: Address, on_stage: OnDdlProgress) -> Iterator[None]:
    done = threading.Event()
    number = connection.thread_id()
    watcher = threading.Thread(target=_watch, args=(address, number, on_stage, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(address: Address, number: int, on_stage: OnDdlProgress, done: threading.Event) -> None:
    """Report the progress of connection `number` every POLL_INTERVAL, over a second connection."""
    with suppress(Problem, MySQLdb.Error), connect(address) as connection:
        read_progress = _read_progress_of_mariadb if _is_mariadb(connection) else progress_on_mysql
        with _stages_on(connection):
            while not done.wait(POLL_INTERVAL):
                on_stage(read_progress(connection, number))


def _read_progress_of_mariadb(connection: Connection, _number: int) -> DdlProgress:
    """Read the server's only counter of online DDL, in hundredths of a percent.

    PROCESSLIST shows 0 (server-behaviour.md, Indexes after the load).
    """
    rows = fetch_all(connection, "SHOW GLOBAL STATUS LIKE 'Innodb_onlineddl_pct_progress'")
    return DdlProgress(percent=int(rows[0][1]) / 100 if rows else None)


def progress_on_mysql(connection: Connection, number: int) -> DdlProgress:
    """Read the stage event; no progress if the account may not read it, which it says, or the server records none."""
    try:
        rows = fetch_all(
            connection,
            "SELECT stage.EVENT_NAME, stage.WORK_COMPLETED, stage.WORK_ESTIMATED"
            " FROM performance_schema.events_stages_current stage JOIN performance_schema.threads USING (THREAD_ID)"
            " WHERE PROCESSLIST_ID = %s AND stage.EVENT_NAME LIKE 'stage/innodb/alter%%'",
            (number,),
        )
    except MySQLdb.Error as error:
        return DdlProgress(UNSEEN if error.args[0] == ER.TABLEACCESS_DENIED_ERROR else "")
    if not rows:
        return DdlProgress()
    name, completed, estimated = rows[0]
    words = next((words for part, words in _STAGES if part in name), "")
    # Once WORK_COMPLETED has overtaken the estimate, the server raises the estimate to it: then there is no percentage.
    return DdlProgress(words, 100 * completed / estimated if completed and completed < estimated else None)


@contextmanager
def _stages_on(connection: Connection) -> Iterator[None]:
    """Switch stage events on, which are off by default, if the account may; switched off at the end."""
    try:
        switched = execute(connection, _CONSUMER, ("YES",)) > 0
    except MySQLdb.Error:
        switched = False
    try:
        yield
    finally:
        if switched:
            execute(connection, _CONSUMER, ("NO",))
