"""Reads the connections of a server, their transactions, and who waits for whose lock."""

import re
from dataclasses import dataclass, replace
from typing import Any

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.mysql.connection import Connection, fetch_all

# Statements are shortened: they can be megabytes long.
MOST_CHARACTERS = 1000
MOST_SESSIONS = 500
# The server's background threads, and connections of replicas.
_NO_SESSIONS = ("Daemon", "Binlog Dump", "Binlog Dump GTID", "Slave_IO", "Slave_SQL", "Slave_worker")

# The list of processes. That of information_schema locks out all others on MySQL while it is read; the other one exists
# since MySQL 8.0.22 (manual, The processlist Table).
ALL_PROCESSES, UNLOCKED_PROCESSES = "information_schema.PROCESSLIST", "performance_schema.processlist"

SEES_ALL_SESSIONS = "GRANT PROCESS ON *.* TO {account}"
SEES_LOCKS = "GRANT SELECT ON performance_schema.* TO {account}"
# The lock request of sessions that wait, as the list of processes names it (manual, General Thread States).
LOCK_STATE = re.compile(r"Waiting for .*\b(lock|flush)\b|System lock|Locked", re.IGNORECASE)


@dataclass(frozen=True)
class Session:
    """A connection as the server's list of processes shows it.

    `seconds`: since its present command began. `statement`: the one that runs; `last_statement`: the one before, of a
    session that runs none, if the server tells. `transaction_seconds`: the age of its open transaction.
    """

    id: int
    account: str
    database: str = ""
    command: str = ""
    seconds: int = 0
    state: str = ""
    statement: str = ""
    last_statement: str = ""
    transaction_seconds: int | None = None
    rows_changed: int = 0

    @property
    def idle(self) -> bool:
        return self.command == "Sleep"

    @property
    def waits_for_lock(self) -> bool:
        """Whether it waits for a lock of a table or of the server; waits for rows are in RowWait."""
        return not self.idle and bool(LOCK_STATE.search(self.state))

    @property
    def shown_statement(self) -> str:
        """The statement that runs, or the last one."""
        return self.statement or self.last_statement


@dataclass(frozen=True)
class MetadataLock:
    """A lock of a table, or of the server if `table` is empty, that a connection has or waits for."""

    connection: int
    kind: str  # as MySQL names it: SHARED_READ, EXCLUSIVE ...
    schema: str = ""
    table: str = ""
    granted: bool = True


@dataclass(frozen=True)
class RowWait:
    """A connection that waits for a row that another one has locked."""

    waiting: int
    holding: int
    table: str = ""


def read_sessions(connection: Connection, *, mariadb: bool, missing: list[str]) -> tuple[Session, ...]:
    """The server's connections but this one, with their open transactions; what could not be read goes to `missing`."""
    rows = _processes(connection, ALL_PROCESSES if mariadb else UNLOCKED_PROCESSES)
    sessions = [
        Session(int(id), _account(user, host), _text(database), command, int(seconds), _text(state), _text(info))
        for id, user, host, database, command, seconds, state, info in rows
    ]
    return _with_transactions(connection, sessions, missing)


def _processes(connection: Connection, source: str) -> list[tuple[Any, ...]]:
    names = ", ".join("%s" for _ in _NO_SESSIONS)
    sql = (
        "SELECT ID, USER, HOST, COALESCE(DB, ''), COMMAND, COALESCE(TIME, 0), COALESCE(STATE, ''),"
        f" COALESCE(LEFT(INFO, {MOST_CHARACTERS}), '') FROM {source}"
        f" WHERE ID <> CONNECTION_ID() AND COMMAND NOT IN ({names}) ORDER BY COMMAND = 'Sleep', TIME DESC"
        f" LIMIT {MOST_SESSIONS}"
    )
    try:
        return fetch_all(connection, sql, _NO_SESSIONS)
    except MySQLdb.Error as error:
        if source == ALL_PROCESSES or error.args[0] != ER.NO_SUCH_TABLE:
            raise
    return _processes(connection, ALL_PROCESSES)


def _with_transactions(connection: Connection, sessions: list[Session], missing: list[str]) -> tuple[Session, ...]:
    # trx_started is in the time zone of the server's system, NOW() in that of the session.
    sql = (
        "SELECT trx_mysql_thread_id,"
        " TIMESTAMPDIFF(SECOND, trx_started, CONVERT_TZ(NOW(), @@SESSION.time_zone, 'SYSTEM')), trx_rows_modified"
        " FROM information_schema.INNODB_TRX"
    )
    rows = _or_missing(connection, sql, SEES_ALL_SESSIONS, missing)
    open_since = {int(id): (int(seconds or 0), int(changed or 0)) for id, seconds, changed in rows}
    return tuple(
        replace(each, transaction_seconds=open_since[each.id][0], rows_changed=open_since[each.id][1])
        if each.id in open_since
        else each
        for each in sessions
    )


def read_metadata_locks(connection: Connection, *, mariadb: bool, missing: list[str]) -> tuple[MetadataLock, ...]:
    """The locks of tables and of the server. Empty where the server does not tell them (MariaDB as installed)."""
    if mariadb and (told := _of_plugin(connection)) is not None:
        return tuple(told)
    sql = (
        "SELECT thread.PROCESSLIST_ID, held.LOCK_TYPE, COALESCE(held.OBJECT_SCHEMA, ''),"
        " COALESCE(held.OBJECT_NAME, ''), held.LOCK_STATUS = 'GRANTED' FROM performance_schema.metadata_locks held"
        " JOIN performance_schema.threads thread ON thread.THREAD_ID = held.OWNER_THREAD_ID"
        " WHERE held.OBJECT_TYPE IN ('GLOBAL', 'COMMIT', 'BACKUP LOCK', 'TABLE')"
        f" AND thread.PROCESSLIST_ID <> CONNECTION_ID() LIMIT {20 * MOST_SESSIONS}"
    )
    # MariaDB's performance_schema is off as installed: to read it would show nothing more.
    rows = _or_missing(connection, sql, "" if mariadb else SEES_LOCKS, missing)
    return tuple(MetadataLock(int(id), kind, schema, table, bool(granted)) for id, kind, schema, table, granted in rows)


def _of_plugin(connection: Connection) -> list[MetadataLock] | None:
    """The locks as MariaDB's plugin METADATA_LOCK_INFO shows them; None if it is not installed."""
    sql = "SELECT THREAD_ID, LOCK_MODE, TABLE_SCHEMA, TABLE_NAME FROM information_schema.METADATA_LOCK_INFO"
    try:
        rows = fetch_all(connection, sql)
    except MySQLdb.Error:
        return None
    return [
        MetadataLock(int(id), mode.removeprefix("MDL_"), schema or "", table or "") for id, mode, schema, table in rows
    ]


def read_row_waits(connection: Connection, *, mariadb: bool, missing: list[str]) -> tuple[RowWait, ...]:
    """Who waits for whose rows."""
    if mariadb:
        sql = (
            "SELECT waiter.trx_mysql_thread_id, holder.trx_mysql_thread_id, COALESCE(asked.lock_table, '')"
            " FROM information_schema.INNODB_LOCK_WAITS wait"
            " JOIN information_schema.INNODB_TRX waiter ON waiter.trx_id = wait.requesting_trx_id"
            " JOIN information_schema.INNODB_TRX holder ON holder.trx_id = wait.blocking_trx_id"
            " LEFT JOIN information_schema.INNODB_LOCKS asked ON asked.lock_id = wait.requested_lock_id"
        )
        grant = SEES_ALL_SESSIONS
    else:
        sql = (
            # BLOCKING_THREAD_ID is the waiter's own if the waiter had to note the lock of a row that was just inserted.
            "SELECT waiter.trx_mysql_thread_id, holder.trx_mysql_thread_id,"
            " CONCAT(asked.OBJECT_SCHEMA, '.', asked.OBJECT_NAME) FROM performance_schema.data_lock_waits wait"
            " JOIN information_schema.INNODB_TRX waiter ON waiter.trx_id = wait.REQUESTING_ENGINE_TRANSACTION_ID"
            " JOIN information_schema.INNODB_TRX holder ON holder.trx_id = wait.BLOCKING_ENGINE_TRANSACTION_ID"
            " JOIN performance_schema.data_locks asked ON asked.ENGINE_LOCK_ID = wait.REQUESTING_ENGINE_LOCK_ID"
        )
        grant = SEES_LOCKS
    rows = _or_missing(connection, sql, grant, missing)
    found = (RowWait(int(one), int(other), _text(table).replace("`", "")) for one, other, table in rows if other)
    return tuple(dict.fromkeys(found))


def with_last_statements(
    connection: Connection, sessions: tuple[Session, ...], wanted: set[int]
) -> tuple[Session, ...]:
    """The sessions, those of `wanted` that run no statement with their last one, if the server tells it."""
    idle = [each.id for each in sessions if each.id in wanted and not each.statement]
    if not idle:
        return sessions
    names = ", ".join("%s" for _ in idle)
    sql = (
        f"SELECT thread.PROCESSLIST_ID, LEFT(said.SQL_TEXT, {MOST_CHARACTERS})"
        " FROM performance_schema.events_statements_current said"
        " JOIN performance_schema.threads thread USING (THREAD_ID)"
        f" WHERE thread.PROCESSLIST_ID IN ({names}) AND said.SQL_TEXT IS NOT NULL"
    )
    last = {int(id): _text(text) for id, text in _or_missing(connection, sql, "", [], tuple(idle))}
    return tuple(replace(each, last_statement=last.get(each.id, "")) for each in sessions)


def _or_missing(
    connection: Connection, sql: str, grant: str, missing: list[str], args: tuple[Any, ...] = ()
) -> list[tuple[Any, ...]]:
    """The rows; none, and `grant` in `missing`, if the account may not read them or the server does not have them."""
    try:
        return fetch_all(connection, sql, args)
    except MySQLdb.Error:
        if grant and grant not in missing:
            missing.append(grant)
        return []


def _account(user: str, host: str) -> str:
    """The account without the port of its connection."""
    return f"{_text(user)}@{_text(host).rpartition(':')[0] or _text(host)}"


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
