"""One look at a server: its connections, who waits for whom, its counters and the settings that explain a slow load.

A look costs four to seven short statements. It is the same for all imports into the server, so one look serves all who
watch (importer/diagnosis/watch.py).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import MySQLdb

from importer.engine.mysql.connection import Connection, fetch_all
from importer.engine.mysql.diagnosis.counters import Counters, read_counters
from importer.engine.mysql.diagnosis.sessions import (
    SEES_ALL_SESSIONS,
    MetadataLock,
    RowWait,
    Session,
    read_metadata_locks,
    read_row_waits,
    read_sessions,
    with_last_statements,
)
from importer.engine.mysql.server_info import MOST_DIGITS, is_loopback
from importer.engine.mysql.waits import within

LOOK_SECONDS = 30.0  # for all that one look asks
VARIABLES = (
    "binlog_format",
    "binlog_row_image",
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "log_bin",
    "max_connections",
    "offline_mode",
    "read_only",
    "super_read_only",
    "sync_binlog",
    "version",
)


@dataclass(frozen=True)
class Snapshot:
    """What a server showed at one moment. With a `problem` (Problem as JSON) it did not answer, and the rest is empty.

    `local`: the server runs on this machine. `missing`: the GRANT statements that would show more. `error`: the number
    of the server's or client's error.
    """

    at: float
    flavour: str = "MySQL"
    account: str = ""
    local: bool = False
    sessions: tuple[Session, ...] = ()
    locks: tuple[MetadataLock, ...] = ()
    row_waits: tuple[RowWait, ...] = ()
    counters: Counters = field(default_factory=lambda: Counters(0))
    variables: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    problem: Mapping[str, Any] = field(default_factory=dict)
    error: int = 0

    @property
    def mariadb(self) -> bool:
        return self.flavour == "MariaDB"

    @property
    def sees_others(self) -> bool:
        """Whether the account sees the connections of other accounts."""
        return SEES_ALL_SESSIONS.format(account=self.account) not in self.missing

    def session(self, id: int) -> Session | None:
        """The connection of this number, if it is shown."""
        return next((each for each in self.sessions if each.id == id), None)

    def on(self, variable: str) -> bool:
        """Whether a variable exists and is switched on."""
        return self.variables.get(variable, "").upper() in ("ON", "1", "YES", "TRUE")

    def number(self, variable: str) -> int | None:
        """A variable's value as a number; None if the server does not have it."""
        value = self.variables.get(variable, "")
        return int(value) if value.isdecimal() and len(value) <= MOST_DIGITS else None


@within(LOOK_SECONDS)
def read_snapshot(connection: Connection) -> Snapshot:
    """Look at the server once. What the account may not see is left out, and named in `missing`."""
    at, missing = time.time(), list[str]()
    marks = ", ".join("%s" for _ in VARIABLES)
    rows = fetch_all(connection, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({marks})", VARIABLES)
    variables = {str(name).lower(): str(value) for name, value in rows}
    mariadb = "mariadb" in variables.get("version", "").lower()
    sessions = read_sessions(connection, mariadb=mariadb, missing=missing)
    locks: tuple[MetadataLock, ...] = ()
    if any(each.waits_for_lock for each in sessions):
        locks = read_metadata_locks(connection, mariadb=mariadb, missing=missing)
    waits = read_row_waits(connection, mariadb=mariadb, missing=missing) if _some_may_wait(sessions) else ()
    if locks or waits:
        holders = {each.holding for each in waits} | {each.connection for each in locks if each.granted}
        sessions = with_last_statements(connection, sessions, holders)
    account = fetch_all(connection, "SELECT CURRENT_USER()")[0][0]
    return Snapshot(
        at=at,
        flavour="MariaDB" if mariadb else "MySQL",
        account=_quoted(account),
        # Of "127.0.0.1 via TCP/IP" or "Localhost via UNIX socket".
        local=is_loopback(str(connection.get_host_info()).partition(" via ")[0]),
        sessions=sessions,
        locks=locks,
        row_waits=waits,
        counters=replace(read_counters(connection, at), replica_lag=_replica_lag(connection)),
        variables=variables,
        missing=tuple(each.format(account=_quoted(account)) for each in missing),
    )


def _some_may_wait(sessions: tuple[Session, ...]) -> bool:
    """Whether a transaction that runs a statement could wait for rows of another transaction."""
    open_ones = [each for each in sessions if each.transaction_seconds is not None]
    return len(open_ones) > 1 and any(each.statement for each in open_ones)


def _replica_lag(connection: Connection) -> int | None:
    """Seconds that this server is behind its source; None if it follows none, or the account may not read that."""
    try:
        rows = connection.cursor(MySQLdb.cursors.DictCursor)
        rows.execute("SHOW REPLICA STATUS")
        status = rows.fetchone() or {}
    except MySQLdb.Error:
        return None
    lag = status.get("Seconds_Behind_Source", status.get("Seconds_Behind_Master"))
    return None if lag is None else int(lag)


def _quoted(account: str | bytes) -> str:
    name, _, host = (account.decode() if isinstance(account, bytes) else account).rpartition("@")
    return f"'{name}'@'{host}'"
