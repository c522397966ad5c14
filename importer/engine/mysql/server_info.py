"""Reads a server's flavour, its version, and the settings that decide speed and safety."""

import ipaddress
import os
import re
import socket
from dataclasses import dataclass, replace
from functools import cached_property

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.mysql.addresses import is_socket
from importer.engine.mysql.connection import Address, Connection, execute, fetch_all
from importer.engine.mysql.servers.kinds import Kind, named
from importer.engine.mysql.servers.recognition import PROXYSQL_COMMAND, REPLICATION_PREFIX, Signs, recognise

# A variable that a flavour does not have is absent from `Server.variables`; sizes there are bytes. These decide how
# fast the server loads, or describe its machine. Every import records them (planner/initial_conditions.py).
SPEED_VARIABLES = (
    "binlog_cache_size",
    "binlog_format",
    "binlog_row_image",
    "innodb_adaptive_hash_index",
    "innodb_autoinc_lock_mode",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_ddl_buffer_size",
    "innodb_ddl_threads",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_max_dirty_pages_pct",
    "innodb_page_size",
    "innodb_sort_buffer_size",
    "innodb_write_io_threads",
    "log_bin",
    "max_allowed_packet",
    "max_connections",
    "performance_schema",
    "sync_binlog",
    "version_compile_machine",
    "version_compile_os",
    "wsrep_on",
)
# The variable that names the server itself: of MySQL, and of MariaDB since 10.6. Replicas and copies have another one.
IDENTITIES = ("server_uuid", "server_uid")
VARIABLES = (
    *SPEED_VARIABLES,
    "aurora_version",
    "autocommit",
    "basedir",
    "default_storage_engine",
    "have_ssl",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_read_only",
    "innodb_version",
    "innodb_redo_log_capacity",
    "local_infile",
    "lower_case_table_names",
    "max_binlog_cache_size",
    "max_user_connections",
    "offline_mode",
    "read_only",
    "require_secure_transport",
    "secure_file_priv",
    *IDENTITIES,
    "sql_mode",
    "sql_require_primary_key",
    "super_read_only",
    "system_time_zone",
    "time_zone",
    "unique_checks",
    "version",
    "version_comment",
    "wsrep_load_data_splitting",
    "wsrep_max_ws_rows",
    "wsrep_max_ws_size",
)

# The first release of a series of MariaDB that has the fix of MDEV-40480: its issue names 11.8.9, and 10.11.19 computes
# the right values (tests/engine/load/test_stored_behind_triggers.py).
RECOMPUTES: dict[tuple[int, ...], tuple[int, ...]] = {(10, 11): (10, 11, 19), (11, 8): (11, 8, 9)}
NEVER = (10**6,)
LONGEST = 4096  # characters of a variable's value that are kept
MOST_DIGITS = 20  # of a number of 64 bits

_TRIAL = "LOAD DATA INFILE '/millrace_nowhere' INTO TABLE millrace_nowhere"


@dataclass(frozen=True)
class Server:
    """The properties of a server that the planner and the preflight check use; read by read_server()."""

    flavour: str  # the name of its kind: "MySQL", "MariaDB" or another one of servers/kinds.py
    version: str  # as the server writes it, such as "10.11.19-MariaDB-deb12"
    variables: dict[str, str]
    local: bool  # whether the server runs on this machine
    cores: int  # of this machine; the server's own are not visible
    reads_files: bool = False  # whether the account may load files that the server sees (the FILE privilege)
    refused: bool = False  # whether the server has refused LOAD DATA LOCAL, although local_infile may be on
    files_dir: str = ""  # a folder that server and workers both see, if one is configured (SERVER_FILES_DIR)
    replica: bool | None = None  # whether the server follows another one; None if the account may not read that
    also: tuple[str, ...] = ()  # the names of the kinds that span it, stand before it or run it

    @cached_property
    def release(self) -> tuple[int, ...]:
        """The version as numbers, such as (10, 11, 19); (0,) if it does not begin with a number."""
        match = re.match(r"\d+(?:\.\d+)*", self.version)
        return tuple(int(part) for part in match[0].split(".")) if match else (0,)

    @property
    def identity(self) -> str:
        """What tells the server from its replicas; "" if it has no such variable, or is one of a cluster's nodes."""
        names = [self.variables[name] for name in IDENTITIES if name in self.variables]
        return "" if self.on("wsrep_on") else "".join(names)

    @property
    def takes_local(self) -> bool:
        """Whether the server accepts LOAD DATA LOCAL by its settings; a proxy in between may still refuse it."""
        return not self.refused and self.on("local_infile") and all(each.takes_local for each in self.kinds)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of the server, followed by those of what spans it, stands before it or runs it."""
        return named((self.flavour, *self.also))

    @property
    def title(self) -> str:
        """The server in words: kind and version, and what spans it, stands before it or runs it."""
        return ", ".join(
            [f"{self.flavour} {self.version}", *(f"{each.preposition} {each.name}" for each in self.kinds[1:])]
        )

    @property
    def careful(self) -> bool:
        """Whether imports take the safe path (servers/kinds.py)."""
        return any(each.careful for each in self.kinds)

    @property
    def cluster(self) -> bool:
        """Whether it is a node of a Galera cluster."""
        return self.on("wsrep_on")

    def after_refusal(self, *, of_pipe: bool) -> "Server":
        """The server once it has refused LOAD DATA LOCAL, and with `of_pipe` also to read a pipe or file itself."""
        return replace(self, refused=True, reads_files=self.reads_files and not of_pipe)

    @property
    def shared_folder(self) -> str:
        """A folder that the server may load files from and that this process can write to; "" if there is none."""
        allowed = self.variables.get("secure_file_priv", "")
        own = allowed.rstrip("/") if self.local and allowed not in ("", "NULL") else ""
        folder = self.files_dir or own
        return folder if folder and os.access(folder, os.W_OK | os.X_OK) else ""

    @property
    def mariadb(self) -> bool:
        return self.flavour == "MariaDB"

    @property
    def recomputes_behind_triggers(self) -> bool:
        """Whether this release of MariaDB is known to have the fix of MDEV-40480."""
        return self.release >= RECOMPUTES.get(self.release[:2], NEVER)

    def on(self, variable: str) -> bool:
        """Whether a variable exists and is switched on."""
        return self.variables.get(variable, "").upper() in ("ON", "1", "YES", "TRUE")

    def number(self, variable: str) -> int | None:
        """A variable's value as a number; None if the flavour does not have the variable or it is no number."""
        value = self.variables.get(variable, "")
        return int(value) if re.fullmatch(rf"-?\d{{1,{MOST_DIGITS}}}", value) else None

    @property
    def redo_bytes(self) -> int | None:
        """The redo log's total size in bytes: one variable since MySQL 8.0.30, file size times files before."""
        if (capacity := self.number("innodb_redo_log_capacity")) is not None:
            return capacity
        size = self.number("innodb_log_file_size")
        # MariaDB has one file since 10.5, and no variable for the number of files any more.
        return None if size is None else size * (self.number("innodb_log_files_in_group") or 1)


def read_server(connection: Connection, address: Address) -> Server:
    """Read the server's version and its global settings, which new sessions get."""
    names = ", ".join("%s" for _ in VARIABLES)
    rows = fetch_all(connection, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})", VARIABLES)
    variables = {name.lower(): _text(value) for name, value in rows}
    # A proxy may block SHOW VARIABLES; the version from the handshake is always there.
    version = variables.get("version") or connection.get_server_info()
    kind, *others = recognise(_signs(connection, version, variables))
    return Server(
        flavour=kind.name,
        version=version.removeprefix(REPLICATION_PREFIX),
        variables=variables,
        local=is_loopback(address.host),
        cores=os.cpu_count() or 1,
        reads_files=variables.get("secure_file_priv") != "NULL" and _reads_files(connection),
        replica=_is_replica(connection),
        also=tuple(each.name for each in others),
    )


def read_uptime(connection: Connection) -> int:
    """The seconds since the server process started, by its own clock; jumps of the clock do not change it."""
    return int(fetch_all(connection, "SHOW GLOBAL STATUS LIKE 'Uptime'")[0][1])


def _signs(connection: Connection, version: str, variables: dict[str, str]) -> Signs:
    signs = Signs(
        version,
        variables,
        greeting=str(connection.get_server_info()),
        greeted_id=int(connection.thread_id()),
        connection_id=_connection_id(connection),
    )
    return replace(signs, proxysql=_answers(connection, PROXYSQL_COMMAND)) if signs.differ_at_sign_in else signs


def _connection_id(connection: Connection) -> int:
    """The connection's number according to the server that runs its statements; 0 if it does not tell it."""
    try:
        return int(fetch_all(connection, "SELECT CONNECTION_ID()")[0][0])
    except (MySQLdb.Error, IndexError, TypeError, ValueError):
        return 0


def _answers(connection: Connection, sql: str) -> bool:
    try:
        fetch_all(connection, sql)
    except MySQLdb.Error:
        return False
    return True


def _reads_files(connection: Connection) -> bool:
    """Whether the account has the FILE privilege, by itself or by a role; no file is read to find out.

    With the privilege, the server's error for _TRIAL is a missing table or database; without it, access denied.
    """
    try:
        execute(connection, _TRIAL)
    except MySQLdb.Error as error:
        return error.args[0] in (ER.NO_SUCH_TABLE, ER.BAD_DB_ERROR)
    return False


def _is_replica(connection: Connection) -> bool | None:
    """Whether the server is configured as a replica.

    None below MySQL 8.0.22, or without the privilege REPLICATION CLIENT (MariaDB: REPLICA MONITOR).
    """
    try:
        return bool(fetch_all(connection, "SHOW REPLICA STATUS"))
    except MySQLdb.Error:
        return None


def is_loopback(host: str) -> bool:
    """Whether every address of the host is a loopback address, or it is a socket; False if the name is unknown."""
    if is_socket(host):
        return True
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(entry[4][0]).split("%")[0]).is_loopback for entry in addresses)


def _text(value: str | bytes | None) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text[:LONGEST]
